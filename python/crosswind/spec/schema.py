"""The JSON Schemas of experiment and condition files, for editors to complete and check from.

They describe single values; `crosswind validate` checks rules across a file. The version changes when a file
that was valid before would no longer be valid.
"""

from __future__ import annotations

from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode, JsonSchemaValue
from pydantic_core import CoreSchema

from crosswind import catalog
from crosswind.spec import applications
from crosswind.spec.base import SpecModel
from crosswind.spec.condition import Condition
from crosswind.spec.declared import SIZE
from crosswind.spec.experiment import ConditionName, Experiment
from crosswind.spec.sizes_file import Sizes
from crosswind.spec.testbed.carried import Carried
from crosswind.spec.testbed.provided import declared_provider, provider_names

VERSION = 1
_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_PLACED = ("hosts", "nodes")  # Of a star; spec/own_nodes.py can fill them in.
_REFERENCES = "#/$defs/{model}"
_FACTOR = {"$ref": "#/$defs/factor"}  # In a condition of an experiment, `$name` may stand for a value.


class _FileSchema(GenerateJsonSchema):
    """Leaves out titles, which only clutter an editor's pop-up."""

    def field_title_should_be_set(self, schema: object) -> bool:
        return False

    def generate(self, schema: CoreSchema, mode: JsonSchemaMode = "validation") -> JsonSchemaValue:
        # Before 2.14, pydantic cannot write a default that is a model which was never used.
        _build_below(SpecModel)
        return super().generate(schema, mode)


def _build_below(model: type[BaseModel]) -> None:
    for each in model.__subclasses__():
        each.model_rebuild()
        _build_below(each)


def experiment_schema() -> JsonSchemaValue:
    """Return the JSON Schema of an experiment file, with the parameters of every installed application."""
    schema = Experiment.model_json_schema(schema_generator=_FileSchema, ref_template=_REFERENCES)
    definitions = schema["$defs"]
    offered = {}
    for name in applications.names():
        parameters = _own_definitions_in(applications.parameters_of(name), definitions)
        definitions[f"{name} parameters"] = _with_size(parameters, applications.sizes(name))
        offered[name] = {"$ref": f"#/$defs/{name} parameters"}
    schema["properties"]["application"] |= {"properties": offered, "additionalProperties": False}
    for name in provider_names():
        parameters = _own_definitions_in(declared_provider(name).Parameters, definitions)
        definitions[f"{name} machines"] = parameters
        schema["properties"]["testbed"]["anyOf"].append(_machines_of(name, definitions["Testbed"]))
    for option in schema["properties"]["conditions"]["items"]["oneOf"]:
        if option.get("type") == "string":
            option["anyOf"] = [{"enum": catalog.condition_names()}, _FACTOR]
    for model in _models_below("Condition", definitions):
        for name, value in definitions[model].get("properties", {}).items():
            definitions[model]["properties"][name] = _or_factor(value)
    _let_own_nodes_be_absent(schema)
    definitions["factor"] = {
        "type": "string",
        "pattern": r"\$[a-z][a-z0-9_]*",
        "description": "A factor's level.",
    }
    return _headed("experiment", schema)


def _own_definitions_in(model: type[BaseModel], definitions: JsonSchemaValue) -> JsonSchemaValue:
    """Return the schema of a plugin's model, whose own definitions are added to those of the file."""
    schema = model.model_json_schema(schema_generator=_FileSchema, ref_template=_REFERENCES)
    definitions.update(schema.pop("$defs", {}))
    return schema


def _machines_of(provider: str, written: JsonSchemaValue) -> JsonSchemaValue:
    """Return the schema of a testbed of a provider: that of a written one, with other machines."""
    shared = {key: value for key, value in written["properties"].items() if key in Carried.model_fields}
    return {
        "type": "object",
        "properties": {provider: {"$ref": f"#/$defs/{provider} machines"}, **shared},
        "required": [provider],
        "additionalProperties": False,
    }


def _let_own_nodes_be_absent(schema: JsonSchemaValue) -> None:
    """Require hosts and nodes of a star only where the application defines no nodes by itself."""
    star = schema["$defs"]["Star"]
    star["required"] = [key for key in star["required"] if key not in _PLACED]
    others = [{"required": [key]} for key in ("zones", "graph", "switches", "links")]
    brought = [{"required": [name]} for name in applications.names() if applications.brings_nodes(name)]
    schema["if"] = {"properties": {"application": {"not": {"anyOf": brought}}}}
    demanded = {"if": {"not": {"anyOf": others}}, "then": {"required": list(_PLACED)}}
    schema["then"] = {"properties": {"topology": demanded}}


def _models_below(model: str, definitions: JsonSchemaValue) -> list[str]:
    """Return the definitions that a model refers to, itself first."""
    found = [model]
    for each in found:
        found += [name for name in _references(definitions[each]) if name not in found]
    return found


def _references(schema: object) -> list[str]:
    if isinstance(schema, list):
        return [name for item in schema for name in _references(item)]
    if not isinstance(schema, dict):
        return []
    here = [schema["$ref"].rsplit("/", 1)[-1]] if isinstance(schema.get("$ref"), str) else []
    return here + [name for value in schema.values() for name in _references(value)]


def _or_factor(schema: JsonSchemaValue) -> JsonSchemaValue:
    """Return the schema of a value that may also be a factor's level, wherever it is a scalar."""
    if "$ref" in schema or schema.get("type") == "object":
        return schema
    if schema.get("type") == "array":
        return {**schema, "items": _or_factor(schema["items"])} if "items" in schema else schema
    if "default" in schema:
        return {
            **_or_factor({key: value for key, value in schema.items() if key != "default"}),
            "default": schema["default"],
        }
    return {"anyOf": [schema, _FACTOR]}


def _with_size(schema: JsonSchemaValue, sizes: Sizes) -> JsonSchemaValue:
    """Return the schema of parameters with `size`, which makes keys that every size has optional."""
    if not sizes:
        return schema
    size = {"enum": list(sizes), "description": "Fills in the parameters that are not given."}
    needed = set(schema.pop("required", ()))
    filled = {key for key in needed if all(key in parameters for parameters in sizes.values())}
    return {
        **schema,
        "properties": {SIZE: size, **schema["properties"]},
        **({"required": sorted(needed - filled)} if needed - filled else {}),
        **({"anyOf": [{"required": [SIZE]}, {"required": sorted(filled)}]} if filled else {}),
    }


def condition_schema() -> JsonSchemaValue:
    """Return the JSON Schema of a file of conditions."""
    adapter = TypeAdapter(dict[ConditionName, Condition])
    schema = adapter.json_schema(schema_generator=_FileSchema, ref_template=_REFERENCES)
    return _headed("condition", schema | {"minProperties": 1})


def _headed(kind: str, schema: JsonSchemaValue) -> JsonSchemaValue:
    _tighten(schema)
    return {
        "$schema": _DIALECT,
        "$id": f"urn:crosswind:schema:{kind}:{VERSION}",
        "version": VERSION,
        **schema,
    }


def _tighten(schema: object) -> None:
    """Make pydantic's schema as strict as the reader.

    Pydantic allows `null` for a key that may be absent; a file leaves such a key out. Keys that must match a
    pattern have no exceptions.
    """
    if isinstance(schema, list):
        for item in schema:
            _tighten(item)
    if not isinstance(schema, dict):
        return
    if schema.get("default", ...) is None:
        del schema["default"]
    options = schema.get("anyOf")
    if isinstance(options, list) and {"type": "null"} in options:
        rest = [option for option in options if option != {"type": "null"}]
        del schema["anyOf"]
        schema |= rest[0] if len(rest) == 1 else {"anyOf": rest}
    if "patternProperties" in schema:
        schema["additionalProperties"] = False
    for value in list(schema.values()):
        _tighten(value)
