"""Files that are nearly experiments are read, or refused with places, whatever a value is replaced by."""

import copy
import json
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from crosswind import catalog
from crosswind.spec import Problem, SpecErrors, fabric_of, resolve
from crosswind.spec.document import Document, Path, parse_document, read_document
from crosswind.spec.draft import value_at
from crosswind.spec.load import experiment_of

EXAMPLE: Any = read_document(catalog.example_file()).data
# Every element that has a short form, in it.
EXAMPLE["conditions"].append(
    {
        "short": {
            "host.egress": [{"mark": "EF"}, {"pace": "1Gbit/s"}, {"queue": "64KiB"}, {"monitor": ["drops"]}],
            "link": [{"delay": "20ms"}, {"lose": "1%"}, {"duplicate": "1%"}, {"corrupt": "1%"}],
            "switch.ingress": [{"police": "50Mbit/s"}],
            "at": {"500ms": {"link": [{"delay": "1ms"}], "partition": "server | client"}},
        }
    }
)
EXAMPLE["conditions"] += [
    {
        "broken": {
            "at": {
                "500ms": {"isolate": "server", "cut": "server -> client", "kill": ["server"]},
                "600ms": {"restart": {"nodes": ["server"]}},
                "700ms": {"heal": "all", "squeeze": {"nodes": ["h0"], "cpus": 0.1}, "pause": "server"},
                "800ms": {"release": "server", "resume": "server"},
            }
        }
    },
    {"drawn": {"faults": {"every": "200ms", "for": "100ms", "choose": ["isolate", "kill"], "seed": 7}}},
]
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-10, 10**20),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(
        ["", "10", "10Mbit/s", "0B", "5%", "1ms", "h0-h1", "h9", "none", "default", "unlimited", "AF41"]
    ),
    st.sampled_from(["delay", "drops", "5packets", "$lag", ["drops"], ["rtt", 5], {"time": "1ms"}]),
    st.sampled_from([[], {}, [{}], [None], {"none": {}}, {"police": {}}, {"normal": {}}]),
    st.text(max_size=5),
)


def paths(data: Any, prefix: Path = ()) -> list[Path]:
    found = [prefix]
    entries = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in entries:
        found += paths(value, (*prefix, key))
    return found


@settings(max_examples=200)
@example([(("topology", "nodes", "server"), "\n", False)])
# A factor that there is not, in a condition behind those that are read: its number is the file's.
@example([(("conditions", 3, "short", "link", 2, "duplicate"), "$lag", False)])
@given(st.lists(st.tuples(st.sampled_from(paths(EXAMPLE)), VALUES, st.booleans()), min_size=1, max_size=3))
def test_an_experiment_with_replaced_values_is_read_or_refused(changes: list[tuple[Path, Any, bool]]) -> None:
    data: Any = copy.deepcopy(EXAMPLE)
    for path, value, remove in changes:
        data = replaced(data, path, copy.deepcopy(value), remove)
    problems = read_and_build(parse_document(json.dumps(data).encode(), "x.json"))
    assert all(problem.line >= 1 and "\n" not in problem.message for problem in problems)


def read_and_build(document: Document) -> list[Problem]:
    """Return the problems of an experiment; if it has none, everything that follows from it can be built."""
    try:
        resolved = resolve(experiment_of(document))
    except SpecErrors as errors:
        return errors.problems
    for condition in resolved.conditions:
        fabric_of(resolved, condition.name)
    return []


def replaced(data: Any, path: Path, value: Any, remove: bool) -> Any:
    """Return `data` with the value at `path` replaced or removed, if earlier changes left the path there."""
    if not path:
        return value
    target = value_at(data, *path[:-1])
    last = path[-1]
    if isinstance(target, dict) and isinstance(last, str):
        target.pop(last, None) if remove else target.__setitem__(last, value)
    elif isinstance(target, list) and isinstance(last, int) and last < len(target):
        target.pop(last) if remove else target.__setitem__(last, value)
    return data
