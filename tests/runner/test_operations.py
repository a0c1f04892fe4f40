"""What a load writes while it runs is published line by line."""

from __future__ import annotations

import json
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from crosswind.app import Load
from crosswind.runner.operations import published
from crosswind.stream import Event, Note, OperationsStep, Stream, Subscription

LINE = {
    "at_ns": 1,
    "length_ns": 100_000_000,
    "ended": 3,
    "failed": 1,
    "median_ns": 5,
    "p99_ns": 8,
    "slowest_ns": 8,
}


def load(path: Path | None) -> Load:
    return cast(Load, SimpleNamespace(live=path, process=SimpleNamespace(node="client")))


def line(**changes: Any) -> str:
    return json.dumps(LINE | changes) + "\n"


def taken(events: Subscription[Event]) -> list[Event]:
    found = []
    while (event := events.take(timeout_s=0)) is not None:
        found.append(event)
    return found


def test_lines_are_published_while_they_come_and_the_last_ones_at_the_end(tmp_path: Path) -> None:
    stream, path = Stream[Event](), tmp_path / "live.jsonl"
    events = stream.subscribe()
    with published(load(path), "rpc", stream):
        # The load has not made its file yet.
        time.sleep(0.06)
        with path.open("w") as file:
            file.write(line(at_ns=1) + line(at_ns=2)[:20])
            file.flush()
            first = events.take(timeout_s=10)
            file.write(line(at_ns=2)[20:])
            file.write(line(at_ns=3, ended=0, failed=0, median_ns=None, p99_ns=None, slowest_ns=None))
    assert first == OperationsStep(application="rpc", node="client", **(LINE | {"at_ns": 1}))
    assert [event.at_ns for event in taken(events) if isinstance(event, OperationsStep)] == [2, 3]


def test_a_load_without_such_a_file_has_no_steps_and_no_thread() -> None:
    stream = Stream[Event]()
    events = stream.subscribe()
    with published(load(None), "iperf3", stream):
        pass
    assert taken(events) == []


@pytest.mark.parametrize("bad", ["{", "[]", line(more=1), line(ended="3"), "\xff\n", line(median_ns=0.5)])
def test_what_is_no_line_is_noted_once_and_ends_the_series(tmp_path: Path, bad: str) -> None:
    stream, path = Stream[Event](), tmp_path / "live.jsonl"
    events = stream.subscribe()
    path.write_text(line() + bad.rstrip("\n") + "\n" + line())
    with published(load(path), "rpc", stream):
        pass
    first, note = taken(events)
    assert isinstance(first, OperationsStep)
    assert isinstance(note, Note)
    assert note.text.startswith("note: live.jsonl of the load on client: ")
