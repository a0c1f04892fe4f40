"""Restore a model from its dump: parameters in resolved.json become the same objects again."""

from __future__ import annotations

from types import UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, JsonValue

from crosswind.spec.named_file import NamedFile

_Model = TypeVar("_Model", bound=BaseModel)


def restored(model: type[_Model], values: dict[str, JsonValue]) -> _Model:
    """Return the model whose `model_dump(mode="json")` gave `values`.

    Values are not validated again: quantities are integers in base units here, not text with units. An absent
    key gets its default.
    """
    fields = {
        name: _value(field.annotation, values[name])
        for name, field in model.model_fields.items()
        if name in values
    }
    return model.model_construct(**fields)


def _value(annotation: object, value: JsonValue) -> Any:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _value(arguments[0], value)
    if origin in (Union, UnionType):
        return _value(next((member for member in arguments if _fits(member, value)), object), value)
    if isinstance(value, list) and origin in (list, tuple):
        items = [_value(arguments[0], item) for item in value]
        return tuple(items) if origin is tuple else items
    if isinstance(value, dict):
        if origin is dict:
            return {key: _value(arguments[1], item) for key, item in value.items()}
        if origin is NamedFile:
            return NamedFile(str(value["file"]), str(value["sha256"]), _value(arguments[0], value["says"]))
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            return restored(annotation, value)
    return value


def _fits(member: object, value: JsonValue) -> bool:
    """Return whether `value` may be the dump of this member of a union; a model is known by its fields."""
    while get_origin(member) is Annotated:
        member = get_args(member)[0]
    if get_origin(member) in (Union, UnionType):
        return any(_fits(inner, value) for inner in get_args(member))
    if isinstance(member, type) and issubclass(member, BaseModel):
        return isinstance(value, dict) and set(value) == set(member.model_fields)
    kind = get_origin(member) or member
    if kind is NamedFile:
        return isinstance(value, dict) and set(value) == {"file", "sha256", "says"}
    return isinstance(kind, type) and isinstance(value, list if kind is tuple else kind)
