"""What a report shows of a store: all operations, and each kind of them."""

import pytest

from crosswind.app import find


def keys(**parameters: object) -> list[tuple[str, str]]:
    application = find("ycsb")
    read = application.Parameters.model_validate({"store": "redis", "duration": "1s"} | parameters)
    return [(figure.metric, figure.statistic) for figure in application(read).figures()]


@pytest.mark.parametrize(
    ("workload", "kinds"),
    [("b", ["read", "update"]), ("c", []), ("e", ["scan", "insert"]), ("f", ["read", "read-modify-write"])],
)
def test_kinds_of_operations_have_tails_of_their_own(workload: str, kinds: list[str]) -> None:
    assert keys(workload=workload)[3:] == [(f"latency.{kind}", "p99") for kind in kinds]


def test_an_open_loop_is_judged_by_responses() -> None:
    assert keys(workload="a", rate="100/s")[3:] == [("response.read", "p99"), ("response.update", "p99")]
