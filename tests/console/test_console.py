"""What the page may ask of the console, and what it gets; without a network that is up."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

import crosswind
from crosswind.console import Console
from crosswind.spec.document import document_of
from crosswind.stream import Change, Event, Lateness, NodeFault, Step, Stream, Subscription

TOPOLOGY = {
    "zones": {"delay": {"us": {"eu": "40ms"}, "eu": {"us": "41ms"}}, "rate": "50Mbit/s", "buffer": "1MiB"},
    "uplink": {"rate": "1Gbit/s", "delay": "20us", "buffer": "1MiB"},
    "nodes": {"a": "us", "b": "eu"},
}
OWN = {"slow": {"link": [{"delay": {"time": "20ms"}}]}}


class Net(crosswind.Fabric):
    """A network that notes what is set, and is watched by a stream of the test."""

    def __init__(self) -> None:
        super().__init__(TOPOLOGY, conditions=[OWN])
        self.was_set: list[tuple[str | Mapping[str, Any], str]] = []
        self.happens = Stream[Event]()

    def set(self, condition: str | Mapping[str, Any], name: str = "inline") -> int:
        if isinstance(condition, Mapping):
            self._setup.condition_in(document_of({name: condition}, name))
        self.was_set.append((condition, name))
        return len(self.was_set) * 2 * 10**9

    def events(self) -> Subscription[Event]:
        return self.happens.subscribe()


@pytest.fixture
def net() -> Net:
    return Net()


@pytest.fixture
def console(net: Net) -> Iterator[Console]:
    with Console(net) as console:
        yield console
        net.happens.end()


def ask(console: Console, path: str, body: object = None) -> tuple[int, bytes]:
    address, _, token = console.url.removeprefix("http://").partition("/#")
    connection = http.client.HTTPConnection(address, timeout=10)
    headers = {"Authorization": f"Bearer {token}"}
    if body is None:
        connection.request("GET", path, headers=headers)
    else:
        connection.request("POST", path, json.dumps(body), headers)
    answer = connection.getresponse()
    return answer.status, answer.read()


def step(at_ns: int, *changes: Change) -> Step:
    return Step(
        event="step", domain=0, at_ns=at_ns, window_started_ns=0, rows=(), credit=(), changes=changes,
        stalls=(),
        lateness=Lateness(packets=0, early=0, missed=0, max_ns=0), left_out=0, made_ns=0,
    )  # fmt: skip


def change(condition: str, by: Any = "set", at_ns: int = 1) -> Change:
    return Change(at_ns=at_ns, asked_ns=at_ns, by=by, condition=condition, places={})


def test_the_network_is_described(console: Console) -> None:
    status, content = ask(console, "/api/page")
    found = json.loads(content)
    assert status == 200
    network = found["network"]
    assert found["kind"] == "up"
    assert network["hosts"] == {"h0": "us", "h1": "eu"}
    assert found["hand"]["conditions"] == ["slow", "none"]
    assert {"name": "none", "summary": "no treatment, no interference"} in found["hand"]["catalogue"]
    assert [(link["name"], link["element"]) for link in network["links"]][-2:] == [
        ("us->eu", "us->eu/wire"),
        ("eu->us", "eu->us/wire"),
    ]
    assert 'data-links="us-&gt;eu"' in network["picture"]
    # The page has the colours in a file of its own: its policy allows no others.
    assert "<style" not in network["picture"]
    assert " style=" not in network["picture"]


def test_the_way_between_two_nodes(console: Console) -> None:
    there, back = ["h0->us", "us->eu", "eu->h1"], ["h1->eu", "eu->us", "us->h0"]
    assert json.loads(ask(console, "/api/way?from=a&to=b")[1]) == {"there": there, "back": back}
    assert json.loads(ask(console, "/api/way?from=a&to=a")[1]) == {"there": [], "back": []}
    assert ask(console, "/api/way?from=a&to=c")[0] == 422
    assert ask(console, "/api/way")[0] == 422


def test_a_move_is_a_condition_and_is_noted(console: Console, net: Net) -> None:
    move = {"place": "trunks", "on": "us->eu", "slider": "loss_ppm", "value": 10_000}
    status, content = ask(console, "/api/set", move)
    assert status == 200, content
    assert net.was_set == [
        (
            {
                "host.egress": [],
                "link": [{"lose": {"bernoulli": "1%", "on": ["us->eu"]}}],
                "switch.egress": [],
            },
            "by-hand",
        )
    ]
    done = json.loads(content)
    assert done["moves"] == [{"at_ns": 2 * 10**9, "words": "loss of us->eu: 1 %"}]
    assert [(at["place"], at["on"], at["loss_ppm"]) for at in done["values"]] == [
        ("trunks", "us->eu", 10_000)
    ]
    assert b"lose: {bernoulli: 1%" in ask(console, "/api/saved")[1]
    # A named condition takes the sliders back.
    done = json.loads(ask(console, "/api/set", {"condition": "slow"})[1])
    assert done["values"] == []
    assert net.was_set[-1] == ("slow", "inline")
    assert [move["words"] for move in done["moves"]] == ["loss of us->eu: 1 %", "condition slow"]


def test_a_condition_that_somebody_else_set_takes_the_sliders_back(console: Console, net: Net) -> None:
    loss = {"place": "hosts", "on": None, "slider": "loss_ppm", "value": 10_000}
    delay = {"place": "hosts", "on": None, "slider": "delay_us", "value": 1000}
    ask(console, "/api/set", loss)
    # At 1 ns, so before the move, and as the move itself: neither is somebody else's.
    net.happens.publish(step(1, change("none", "set")))
    net.happens.publish(step(2, change("by-hand", at_ns=2 * 10**9 + 1)))
    await_active(console, "by-hand")
    assert len(json.loads(ask(console, "/api/set", delay)[1])["values"]) == 1
    assert net.was_set[-1][0]["link"] == [{"delay": {"time": "1ms"}}, {"lose": {"bernoulli": "1%"}}]
    net.happens.publish(step(3, change("slow", at_ns=5 * 10**9)))
    await_active(console, "slow")
    done = json.loads(ask(console, "/api/set", delay)[1])
    assert net.was_set[-1][0]["link"] == [{"delay": {"time": "1ms"}}]
    assert done["moves"][2]["words"] == "condition slow, set elsewhere"


def await_active(console: Console, name: str) -> None:
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        active = json.loads(ask(console, "/api/page")[1])["active"]
        if active and active[-1]["condition"] == name:
            return
        time.sleep(0.01)
    raise AssertionError(f"{name} never became active")


@pytest.mark.parametrize(
    "body",
    [
        {"condition": "/etc/passwd"}, {"condition": "slw"}, {"condition": 1},
        {"condition": "none", "more": 1},
        {}, [], "none", None, 1,
        {"place": "hosts", "on": "h9", "slider": "delay_us", "value": 1},
        {"place": "hosts", "on": "us->eu", "slider": "delay_us", "value": 1},
        {"place": "link", "on": None, "slider": "delay_us", "value": 1},
        {"place": "hosts", "on": None, "slider": "delay_us", "value": -1},
        {"place": "hosts", "on": None, "slider": "delay_us", "value": 1.5},
        {"place": "hosts", "on": None, "slider": "delay_us", "value": 10**13},
        {"place": "hosts", "on": None, "slider": "buffer_bytes", "value": 0},
        {"place": "hosts", "on": None, "slider": "loss_ppm", "value": 10**7},
        {"place": "hosts", "on": None, "slider": "colour", "value": 1},
    ],
)  # fmt: skip
def test_what_is_wrong_is_refused_and_changes_nothing(console: Console, net: Net, body: object) -> None:
    before = ask(console, "/api/page")[1]
    if body is not None:
        assert ask(console, "/api/set", body)[0] == 422
    assert net.was_set == []
    assert ask(console, "/api/page")[1] == before


def test_a_page_that_comes_late_has_the_last_minute_and_what_follows(console: Console, net: Net) -> None:
    net.happens.publish(step(1, change("slow", "up")))
    net.happens.publish(step(2, change("none")))
    net.happens.publish(step(3, change("none", "timeline")))
    net.happens.end()
    lines = [json.loads(line) for line in ask(console, "/api/stream")[1].splitlines()]
    assert [line["at_ns"] for line in lines] == [1, 2, 3]
    active = json.loads(ask(console, "/api/page")[1])["active"]
    assert [(found["condition"], found["by"]) for found in active] == [("none", "set"), ("none", "timeline")]


def test_a_page_gets_the_faults_of_nodes_as_they_come_and_those_that_last(console: Console, net: Net) -> None:
    for at_ns, kind, nodes in ((1, "pause", ("a", "b")), (2, "resume", ("a",)), (3, "squeeze", ("a",))):
        net.happens.publish(
            NodeFault(at_ns=at_ns, due_ns=at_ns, kind=kind, nodes=nodes, words=f"{kind} it", by="hand")
        )
    net.happens.end()
    lines = [json.loads(line) for line in ask(console, "/api/stream")[1].splitlines()]
    assert [(line["event"], line["kind"], line["nodes"]) for line in lines] == [
        ("node-fault", "pause", ["a", "b"]),
        ("node-fault", "resume", ["a"]),
        ("node-fault", "squeeze", ["a"]),
    ]
    faults = json.loads(ask(console, "/api/page")[1])["faults"]
    assert [(found["kind"], found["nodes"]) for found in faults] == [("pause", ["b"]), ("squeeze", ["a"])]
