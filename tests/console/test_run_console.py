"""The console of a run: its page gets every event of the run, also where it is opened late."""

from __future__ import annotations

import http.client
import json
from typing import Any

from crosswind.console import RunConsole
from crosswind.console.recent import Recent
from crosswind.spec.named_experiment import named_experiment
from crosswind.stream import Event, Lateness, Note, RunEnded, Step, Stream, TrialBegun

RESOLVED = named_experiment("rpc-quick").resolved


def step(at_ns: int) -> Step:
    return Step(
        event="step", domain=0, at_ns=at_ns, window_started_ns=0, rows=(), credit=(), changes=(), stalls=(),
        lateness=Lateness(packets=0, early=0, missed=0, max_ns=0), left_out=0, made_ns=0,
    )  # fmt: skip


def ask(console: RunConsole, path: str, method: str = "GET") -> tuple[int, bytes]:
    address, _, token = console.url.removeprefix("http://").partition("/#")
    connection = http.client.HTTPConnection(address, timeout=10)
    connection.request(method, path, b"{}", {"Authorization": f"Bearer {token}"})
    answer = connection.getresponse()
    return answer.status, answer.read()


def lines(content: bytes) -> list[Any]:
    return [json.loads(line) for line in content.splitlines()]


def test_a_page_gets_what_happened_in_order() -> None:
    stream = Stream[Event]()
    with RunConsole(RESOLVED, stream) as console:
        page = json.loads(ask(console, "/api/page")[1])
        assert (page["kind"], page["name"]) == ("run", RESOLVED.name)
        begun = TrialBegun(
            trial="b00-p00-none", attempt=1, condition="none", block=0, ended=0, trials=6, left_s=None
        )
        for event in (Note(text="note: slow"), begun, step(1), step(2), RunEnded(exit=0, remarks=())):
            stream.publish(event)
        stream.end()
        found = lines(ask(console, "/api/stream")[1])
    assert [line["event"] for line in found] == ["note", "trial-begun", "step", "step", "run-ended"]


def test_nothing_can_be_changed() -> None:
    with RunConsole(RESOLVED, Stream[Event]()) as console:
        assert ask(console, "/api/set", "POST")[0] == 404


def test_steps_are_forgotten_and_what_else_happened_is_not() -> None:
    stream, recent = Stream[Event](), Recent()
    events = stream.subscribe(waiting_max=5000)
    for number in range(2000):
        stream.publish(step(number))
        if number % 500 == 0:
            stream.publish(Note(text=str(number)))
    stream.end()
    recent._follow(events)
    found = [json.loads(line) for line in recent.lines()]
    assert [line["text"] for line in found if line["event"] == "note"] == ["0", "500", "1000", "1500"]
    assert [line["at_ns"] for line in found if line["event"] == "step"] == [*range(1400, 2000)]
    # Whoever comes late has lost nothing: it had nothing before.
    assert not any(line["event"] == "lost" for line in found)


def test_steps_are_made_only_where_a_page_may_read_them() -> None:
    stream = Stream[Event]()
    assert not stream.wants(Step)
    with RunConsole(RESOLVED, stream):
        assert stream.wants(Step)
