"""What every part of a file has in common: unknown keys are errors that name the nearest valid key."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, create_model, model_validator

# What pydantic reads a value with: a type, or a type with validators. Python has no type for both (PEP 747).
Annotation: TypeAlias = Any
# A field of a model that is made at run time: its annotation, and its default or a `Field`.
FieldDefinition = tuple[Annotation, object]


@dataclass(frozen=True)
class ReadingContext:
    """The context of a validation, which pydantic hands to every validator.

    Attributes:
        named_file: returns the content of a file that the file being read names; raises OSError.
        files_below: returns the files below such a folder; raises OSError.
        models: which model read which mapping, by the identity of the mapping.
    """

    named_file: Callable[[str], bytes]
    files_below: Callable[[str], list[str]]
    models: dict[int, type[BaseModel]] = field(default_factory=dict)


class SpecModel(BaseModel):
    """A mapping in a file. Attributes carry their unit; aliases are the keys of the file.

    A number is never read from text, nor text from a number. What reads it is built when it is first used: a
    command uses a few of some two hundred models.

    Attributes:
        elsewhere: keys that belong to another part of the file, and what to write instead.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, defer_build=True)
    elsewhere: ClassVar[Mapping[str, str]] = {}

    @model_validator(mode="before")
    @classmethod
    def _remember_model(cls, data: object, info: ValidationInfo) -> object:
        """Note which model reads which mapping, so that the error of an unknown key names the nearest one."""
        if isinstance(info.context, ReadingContext):
            info.context.models[id(data)] = cls
        return data


def made_model(
    name: str,
    about: str | None,
    fields: Mapping[str, FieldDefinition],
    bases: tuple[type[SpecModel], ...] = (SpecModel,),
    after: Callable[[BaseModel], BaseModel] | None = None,
) -> type[SpecModel]:
    """Return a model that is made at run time.

    Args:
        about: its docstring.
        after: checks what was read.
    """
    definitions: dict[str, Any] = dict(fields)
    checks: dict[str, Any] = {} if after is None else {"checked": model_validator(mode="after")(after)}
    return create_model(name, __base__=bases, __doc__=about, __validators__=checks, **definitions)


def keys_of(model: type[BaseModel]) -> list[str]:
    """Return the keys that a mapping read by `model` may have, in the order of its definition."""
    return [field.alias or name for name, field in model.model_fields.items()]


def field_of(model: type[BaseModel], key: str) -> str:
    """Return the attribute that holds the value of a key of the file."""
    return next(name for name, field in model.model_fields.items() if (field.alias or name) == key)


# The key that every element of a condition has.
On = Annotated[
    list[str] | None,
    Field(
        min_length=1, description="Only these: nodes or hosts at host.*, hosts elsewhere. Absent: everywhere."
    ),
]
