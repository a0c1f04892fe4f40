"""What a file may ask of `spark`, and which nodes it needs."""

import pytest
from pydantic import ValidationError

from crosswind.app import find
from crosswind.app.spark import Spark, SparkParameters
from crosswind.app.spark.cluster import workers_of
from crosswind.app.spark.jobs.size import Pages, Points, QueryNumbers, Records


def read(**asked: object) -> SparkParameters:
    return SparkParameters.model_validate(asked)


def test_each_workload_has_a_size_without_being_told() -> None:
    assert read(workload="terasort").size(4, "") == Records(4, 1_000_000)
    assert read(workload="kmeans", clusters=5).size(4, "") == Points(4, 100_000, 3, 5, 20)
    assert read(workload="pagerank").size(4, "") == Pages(4, 50_000, 3)
    assert read(workload="tpcds").size(4, "/tables") == QueryNumbers(4, [65, 68, 82], "/tables")
    assert read(workload="tpch", queries=[1]).size(4, "/tables") == QueryNumbers(4, [1], "/tables")
    # A warm-up takes a tenth of the records, rounded up, and all queries.
    assert read(workload="sort", records=11).size(4, "", part=10) == Records(4, 2)
    assert read(workload="tpch", queries=[1]).size(4, "", part=10) == QueryNumbers(4, [1], "")


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"workload": "terasort", "iterations": 3}, "`iterations` has no meaning for terasort"),
        ({"workload": "tpch", "records": 10}, "its size: scale_factor, queries"),
        ({"workload": "tpch", "queries": [23]}, "tpch has no query 23; its queries are 1 to 22"),
        ({"workload": "tpcds", "queries": []}, "queries"),
        ({"workload": "terasort", "memory": "100MB"}, "write at least 512MiB"),
        ({"workload": "terasort", "java_options": "-Xmx2g"}, "leave -Xmx out and write `memory`"),
        ({"workload": "terasort", "replicas": 2}, "add `storage: hdfs`"),
    ],
)
def test_what_would_be_ignored_is_refused(asked: dict[str, object], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        read(**asked)


@pytest.mark.parametrize(("asked", "shown"), [([3, 9], ["query 3", "query 9"]), (list(range(1, 23)), [])])
def test_queries_are_figures_as_long_as_there_is_room(asked: list[int], shown: list[str]) -> None:
    labels = [figure.label for figure in find("spark")(read(workload="tpch", queries=asked)).figures()]
    assert labels == ["job time", *shown, "lost to stragglers", "shuffled across nodes"]


def test_workers_are_in_order_of_their_number() -> None:
    assert workers_of(["worker10", "client", "worker0", "worker2", "worker02", "worker"]) == [
        "worker0",
        "worker2",
        "worker10",
    ]


@pytest.mark.parametrize("missing", ["master", "worker0", "worker1", "client"])
def test_a_missing_role_is_named(missing: str) -> None:
    nodes = {"master", "worker0", "worker1", "worker2", "client"} - {missing}
    assert find("spark").roles_missing(nodes) == [missing]


def test_more_replicas_than_workers_are_refused() -> None:
    asked = read(workload="sort", storage="hdfs", replicas=3)
    nodes = ["master", "worker0", "worker1", "client"]
    assert [place for place, _ in find("spark").misfits(asked, nodes)] == [("replicas",)]
    assert not list(find("spark").misfits(asked, [*nodes, "worker2"]))


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"workload": "sort", "storage": "hdfs"}, None),
        ({"workload": "sort"}, "all workers share one disk; write `storage: hdfs`"),
        ({"workload": "tpch", "storage": "hdfs"}, "all workers read the tables of tpch from one disk"),
    ],
)
def test_what_workers_share_needs_one_machine(asked: dict[str, object], why: str | None) -> None:
    assert Spark(read(**asked)).needs_one_machine() == why
