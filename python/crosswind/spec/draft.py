"""Read the sound parts of a file that has errors, so that one error does not hide the next."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, JsonValue, TypeAdapter, ValidationError, create_model

from crosswind.spec.base import Annotation
from crosswind.spec.document import Path

_Value = TypeVar("_Value")


def value_at(data: JsonValue, *path: str | int) -> JsonValue:
    """Return the value at `path` of plain values, or None."""
    for part in path:
        if isinstance(data, dict) and isinstance(part, str):
            data = data.get(part)
        elif isinstance(data, list) and isinstance(part, int) and part < len(data):
            data = data[part]
        else:
            return None
    return data


def items(data: JsonValue, *path: str | int) -> list[tuple[Path, JsonValue]]:
    """Return the entries of the list or mapping at `path`, each with its path; none if it is neither."""
    found = value_at(data, *path)
    if isinstance(found, dict):
        return [((*path, key), value) for key, value in found.items()]
    if isinstance(found, list):
        return [((*path, index), value) for index, value in enumerate(found)]
    return []


def only_key(data: JsonValue) -> str | None:
    """Return the key of a mapping that has one key; None for anything else."""
    return next(iter(data)) if isinstance(data, dict) and len(data) == 1 else None


def sound(read: Callable[[JsonValue], _Value], data: JsonValue) -> _Value | None:
    """Return `data` as `read` returns it; None where it is absent or not sound.

    Args:
        read: raises ValueError where a value is not sound, as pydantic does.
    """
    if data is None:
        return None
    try:
        return read(data)
    except ValueError:
        return None


@cache
def reader_as(annotation: Annotation) -> Callable[[JsonValue], Any]:
    """Return the function that reads values by an annotation."""
    return TypeAdapter(annotation).validate_python


def sound_field(model: type[BaseModel], name: str, data: JsonValue) -> Any:
    """Return one field of a mapping as `model` declares it, its default where the key is absent.

    None where the value is not sound, or `data` is not a mapping.
    """
    if not isinstance(data, dict):
        return None
    try:
        return getattr(_alone(model, name).model_validate(data), name)
    except ValidationError:
        return None


@cache
def _alone(model: type[BaseModel], name: str) -> type[BaseModel]:
    """Return a model with this one field of `model`, which ignores every other key."""
    field = model.model_fields[name]
    config = ConfigDict(extra="ignore", strict=model.model_config.get("strict", False))
    definition: Any = {name: (field.annotation, field)}
    alone: type[BaseModel] = create_model(f"{model.__name__}_{name}", __config__=config, **definition)
    return alone
