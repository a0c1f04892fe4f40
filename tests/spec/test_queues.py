"""Queues: the same keys wherever packets wait, in SI integers, and refused where they mean nothing."""

from typing import Any

import pytest

from crosswind.spec import SpecErrors, condition_of, resolve
from crosswind.spec.load import parse_experiment

TEXT = """\
name: queued
topology:
  hosts: 2
  uplink: {rate: 1Gbit/s, buffer: BUFFER}
  nodes: {server: h0, client: h1}
scale: 0.1
conditions:
  - queued: {PLACE: [ELEMENT]}
application: {rpc: {duration: 3s}}
trials: {repeat: 2}
"""


def experiment(element: str, *, place: str = "switch.egress", buffer: str = "512KiB") -> Any:
    text = TEXT.replace("ELEMENT", element).replace("PLACE", place).replace("BUFFER", buffer)
    return resolve(parse_experiment(text.encode(), "queued.yaml"))


def resolved(element: str, place: str = "switch.egress") -> Any:
    return condition_of(experiment(element, place=place), "queued").places[place][0]


def refused(element: str, place: str = "switch.egress", buffer: str = "512KiB") -> str:
    with pytest.raises(SpecErrors) as caught:
        experiment(element, place=place, buffer=buffer)
    return str(caught.value)


def test_a_buffer_is_scaled_where_it_counts_and_not_where_it_is_a_time() -> None:
    for buffer, key in (
        ("100kB", {"buffer_bytes": 10_000}),
        ("1000packets", {"buffer_packets": 100}),
        ("5ms", {"buffer_ns": 5_000_000}),
        # 100 Mbit/s after scaling, for 20 ms: 250 kB.
        ("{bdp: 20ms}", {"buffer_bytes": 250_000}),
    ):
        assert resolved(f"{{queue: {{buffer: {buffer}}}}}") == {"queue": key}
        link = experiment("{mark: {dscp: 0}}", buffer=buffer).topology.links[0].as_json()
        ends = {"from": "h0", "to": "switch"}
        assert link == {**ends, "rate_bps": 10**8, "delay_ns": 0, "buffer_bytes": None, **key}


def test_a_shapers_buffer_is_sized_from_its_own_rate() -> None:
    # 80 Mbit/s, scaled to 8, for 10 ms: 10 kB.
    shape = "{shape: {rate: 80Mbit/s, burst: 100kB, buffer: {bdp: 10ms}, drop: head}}"
    expected = {"rate_bps": 8_000_000, "burst_bytes": 10_000, "buffer_bytes": 10_000, "drop": "head"}
    assert resolved(shape, "link") == {"shape": expected}


def test_thresholds_of_red_are_scaled_and_shares_are_not() -> None:
    profile = {"min_bytes": 3000, "max_bytes": 9000, "probability_ppb": 100_000_000}
    written = "{min: 30kB, max: 90kB, probability: 10%}"
    red = resolved(f"{{queue: {{drop: {{red: {written}}}}}}}")
    assert red == {"queue": {"drop": {"red": {**profile, "weight_ppb": 2_000_000}}}}
    colours = f"green: {written}, yellow: {written}, red: {written}"
    wred = resolved(f"{{queue: {{drop: {{wred: {{{colours}, weight: 100%}}}}}}}}")
    expected = {"green": profile, "yellow": profile, "red": profile, "weight_ppb": 10**9}
    assert wred == {"queue": {"drop": {"wred": expected}}}


def test_a_memory_is_scaled_and_alpha_is_not() -> None:
    queues = "[{dscp: [EF], alpha: 8}, {dscp: default, alpha: 0.1, buffer: 100kB}]"
    schedule = resolved(f"{{schedule: {{by: strict, memory: 1MB, queues: {queues}}}}}")
    assert schedule["schedule"] == {
        "by": "strict",
        "queues": [
            {"dscp": [46], "alpha_ppb": 8 * 10**9},
            {"dscp": None, "alpha_ppb": 10**8, "buffer_bytes": 10_000},
        ],
        "memory_bytes": 100_000,
    }
    assert resolved("{queue: {memory: 1MB}}") == {"queue": {"memory_bytes": 100_000}}


def test_the_same_keys_serve_a_link_a_scheduler_and_a_shaper() -> None:
    keys = "buffer: 1000packets, drop: {codel: {}}, ecn: true"
    expected = {
        "buffer_packets": 100,
        "drop": {"codel": {"target_ns": 5_000_000, "interval_ns": 100_000_000}},
        "ecn": True,
    }
    assert resolved(f"{{queue: {{{keys}}}}}")["queue"] == expected
    scheduled = resolved(f"{{schedule: {{by: strict, queues: [{{dscp: default, {keys}}}]}}}}")
    assert scheduled["schedule"]["queues"] == [{"dscp": None, **expected}]
    shape = resolved(f"{{shape: {{rate: 1Gbit/s, burst: 100kB, {keys}}}}}", "link")["shape"]
    assert shape == {"rate_bps": 10**8, "burst_bytes": 10_000, **expected}


@pytest.mark.parametrize(
    ("element", "message"),
    [
        ("{queue: {ecn: true}}", "ecn marks nothing: tail drops only when the buffer is full"),
        ("{queue: {drop: head, ecn: true}}", "ecn marks nothing: head drops only when"),
        ("{queue: {drop: {codel: {target: 2s, interval: 1s}}}}", 'target "2s" is above interval "1s"'),
        (
            "{queue: {drop: {red: {min: 90kB, max: 30kB, probability: 10%}}}}",
            "red has min 9000B and max 3000B after scaling by 0.1; write 0B < min < max",
        ),
        ("{queue: {drop: {red: {min: 30kB, max: 90kB, probability: 0%}}}}", "is zero"),
        ("{queue: {alpha: 1}}", "alpha is a part of no memory"),
        ("{queue: {memory: 1MB, alpha: 0}}", "must be at least"),
        ("{queue: {memory: 10kB}}", "is smaller than one packet of 1500B; write at least 15000B"),
        ("{queue: {memory: 1MB, drop: head}}", "cannot share a memory; drop by tail, red, wred, codel"),
        ("{queue: {drop: {codell: {}}}}", 'did you mean "codel"?'),
        ("{queue: {drop: {}}}", "drop must name one of these with its parameters"),
        ("{queue: {drop: tial}}", 'did you mean "tail"?'),
        ("{queue: {buffer: 5}}", "or packets such as 1000packets, or a time such as 5ms"),
        (
            "{queue: {buffer: 5packets}}",
            '"5packets" scaled by 0.1 is less than one packet; write at least 10packets',
        ),
        # A packet of 1500 B takes 120 us at 100 Mbit/s.
        ("{queue: {buffer: 100us}}", '"100us" at 100000000bit/s is less than one packet of 1500B; '),
        ("{queue: {buffer: {bdp: 100us}}}", '"100us" at 100000000bit/s is less than one packet'),
        ("{queue: {buffer: 10kB}}", "is smaller than one packet of 1500B; write at least 15000B"),
        ("{queue: {on: [server]}}", '"server" is not a host'),
        ("{queue: {}}, {schedule: {by: strict, queues: [{dscp: default}]}}", "is a second queue"),
        ("{shape: {rate: unlimited, burst: 100kB, buffer: 5ms}}", "is a time, and the rate is unlimited"),
    ],
)  # fmt: skip
def test_what_a_queue_cannot_do_is_refused(element: str, message: str) -> None:
    assert message in refused(element)


def test_a_queue_stands_where_a_link_begins() -> None:
    assert "queue cannot be at link: it needs a link behind it" in refused("{queue: {}}", place="link")


def test_the_uplinks_buffer_holds_a_packet() -> None:
    assert 'topology.uplink: buffer "10us" at' in refused("{queue: {}}", buffer="10us")
