"""The application `history`: its parameters, and the verdict of the checker on histories written here."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest

from crosswind.app.history import History, HistoryParameters
from crosswind.app.history.load import check_history, metrics_of
from crosswind.testbed import TestbedError, find_binary
from crosswind.testbed.binaries import LOAD
from crosswind.testbed.errors import NotHere

FOUR = ("db0", "db1", "db2", "client")


def misfits(nodes: Collection[str] = FOUR, **parameters: object) -> dict[tuple[str | int, ...], str]:
    asked = HistoryParameters.model_validate({"workload": "register", "duration": "5s"} | parameters)
    return dict(History.misfits(asked, nodes))


def test_what_does_not_fit_a_store_or_its_nodes_is_refused_with_its_place_and_a_remedy() -> None:
    later = {"at": "5s", "to": "db1"}
    assert misfits(store="redis", failover={"at": "3s", "to": "db2"}) == {}
    assert misfits(store="etcd", reads="any") == {
        ("reads",): "each client of etcd has a server of its own already; leave `reads` out"
    }
    assert misfits(store="cassandra", reads="any").keys() == {("reads",)}
    assert misfits(store="cassandra", failover={"at": "3s", "to": "db1"}) == {
        ("failover",): "servers of cassandra are equal; leave `failover` out"
    }
    assert misfits(store="etcd", failover={"at": "3s", "to": "db1"}) == {
        ("failover",): "etcd elects its leader itself; leave `failover` out"
    }
    assert misfits(store="mongodb", failover={"at": "3s", "to": "db1"}) == {
        ("failover",): "mongodb elects its leader itself; leave `failover` out"
    }
    assert misfits(store="mongodb", durability="w=0", read_concern="majority") == {
        ("durability",): '"w=0" confirms no write, so no outcome is known; write w=1 or majority'
    }
    assert misfits(store="mongodb", read_concern="linearizable", reads="any") == {
        ("reads",): "only the primary has linearizable reads; leave `reads` out"
    }
    assert misfits(store="redis", read_concern="local") == {
        ("read_concern",): "redis has none; leave `read_concern` out"
    }
    assert misfits(store="redis", failover=later) == {
        ("failover", "at"): "the measured phase ends after 5s; write an earlier instant"
    }
    assert misfits(store="redis", failover={"at": "3s", "to": "db7"}) == {
        ("failover", "to"): '"db7" is no replica; write db1, db2'
    }
    assert misfits(("db0", "client"), store="redis", durability="wait=1").keys() == {("durability",)}
    assert misfits(store="etcd", durability="wait=1").keys() == {("durability",)}


def test_the_verdict_comes_before_the_latency() -> None:
    history = History(
        HistoryParameters.model_validate({"workload": "set", "store": "redis", "duration": "5s"})
    )
    assert [figure.metric for figure in history.figures()][:3] == ["violations", "undecided", "response"]
    assert History.faults_on(history.parameters, FOUR).measuring == frozenset({"client"})


@pytest.fixture
def checker() -> None:
    try:
        find_binary(LOAD)
    except NotHere as error:
        pytest.skip(str(error))


def lines(folder: Path, *events: tuple[int, str, str, Any]) -> Path:
    """Write events as process, type, function and value, all of key 3."""
    path = folder / "history.jsonl"
    written = [
        {"index": n, "process": process, "type": kind, "f": f, "value": [3, value], "time": n * 10**9}
        for n, (process, kind, f, value) in enumerate(events)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in written))
    return path


@pytest.mark.usefixtures("checker")
def test_a_stale_read_is_a_violation_with_the_operations_that_show_it(tmp_path: Path) -> None:
    path = lines(
        tmp_path,
        *((0, kind, "write", 1) for kind in ("invoke", "ok")),
        *((0, kind, "write", 2) for kind in ("invoke", "ok")),
        (1, "invoke", "read", None),
        (1, "ok", "read", 1),
    )
    checked = check_history(path, "register", 10**10).since(10**9)
    assert (checked.verdict, checked.wrong_keys, checked.confirmed) == ("violation", [3], 3)
    (wrong,) = checked.shown
    assert (wrong.key, wrong.why) == (3, "process 1 read 1; the register can only have held 2 then")
    shown = [(one.words, one.began_ns // 10**9, one.is_wrong) for one in wrong.operations]
    assert shown == [("write 2", 1, False), ("read 1", 3, True)]
    assert ("violations", 1) in [(metric.metric, metric.value) for metric in metrics_of(checked)]


@pytest.mark.usefixtures("checker")
def test_a_lost_element_is_counted_and_a_set_that_nobody_read_is_undecided(tmp_path: Path) -> None:
    added = [(0, kind, "add", 7) for kind in ("invoke", "ok")]
    lost = check_history(
        lines(tmp_path, *added, (1, "invoke", "read", None), (1, "ok", "read", [])), "set", 10**10
    )
    assert (lost.verdict, lost.elements.lost) == ("violation", 1)
    unread = check_history(lines(tmp_path, *added), "set", 10**10)
    assert (unread.verdict, unread.undecided_keys) == ("unknown", [3])
    assert unread.undecided_because == "no read began after 1 of the additions were confirmed"


@pytest.mark.usefixtures("checker")
def test_a_check_without_time_does_not_say_ok(tmp_path: Path) -> None:
    # 22 writes at once have 22! orders, and no read excludes any.
    begun = [(process, "invoke", "write", process) for process in range(22)]
    ended = [(process, "ok", "write", process) for process in range(22)]
    reading = [(30, "invoke", "read", None), (30, "ok", "read", 21)]
    checked = check_history(lines(tmp_path, *begun, *reading, *ended), "register", 1000)
    assert (checked.verdict, checked.wrong_keys, checked.undecided_keys) == ("unknown", [], [3])
    assert checked.undecided_because == "the time for the check was over"


@pytest.mark.usefixtures("checker")
def test_what_is_no_history_is_an_error_that_names_the_line(tmp_path: Path) -> None:
    path = lines(tmp_path, (0, "ok", "read", 1))
    with pytest.raises(TestbedError, match=r"event 0, of process 0: ends an operation that did not begin"):
        check_history(path, "register", 10**10)
    path.write_text("{}\n")
    with pytest.raises(TestbedError, match=r"history.jsonl: line 1: missing field `process`"):
        check_history(path, "register", 10**10)
