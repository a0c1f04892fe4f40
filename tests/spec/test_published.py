"""`published:` of an experiment: figures of a study, of the catalogue or written out."""

from typing import Any

import pytest

from crosswind import catalog
from crosswind.spec import load_experiment, resolve
from crosswind.spec.load import parse_experiment
from crosswind.spec.problems import SpecErrors
from crosswind.spec.published import load_published

EXPERIMENT = """
name: x
topology: {hosts: 4, uplink: {rate: 1Gbit/s, delay: 2us, buffer: 64KiB}, nodes: {server: h0, client: h1}}
conditions: [none, icpe23/interference, {own: {}}]
application: {rpc: {request: 100B, response: 1kB, connections: 1, duration: 5s}}
trials: {repeat: 1}
"""
# The twelve tables of the notebook of the study's artifact.
OPERATIONS = {
    "a": ("latency.read", "latency.update"),
    "b": ("latency.read", "latency.update"),
    "c": ("latency.read",),
    "d": ("latency.read", "latency.insert"),
    "e": ("latency.insert", "latency.scan"),
    "f": ("latency.read", "latency.read-modify-write", "latency.read-modify-write.update"),
}


def resolved(published: str) -> dict[str, Any]:
    return resolve(parse_experiment((EXPERIMENT + published).encode(), "x.yaml")).as_json()


def test_it_is_resolved_to_numbers_in_base_units_by_the_full_names_of_conditions() -> None:
    found = resolved(
        "published: {source: a study, figures: {latency: {interference: {p99: 1.5ms}, own: {mean: 3}}}}"
    )
    assert found["published"] == {
        "source": "a study",
        "figures": [
            {
                "metric": "latency",
                "condition": "icpe23/interference",
                "statistic": "p99",
                "unit": "ns",
                "value": 1_500_000,
            },
            {"metric": "latency", "condition": "own", "statistic": "mean", "unit": "1", "value": 3},
        ],
    }


def test_an_experiment_without_it_is_resolved_as_before() -> None:
    assert "published" not in resolved("")


@pytest.mark.parametrize(
    ("published", "told"),
    [
        ("icpe23-ycsb-g", '"icpe23-ycsb-g" is not a set of published figures of the catalogue'),
        ("{source: s, figures: {latency: {nowhere: {p99: 1ms}}}}", "is not a condition of this experiment"),
        ("{source: s, figures: {latency: {own: {p99: fast}}}}", '"fast" is not a number'),
        ("{source: s, figures: {latency: {own: {}}}}", "x.yaml:7"),
        ("{source: s, figures: {}}", "x.yaml:7"),
        ("{figures: {latency: {own: {p99: 1ms}}}}", 'needs "source"'),
        ("5", "x.yaml:7"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_its_place(published: str, told: str) -> None:
    with pytest.raises(SpecErrors) as refused:
        resolved(f"published: {published}")
    assert told in str(refused.value)
    assert "x.yaml:7" in str(refused.value)


@pytest.mark.parametrize("workload", OPERATIONS)
def test_all_tables_of_the_study_are_in_the_catalogue(workload: str) -> None:
    published = load_published(f"icpe23-ycsb-{workload}")
    assert tuple(published.figures) == OPERATIONS[workload]
    for by_condition in published.figures.values():
        assert len(by_condition) == 10
        assert all(set(statistics) == {"p95", "p99", "p999"} for statistics in by_condition.values())
        for name, statistics in by_condition.items():
            numbers = [statistics[quantile].number for quantile in ("p95", "p99", "p999")]
            assert numbers == sorted(numbers), name


def test_table_5_of_the_paper_is_workload_b() -> None:
    reads = load_published("icpe23-ycsb-b").figures["latency.read"]
    assert [reads[name]["p99"].written for name in ("no-interference", "token-bucket-on-switch")] == [
        "360us",
        "205695us",
    ]


@pytest.mark.parametrize(
    "name", [name for name in catalog.experiment_names() if name.startswith("icpe23-ycsb-")]
)
def test_an_experiment_of_ycsb_stands_beside_all_that_was_published_of_its_workload(name: str) -> None:
    workload = name.removeprefix("icpe23-ycsb-")[0]
    found = resolve(load_experiment(catalog.experiment_file(name))).published
    assert found is not None
    assert len(found.figures) == len(OPERATIONS[workload]) * 10 * 3


def test_all_core_workloads_have_an_experiment_as_described_and_as_deployed() -> None:
    names = set(catalog.experiment_names())
    assert {f"icpe23-ycsb-{workload}{form}" for workload in "abcdef" for form in ("", "-deployed")} <= names
