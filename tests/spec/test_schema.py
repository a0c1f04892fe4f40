"""The JSON Schemas accept what the reader accepts, and refuse what an editor should underline."""

import pytest

from crosswind import catalog
from crosswind.spec.document import parse_document, read_document
from crosswind.spec.schema import condition_schema, experiment_schema

jsonschema = pytest.importorskip("jsonschema", reason="SKIPPED: jsonschema is not installed")

EXPERIMENT = experiment_schema()
CONDITION = condition_schema()
# Made once: `jsonschema.validate` would check the schema again for every file.
OF_EXPERIMENT = jsonschema.Draft202012Validator(EXPERIMENT)
OF_CONDITION = jsonschema.Draft202012Validator(CONDITION)


def test_the_schemas_are_schemas() -> None:
    for schema in (EXPERIMENT, CONDITION):
        jsonschema.Draft202012Validator.check_schema(schema)
        assert schema["version"] == 1


@pytest.mark.parametrize("name", catalog.experiment_names())
def test_experiments_of_the_catalogue_are_valid(name: str) -> None:
    OF_EXPERIMENT.validate(read_document(catalog.experiment_file(name)).data)


@pytest.mark.parametrize("name", catalog.condition_names())
def test_conditions_of_the_catalogue_are_valid(name: str) -> None:
    OF_CONDITION.validate(read_document(catalog.condition_file(name)).data)


def test_the_example_is_valid() -> None:
    OF_EXPERIMENT.validate(read_document(catalog.example_file()).data)


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
        "{x: {at: {1s: {heal: db0}}}}",
        "{x: {at: {1s: {cut: 7}}}}",
        "{x: {at: {1s: {restart: {nodes: db0, clock: {offset: 5}}}}}}",
        "{x: {faults: {every: 10s, for: 3, choose: [isolate]}}}",
        "{x: {faults: {every: 10s, for: 3s, choose: [restart]}}}",
        "{}",
    ],
)
def test_what_the_reader_refuses_is_underlined(text: str) -> None:
    assert not OF_CONDITION.is_valid(parse_document(text.encode(), "x").data)


@pytest.mark.parametrize(
    "text",
    [
        "{x: {at: {1s: {partition: a | b, isolate: [a], cut: a -> b}, 2s: {heal: all, pause: a}}}}",
        "{x: {at: {1s: {partition: {groups: [[a], b], answer: reset}, cut: {from: a, to: [b]}}}}}",
        "{x: {at: {1s: {restart: {nodes: a, clock: {offset: -5s, rate: 1.001}}, kill: [b]}}}}",
        "{x: {at: {1s: {squeeze: {nodes: a, cpus: 0.1}}, 2s: {release: a, restart: b}}}}",
        "{x: {faults: {every: 10s, for: 3s, choose: [isolate, kill]}}}",
        "{x: {faults: {every: {between: [5s, 9s]}, for: 3s, choose: [cut], nodes: a, seed: 7}}}",
    ],
)
def test_faults_may_be_written_in_short_and_in_full(text: str) -> None:
    OF_CONDITION.validate(parse_document(text.encode(), "x").data)


def test_conditions_and_parameters_are_offered_for_completion() -> None:
    names = next(
        option["anyOf"][0]["enum"]
        for option in EXPERIMENT["properties"]["conditions"]["items"]["oneOf"]
        if "anyOf" in option
    )
    assert "icpe23/interference" in names
    assert "rpc" in EXPERIMENT["properties"]["application"]["properties"]
    assert "connections" in EXPERIMENT["$defs"]["rpc parameters"]["properties"]
