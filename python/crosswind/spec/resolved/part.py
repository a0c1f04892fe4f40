"""What every part of a resolved experiment has in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, JsonValue

# Parameters of an element as the agent takes them, by name, with `on` where it is restricted. elements.json
# lists them (docs/reference/contracts.md, section 10), so no model does.
Parameters = dict[str, JsonValue]
# An element: its kind and its parameters.
SentElement = dict[str, Parameters]
# Elements by place, in the order in which they apply.
Places = dict[str, list[SentElement]]


def number(parameters: Mapping[str, JsonValue], name: str) -> int | None:
    """Return a parameter that is a whole number; None where it is absent, or without limit."""
    value = parameters.get(name)
    return value if isinstance(value, int) else None


def restricted_to(parameters: Mapping[str, JsonValue]) -> list[str] | None:
    """Return the names that an element is restricted to; None: everywhere."""
    names = parameters.get("on")
    return [str(name) for name in names] if isinstance(names, list) else None


class ResolvedPart(BaseModel):
    """A part of a resolved experiment. Attributes carry their unit; aliases are the keys of the file.

    A key that a file lacks gets its default, and is not written again. Unknown keys are kept.
    """

    model_config = ConfigDict(
        extra="allow",
        strict=True,
        frozen=True,
        validate_by_alias=True,
        validate_by_name=True,
        defer_build=True,
    )

    def as_json(self) -> dict[str, JsonValue]:
        """Return it as plain values, as in resolved.json."""
        return self.model_dump(by_alias=True, exclude_unset=True)


def left_out_if_empty(default: Any) -> Any:
    """Return a field that is written only where it differs from its default.

    Args:
        default: its value where it is absent.
    """
    return Field(default, exclude_if=lambda value: value == default)


class ResolvedFile(ResolvedPart):
    """A file that an experiment names, by its path as written, and the hash of its content."""

    file: str
    sha256: str
