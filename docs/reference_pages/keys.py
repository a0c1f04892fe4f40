"""Tables of the keys that a part of a file may have, from its pydantic model."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from crosswind.spec.base import SpecModel
from reference_pages import markdown

# Its two dozen names stand once, in the table of quantities.
_DSCP = "A DSCP by number or name."


def keys_table(model: type[BaseModel]) -> str:
    """Return the table of a model's keys: how each is written, if it is needed, what it means."""
    properties = _properties(model)
    rows = []
    for name, field in model.model_fields.items():
        key = field.alias or name
        rows.append([f"`{key}`", written(properties[key]), _needed(field), _meaning(field, properties[key])])
    return markdown.table(["key", "written", "needed", "meaning"], rows)


def written(schema: dict[str, Any]) -> str:
    """Return how a value is written: its choices, examples, or the part of the file that it is."""
    if schema.get("description") == _DSCP:
        return "DSCP"
    if "enum" in schema:
        return ", ".join(f"`{choice}`" for choice in schema["enum"])
    if "const" in schema:
        return f"`{json.dumps(schema['const'])}`"
    if "examples" in schema:
        return ", ".join(f"`{example}`" for example in schema["examples"])
    if "$ref" in schema:
        return f"[{schema['$ref']}](#{schema['$ref'].lower()})"
    for several in ("anyOf", "oneOf"):
        if several in schema:
            options = [option for option in schema[several] if option.get("type") != "null"]
            return " or ".join(dict.fromkeys(written(option) for option in options))
    match schema.get("type"):
        case "array":
            return f"list of {written(schema['items'])}"
        case "object":
            patterned = list(schema.get("patternProperties", {}).values())
            inner = [*patterned, schema.get("additionalProperties")][0]
            return f"mapping of {written(inner)}" if isinstance(inner, dict) else "mapping"
        case "boolean":
            return "`true` or `false`"
        case "integer" | "number":
            return "number" + _bounds(schema)
        case _:
            return "text"


def _bounds(schema: dict[str, Any]) -> str:
    words = {"minimum": "from", "exclusiveMinimum": "above", "maximum": "to", "exclusiveMaximum": "below"}
    return "".join(f" {word} {_plain(schema[bound])}" for bound, word in words.items() if bound in schema)


def _plain(bound: float) -> str:
    return f"{bound:g}" if isinstance(bound, float) else str(bound)


def _needed(field: FieldInfo) -> str:
    return "yes" if field.is_required() else "no"


def _meaning(field: FieldInfo, schema: dict[str, Any]) -> str:
    return field.description or schema.get("description", "")


def models_below(model: type[BaseModel]) -> list[type[BaseModel]]:
    """Return `model` and every model that its keys lead to, in the order in which a reader meets them."""
    known = {kind.__name__: kind for kind in _subclasses(SpecModel)}
    found = [model]
    for each in found:
        for name in _references(_properties(each)):
            if known[name] not in found:
                found.append(known[name])
    return found


@cache
def _properties(model: type[BaseModel]) -> dict[str, Any]:
    """Return what a model's JSON Schema says of its keys; the same part is asked for many times."""
    properties: dict[str, Any] = model.model_json_schema(ref_template="{model}")["properties"]
    return properties


def _references(schema: Any) -> list[str]:
    if isinstance(schema, list):
        return [name for item in schema for name in _references(item)]
    if not isinstance(schema, dict):
        return []
    here = [schema["$ref"]] if isinstance(schema.get("$ref"), str) else []
    return here + [name for value in schema.values() for name in _references(value)]


def _subclasses(kind: type[BaseModel]) -> list[type[BaseModel]]:
    return [found for child in kind.__subclasses__() for found in (child, *_subclasses(child))]
