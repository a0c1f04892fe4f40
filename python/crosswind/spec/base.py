"""What every part of a file has in common: unknown keys are errors that can name the nearest valid key."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, model_validator

# Where the context of a validation has the function that reads a file named in the file being read.
FILES = "files"
# And the function that returns the files below a folder.
FILES_BELOW = "files below"


class SpecModel(BaseModel):
    """A mapping in a file. Attributes carry their unit; aliases are the words of the file.

    Numbers are never made from text and text never from numbers: what a file says is what it means.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _remember_model(cls, data: Any, info: ValidationInfo) -> Any:
        """Note which model reads which mapping, so that an unknown key can be answered with the nearest."""
        if isinstance(info.context, dict):
            info.context[id(data)] = cls
        return data


def keys_of(model: type[BaseModel]) -> list[str]:
    """Return the keys that a mapping read by `model` may have, in the order of its definition."""
    return [field.alias or name for name, field in model.model_fields.items()]


def field_of(model: type[BaseModel], key: str) -> str:
    """Return the attribute that holds what stands behind a key of the file."""
    return next(name for name, field in model.model_fields.items() if (field.alias or name) == key)


# The key that every element of a condition has.
On = Annotated[
    list[str] | None,
    Field(
        min_length=1, description="Only these: nodes or hosts at host.*, hosts elsewhere. Absent: everywhere."
    ),
]
