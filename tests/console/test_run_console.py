"""The console of a run: its page gets every event of the run, also where it is opened late."""

from __future__ import annotations

import http.client
import json
from typing import Any

import pytest

from crosswind.console import RunConsole
from crosswind.console.recent import Recent
from crosswind.runner import Steering
from crosswind.spec import FabricCondition, find_experiment, load_setup
from crosswind.spec.named_experiment import named_experiment
from crosswind.stream import (
    Event,
    Lateness,
    NodeFault,
    Note,
    OperationsStep,
    RunEnded,
    Step,
    Stream,
    TrialBegun,
    TrialEnded,
)
from crosswind.testbed import RunningFabric

NAMED = named_experiment("rpc-quick")
RESOLVED, SETUP = NAMED.resolved, load_setup(find_experiment("rpc-quick"))


class Moved(RunningFabric):
    """A network that notes what is set; a second passes between two changes."""

    def __init__(self) -> None:
        self.was_set: list[FabricCondition] = []

    def set(self, condition: FabricCondition) -> int:
        self.was_set.append(condition)
        return len(self.was_set) * 2 * 10**9


def console_of(stream: Stream[Event], steering: Steering | None = None) -> RunConsole:
    return RunConsole(SETUP, RESOLVED, stream, steering or Steering(stream))


def step(at_ns: int) -> Step:
    return Step(
        event="step", domain=0, at_ns=at_ns, window_started_ns=0, rows=(), credit=(), changes=(), stalls=(),
        lateness=Lateness(packets=0, early=0, missed=0, max_ns=0), left_out=0, made_ns=0,
    )  # fmt: skip


def operations(at_ns: int) -> OperationsStep:
    return OperationsStep(
        application="rpc", node="client", at_ns=at_ns, length_ns=100_000_000, ended=9, failed=0,
        median_ns=1, p99_ns=2, slowest_ns=2,
    )  # fmt: skip


def ask(console: RunConsole, path: str, body: object = None) -> tuple[int, bytes]:
    address, _, token = console.url.removeprefix("http://").partition("/#")
    connection = http.client.HTTPConnection(address, timeout=10)
    method, content = ("GET", None) if body is None else ("POST", json.dumps(body))
    connection.request(method, path, content, {"Authorization": f"Bearer {token}"})
    answer = connection.getresponse()
    return answer.status, answer.read()


def lines(content: bytes) -> list[Any]:
    return [json.loads(line) for line in content.splitlines()]


def test_a_page_gets_what_happened_in_order() -> None:
    stream = Stream[Event]()
    with console_of(stream) as console:
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


DELAY = {"place": "hosts", "on": None, "slider": "delay_us", "value": 20_000}
LOSS = {"place": "hosts", "on": None, "slider": "loss_ppm", "value": 10_000}


def test_the_trial_that_runs_is_moved_and_no_other() -> None:
    stream, fabric = Stream[Event](), Moved()
    steering = Steering(stream)
    with console_of(stream, steering) as console:
        status, content = ask(console, "/api/set", DELAY)
        assert (status, b"no trial can be steered now" in content) == (422, True)
        steering.begin("b00-p00-none")
        with steering.opened(fabric, "none", 1):
            done = json.loads(ask(console, "/api/set", DELAY)[1])
            words = [move["words"] for move in done["moves"]]
            assert words == ["trial b00-p00-none, condition none", "delay of all links of hosts: 20 ms"]
            assert [move.words for move in steering.moves] == words[1:]
            own = RESOLVED.conditions[-1].name
            done = json.loads(ask(console, "/api/set", {"condition": own})[1])
            assert (done["values"], done["saves"]) == ([], 0)
            # A file of this name is not read, and what is none changes nothing.
            assert ask(console, "/api/set", {"condition": "/etc/passwd"})[0] == 422
        assert ask(console, "/api/set", LOSS)[0] == 422
    assert [condition.name for condition in fabric.was_set] == ["by-hand", own]
    assert fabric.was_set[0].places["link"][0]["delay"]["time_ns"] == 20_000_000
    assert [move.words for move in steering.moves] == [words[1], f"condition {own}"]


def test_a_new_trial_has_its_sliders_where_they_were_and_the_last_one_can_still_be_saved() -> None:
    stream, fabric = Stream[Event](), Moved()
    steering = Steering(stream)
    with console_of(stream, steering) as console:
        steering.begin("t1")
        with steering.opened(fabric, "none", 1):
            ask(console, "/api/set", DELAY)
        steering.begin("t1-a2")
        with steering.opened(fabric, "none", 3 * 10**9):
            done = json.loads(ask(console, "/api/page")[1])["hand"]["done"]
            assert (done["values"], done["saves"]) == ([], 1)
            assert b"delay: {time: 20ms}" in ask(console, "/api/saved")[1]
            done = json.loads(ask(console, "/api/set", LOSS)[1])
            assert [move["words"] for move in done["moves"]][2:] == [
                "trial t1-a2, condition none",
                "loss of all links of hosts: 1 %",
            ]
            assert b"delay" not in ask(console, "/api/saved")[1]
    assert "delay" not in fabric.was_set[-1].places["link"][0]


@pytest.mark.parametrize("missing", ["Authorization", "Host", "Origin"])
def test_a_move_needs_the_token_and_comes_from_the_page_itself(missing: str) -> None:
    stream, fabric = Stream[Event](), Moved()
    steering = Steering(stream)
    steering.begin("t1")
    with console_of(stream, steering) as console, steering.opened(fabric, "none", 1):
        address, _, token = console.url.removeprefix("http://").partition("/#")
        sound = {"Authorization": f"Bearer {token}", "Host": address, "Origin": f"http://{address}"}
        connection = http.client.HTTPConnection(address, timeout=10)
        connection.request("POST", "/api/set", json.dumps(DELAY), sound | {missing: "elsewhere"})
        assert connection.getresponse().status in (401, 403)
    assert fabric.was_set == []
    assert steering.moves == ()


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
    # A client that comes late has lost nothing: it had nothing before.
    assert not any(line["event"] == "lost" for line in found)


def test_operations_are_forgotten_like_steps_and_displace_nothing_else() -> None:
    stream, recent = Stream[Event](), Recent()
    events = stream.subscribe(waiting_max=20_000)
    stream.publish(Note(text="first"))
    for number in range(6000):
        stream.publish(operations(number))
    stream.publish(step(6000))
    stream.end()
    recent._follow(events)
    found = [json.loads(line) for line in recent.lines()]
    assert [line["event"] for line in found] == ["note", *["operations"] * 600, "step"]
    assert found[-2]["at_ns"] == 5999


def test_steps_are_made_only_where_a_page_may_read_them() -> None:
    stream = Stream[Event]()
    assert not stream.wants(Step)
    with console_of(stream):
        assert stream.wants(Step)


def test_the_faults_of_a_trial_end_with_it() -> None:
    stream, recent = Stream[Event](), Recent()
    events = stream.subscribe()
    killed = NodeFault(at_ns=1, due_ns=1, kind="kill", nodes=("db0",), words="kill db0", by="timeline")
    stream.publish(killed)
    recent._store(killed)
    assert recent.faults == [killed]
    ended = TrialEnded(
        trial="t", attempt=1, condition="c", block=0, status="done", reason=None, fidelity="faithful",
        fidelity_reason=None, duration_s=1.0, figures=(),
    )  # fmt: skip
    stream.publish(ended)
    stream.end()
    recent._follow(events)
    assert recent.faults == []
