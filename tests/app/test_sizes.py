"""Sizes fill in parameters: data beside an application, read before anything else looks at them."""

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from crosswind.app import find, names
from crosswind.plan.outline import outline
from crosswind.spec import SpecErrors, resolve
from crosswind.spec.base import keys_of
from crosswind.spec.experiment import Experiment
from crosswind.spec.load import parse_experiment
from crosswind.spec.schema import experiment_schema
from crosswind.spec.sizes_file import BadSizes, sizes_of


def experiment(application: str) -> bytes:
    return f"""\
name: sized
topology: {{hosts: 2, nodes: {{db0: h0, server: h0, client: h1}}, uplink: {{rate: 1Gbit/s, delay: 0s}}}}
conditions: [none]
application: {{{application}}}
trials: {{repeat: 1}}
""".encode()


def resolved(application: str) -> dict[str, Any]:
    found: dict[str, Any] = resolve(
        parse_experiment(experiment(application), "sized.yaml")
    ).application.as_json()
    return found


def problems(application: str) -> list[str]:
    with pytest.raises(SpecErrors) as refused:
        parse_experiment(experiment(application), "sized.yaml")
    return [str(problem) for problem in refused.value.problems]


def test_the_published_size_of_ycsb_has_a_million_records_and_operations() -> None:
    found = resolved("ycsb: {workload: b, size: study}")
    assert (found["size"], found["parameters"]["records"], found["parameters"]["operations"]) == (
        "study",
        1_000_000,
        1_000_000,
    )


def test_what_is_given_wins_over_the_size() -> None:
    found = resolved("rpc: {size: small, duration: 2s}")["parameters"]
    assert (found["duration_ns"], found["warm_up_ns"]) == (2 * 10**9, 10**9)


def test_without_a_size_none_is_recorded() -> None:
    assert resolved("rpc: {duration: 2s}")["size"] is None


@pytest.mark.parametrize("size", ["studdy", "5", "[small]", "null"])
def test_an_unknown_size_is_one_problem_at_its_place_that_names_those_there_are(size: str) -> None:
    (problem,) = problems(f"rpc: {{size: {size}}}")
    assert "application.rpc: size" in problem
    assert "study" in problem
    # The line of `application`, at the value of `size`.
    assert "sized.yaml:4:27" in problem


def test_a_wrong_parameter_beside_a_size_is_told_where_it_stands() -> None:
    (problem,) = problems("rpc: {size: small, duration: 2}")
    assert "sized.yaml:4:44" in problem


@pytest.mark.parametrize("name", names())
def test_the_parameters_of_every_size_are_sound_with_what_no_size_can_know(name: str) -> None:
    kind, sizes = find(name), sizes_of(find(name))
    assert "size" not in keys_of(kind.Parameters)
    for parameters in sizes.values():
        assert set(parameters) <= set(keys_of(kind.Parameters))


# What no size can know, by application and variant.
VARIANTS = {
    "dns": [""],
    "hpcc": [""],
    "iperf3": [""],
    "memcached": [""],
    "nuttcp": [""],
    "rpc": [""],
    "sockperf": [""],
    "spark": ["", "storage: hdfs"],
    "traffic": [""],
    "training": [""],
    "web": [
        "server: nginx",
        "server: apache",
        "server: nginx, client: vegeta",
        "server: apache, client: vegeta",
    ],
    "ycsb": [f"workload: a, store: {store}" for store in find("ycsb").variants],
}
ROLES = (
    "db0",
    "db1",
    "db2",
    "server",
    "client",
    "master",
    *(f"{role}{number}" for role in ("rank", "worker") for number in range(12)),
)
SIZED = [
    (name, given, size)
    for name in names()
    for given in VARIANTS.get(name, [""])
    for size in sizes_of(find(name))
]


def load_sized(name: str, given: str, size: str) -> Experiment:
    text = experiment(f"{name}: {{{', '.join(filter(None, [given, f'size: {size}']))}}}").decode()
    nodes = ", ".join(f"{role}: h0" for role in ROLES)
    return parse_experiment(text.replace("db0: h0, server: h0, client: h1", nodes).encode(), "sized.yaml")


def test_every_variant_of_every_application_with_sizes_is_among_those_tried() -> None:
    assert {name for name in names() if sizes_of(find(name))} == set(VARIANTS)
    tried: dict[str, set[str | None]] = {name: set() for name in VARIANTS}
    for name, given, size in SIZED:
        tried[name].add(find(name)(load_sized(name, given, size).parameters).variant)
    assert all(found >= set(find(name).variants) for name, found in tried.items())


@pytest.mark.parametrize(("name", "given", "size"), SIZED)
def test_every_size_of_every_variant_is_valid_and_can_be_planned(name: str, given: str, size: str) -> None:
    outlined = outline(resolve(load_sized(name, given, size)))
    assert len(outlined.trials) == 1
    if size == "small" and outlined.expected.least_s is not None:
        assert outlined.expected.least_s <= (120 if name in ("spark", "hpcc") else 60)


def test_an_editor_is_offered_sizes_and_asks_for_nothing_that_they_fill_in() -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="SKIPPED: jsonschema is not installed")
    schema = experiment_schema()
    rpc = {"$defs": schema["$defs"], "$ref": "#/$defs/rpc parameters"}
    valid = jsonschema.Draft202012Validator(rpc).is_valid
    assert valid({"size": "small"})
    assert valid({"duration": "2s"})
    assert not valid({})
    assert not valid({"size": "huge"})


def test_the_file_of_sizes_may_have_any_sizes_or_be_absent_and_a_wrong_one_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "stopwatch").mkdir()
    (tmp_path / "stopwatch" / "__init__.py").write_text("class Stopwatch: pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    import stopwatch  # type: ignore[import-not-found]

    assert isinstance(sys.modules["stopwatch"], ModuleType)
    file = tmp_path / "stopwatch" / "sizes.yaml"
    assert sizes_of(stopwatch.Stopwatch) == {}
    # Not every application has a published size.
    file.write_text("small: {laps: 3}\n")
    assert sizes_of(stopwatch.Stopwatch) == {"small": {"laps": 3}}
    file.write_text("- small\n")
    with pytest.raises(BadSizes, match=r"sizes\.yaml: must be a mapping of sizes to parameters"):
        sizes_of(stopwatch.Stopwatch)
    file.write_text("small: {laps: 3}\nstudy:\n")
    with pytest.raises(BadSizes, match=r'size "study" must be a mapping of parameters; write `study: \{'):
        sizes_of(stopwatch.Stopwatch)
