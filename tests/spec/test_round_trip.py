"""What the agent takes, written as a file would say it, is read back as the same."""

import json
import subprocess
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from crosswind import catalog
from crosswind.spec import load_catalogue_condition
from crosswind.spec.description import descriptions
from crosswind.spec.document import parse_document
from crosswind.spec.load import conditions_of
from crosswind.spec.resolve import resolve_condition
from crosswind.spec.topology import Star
from crosswind.testbed import NotHere, find_binary
from tests.spec.written import NotWritableError, sent_as_resolved, written

PLACES = {"anywhere": "link", "port": "host.egress", "link": "link"}
TOPOLOGY = Star.model_validate(
    {"hosts": 8, "uplink": {"rate": "10Gbit/s"}, "nodes": {"server": "h0", "client": "h1"}}
)
SAMPLES = 60
# Their parameters are files in units of the file: tests/spec/test_trains.py.
OF_FILES = {"cellreplay"}


def again(kind: str, sent: Mapping[str, Any]) -> Any:
    """Return the parameters as they are resolved once they are written."""
    place = PLACES[descriptions()[kind].where]
    condition = {"x": {place: [{kind: written(descriptions()[kind], sent)}]}}
    (read,) = conditions_of(parse_document(json.dumps(condition).encode(), "x.yaml")).values()
    return resolve_condition("x", read, TOPOLOGY, 1.0).places[place]


def catalogue() -> Iterator[tuple[str, dict[str, Any]]]:
    for name in catalog.condition_names():
        resolved = resolve_condition(name, load_catalogue_condition(name), TOPOLOGY, 1.0)
        yield from ((kind, sent) for _, kind, sent in resolved.elements())


def test_every_element_of_the_catalogue_is_the_same_after_it_was_written() -> None:
    told = 0
    for kind, sent in catalogue():
        plain = {key: value for key, value in sent.items() if key != "on"}
        try:
            assert again(kind, plain) == [{kind: plain}]
        except NotWritableError:
            continue
        told += 1
    assert told > 20


@pytest.fixture(scope="module")
def samples() -> dict[str, list[dict[str, Any]]]:
    """Parameters that the engine draws at random for each element and finds sound."""
    try:
        program = find_binary("crosswind-simulate")
    except NotHere:
        pytest.skip("SKIPPED: crosswind-simulate is not installed")
    asked = [program, "describe", "--samples", str(SAMPLES)]
    done = subprocess.run(asked, capture_output=True, text=True, check=True)
    found: dict[str, list[dict[str, Any]]] = json.loads(done.stdout)["samples"]
    return found


@pytest.mark.parametrize("kind", [kind for kind in descriptions() if kind not in OF_FILES])
def test_what_the_engine_finds_sound_can_be_written_and_is_read_as_the_same(
    kind: str, samples: dict[str, list[dict[str, Any]]]
) -> None:
    told, description = 0, descriptions()[kind]
    for sample in samples[kind]:
        (sent,) = sample.values()
        does_nothing = description.idle is not None and sent == {description.sent_name(description.idle): 0}
        expected = [] if does_nothing else [{kind: sent_as_resolved(description.group, sent)}]
        try:
            assert again(kind, sent) == expected
        except NotWritableError:
            continue
        told += 1
    assert told > 0
