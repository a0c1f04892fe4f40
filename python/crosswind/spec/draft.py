"""Read the sound parts of a file that is not sound as a whole, so that one error does not hide the next."""

from __future__ import annotations

from functools import cache
from typing import Any

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError, create_model

from crosswind.spec.document import Path


def value_at(data: Any, *path: str | int) -> Any:
    """Return what stands at `path` of plain values, or None."""
    for part in path:
        if isinstance(data, dict):
            data = data.get(part)
        elif isinstance(data, list) and isinstance(part, int) and part < len(data):
            data = data[part]
        else:
            return None
    return data


def items(data: Any, *path: str | int) -> list[tuple[Path, Any]]:
    """Return the entries of the list or mapping at `path`, each with its path; none if it is neither."""
    found = value_at(data, *path)
    if isinstance(found, dict):
        return [((*path, key), value) for key, value in found.items()]
    if isinstance(found, list):
        return [((*path, index), value) for index, value in enumerate(found)]
    return []


def sound(model: Any, data: Any) -> Any:
    """Return `data` read as `model` (any annotation), or None if it is absent or not sound."""
    if data is None:
        return None
    try:
        return _adapter(model).validate_python(data)
    except ValidationError:
        return None


def sound_field(model: type[BaseModel], name: str, data: Any) -> Any:
    """Return one field of a mapping, its default when absent, None when not sound or not a mapping."""
    if not isinstance(data, dict):
        return None
    try:
        return getattr(_alone(model, name).model_validate(data), name)
    except ValidationError:
        return None


@cache
def _adapter(model: Any) -> TypeAdapter[Any]:
    return TypeAdapter(model)


@cache
def _alone(model: type[BaseModel], name: str) -> type[BaseModel]:
    """Return a model with this one field of `model`, blind to everything else in the mapping."""
    field = model.model_fields[name]
    config = ConfigDict(extra="ignore", strict=model.model_config.get("strict", False))
    definition: Any = {name: (field.annotation, field)}
    alone: type[BaseModel] = create_model(f"{model.__name__}_{name}", __config__=config, **definition)
    return alone
