"""The JSON Schemas accept what the reader accepts, and refuse what an editor should underline."""

import pytest

from crosswind import catalog
from crosswind.spec.document import parse_document, read_document
from crosswind.spec.schema import condition_schema, experiment_schema

jsonschema = pytest.importorskip("jsonschema", reason="SKIPPED: jsonschema is not installed")

EXPERIMENT = experiment_schema()
CONDITION = condition_schema()


def valid(schema, data) -> bool:
    return bool(jsonschema.Draft202012Validator(schema).is_valid(data))


def test_the_schemas_are_schemas() -> None:
    for schema in (EXPERIMENT, CONDITION):
        jsonschema.Draft202012Validator.check_schema(schema)
        assert schema["version"] == 1


@pytest.mark.parametrize("name", catalog.experiment_names())
def test_experiments_of_the_catalogue_are_valid(name: str) -> None:
    jsonschema.validate(read_document(catalog.experiment_file(name)).data, EXPERIMENT)


@pytest.mark.parametrize("name", catalog.condition_names())
def test_conditions_of_the_catalogue_are_valid(name: str) -> None:
    jsonschema.validate(read_document(catalog.condition_file(name)).data, CONDITION)


def test_the_example_is_valid() -> None:
    jsonschema.validate(read_document(catalog.example_file()).data, EXPERIMENT)


@pytest.mark.parametrize(
    "text",
    [
        "{x: {link: [{delay: {time: 10}}]}}",
        "{x: {link: [{police: {rate: 10mbps, burst: 10kB}}]}}",
        "{x: {link: [{police: {rate: 10Mbit/s}}]}}",
        "{x: {link: [{}]}}",
        "{x: {links: []}}",
        "{x: {interference: {between: [h0], rate: 50%}}}",
        "{x: {at: {later: {}}}}",
        "{}",
    ],
)
def test_what_the_reader_refuses_is_underlined(text: str) -> None:
    assert not valid(CONDITION, parse_document(text.encode(), "x").data)


def test_conditions_and_parameters_are_offered_for_completion() -> None:
    names = next(
        option["anyOf"][0]["enum"]
        for option in EXPERIMENT["properties"]["conditions"]["items"]["oneOf"]
        if "anyOf" in option
    )
    assert "icpe23/interference" in names
    assert "rpc" in EXPERIMENT["properties"]["application"]["properties"]
    assert "connections" in EXPERIMENT["$defs"]["rpc parameters"]["properties"]
