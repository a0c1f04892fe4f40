"""A resolved experiment says in SI integers what is run; a fabric says it to the agent."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crosswind.spec import Resolved, condition_of, fabric_of, neighbours, real_interference, resolve
from crosswind.spec.checks.trials import trials_needed
from crosswind.spec.interference import Interference
from crosswind.spec.interference_resolved import resolve_interference
from crosswind.spec.load import parse_experiment
from crosswind.spec.scale import scaled, unscaled
from crosswind.spec.topology import Star

TEXT = """\
name: small
topology:
  hosts: 2
  uplink: {rate: 10Gbit/s, delay: 2us, buffer: 512KiB}
  nodes: {server: h0, client: h1}
  tcp: {congestion_control: reno, rto_min: 100ms, socket_buffer: 64MiB}
scale: 0.1
conditions:
  - none
  - shaped:
      summary: everything at once
      interference:
        between: [h0-h1]
        rate: {normal: {mean: 50%, sd: 2Gbit/s}}
        by: BY
      host.egress:
        - mark: {dscp: EF, on: [server]}
        - schedule: {by: drr, queues: [{dscp: [EF], weight: 2, buffer: 100kB}, {dscp: default, weight: 1}]}
      link:
        - delay: {time: 1ms}
        - monitor:
            what: [ipg, burst]
            match: {class: real, dscp: [EF], from: client, protocol: tcp, source port: 5432}
            start: {dscp: [EF]}
        - shape: {rate: unlimited, burst: 100kB, buffer: unlimited}
      switch.ingress: [{police: {rate: 8Gbit/s, burst: 100kB, on: [h0]}}]
      at:
        2s: {switch.ingress: []}
        1s: {switch.ingress: [{police: {rate: 1Gbit/s, burst: 100kB}}]}
application:
  rpc: {duration: 3s}
trials:
  repeat: {at least: 2, at most: 10, until: {within: 5%}}
  rest: 250ms
  limits: {duration: 10min, void: accept}
"""


def resolved(by: str = "ghost") -> Resolved:
    return resolve(parse_experiment(TEXT.replace("BY", by).encode(), "small.yaml"))


def test_rates_buffers_and_bursts_are_scaled_and_times_are_not() -> None:
    wire = {"rate_bps": 10**9, "delay_ns": 2000, "buffer_bytes": 52428}
    assert [link.as_json() for link in resolved().topology.links[:2]] == [
        {"from": "h0", "to": "switch", **wire},
        {"from": "switch", "to": "h0", **wire},
    ]
    places = condition_of(resolved(), "shaped").places
    assert places == {
        "host.egress": [
            {"mark": {"dscp": 46, "on": ["server"]}},
            {
                "schedule": {
                    "by": "drr",
                    "queues": [
                        {"dscp": [46], "weight": 2, "buffer_bytes": 10000},
                        {"dscp": None, "weight": 1},
                    ],
                }
            },
        ],
        "link": [
            {"delay": {"time_ns": 10**6}},
            {
                "monitor": {
                    "what": ["ipg", "burst"],
                    "window_ns": 10**6,
                    "burst_gap_ns": 100,
                    "match": {
                        "class": "real",
                        "dscp": [46],
                        "from": "client",
                        "protocol": 6,
                        "source_port": 5432,
                    },
                    "start": {"packet": {"dscp": [46]}},
                }
            },
            {"shape": {"rate_bps": None, "burst_bytes": 10000, "buffer_bytes": None}},
        ],
        "switch.ingress": [{"police": {"rate_bps": 8 * 10**8, "burst_bytes": 10000, "on": ["h0"]}}],
    }


def test_interference_is_in_shares_of_the_scaled_uplink_or_in_scaled_rates() -> None:
    assert [entry.as_json() for entry in condition_of(resolved(), "shaped").interference] == [
        {
            "between": ["h0", "h1"],
            "by": "ghost",
            "rate": {"normal": {"mean_bps": 5 * 10**8, "sd_bps": 2 * 10**8, "low_bps": 0, "high_bps": 10**9}},
            "hold_ns": 5 * 10**9,
            "pacing_ns": 10**7,
            "arrivals": "paced",
            "packet_ip_bytes": 1500,
            "dscp": 0,
            "zero": "silence",
            "tcp": None,
        }
    ]


@pytest.mark.parametrize(
    ("written", "resolved_to"),
    [
        ({"arrivals": "poisson", "packet_size": "imix"}, {"arrivals": "poisson", "packet_ip_bytes": "imix"}),
        (
            {"arrivals": {"on_off": {"on": "10ms", "off": "1s", "shape": 1.2}}, "dscp": "AF21"},
            {
                "arrivals": {"on_off": {"on_ns": 10**7, "off_ns": 10**9, "shape_thousandths": 1200}},
                "dscp": 18,
            },
        ),
        (
            {"transport": "tcp", "ecn": True},
            {"tcp": {"flows": 1, "congestion_control": "cubic", "ecn": True}},
        ),
        (
            {"transport": "tcp", "flows": 3, "congestion_control": "reno", "packet_size": "500B"},
            {"tcp": {"flows": 3, "congestion_control": "reno", "ecn": False}, "packet_ip_bytes": 500},
        ),
        ({"by": "iperf3"}, {"tcp": {"flows": 1, "congestion_control": "bbr", "ecn": False}}),
    ],
)
def test_interference_says_when_packets_come_and_whether_it_yields(
    written: dict[str, Any], resolved_to: dict[str, Any]
) -> None:
    topology = Star.model_validate(
        {
            "hosts": 2,
            "uplink": {"rate": "1Gbit/s", "delay": "2us", "buffer": "64KiB"},
            "nodes": {"a": "h0", "b": "h1"},
            "tcp": {"congestion_control": "bbr"},
        }
    )
    entry = Interference.model_validate({"between": ["h0-h1"], "rate": "50%", **written})
    (resolved,) = resolve_interference(entry, topology, topology.network(), 0.1)
    found = resolved.as_json()
    assert found == found | resolved_to
    assert found["rate"] == {"constant_bps": 5 * 10**7}


def test_a_timeline_is_in_the_order_of_time() -> None:
    assert [step.at_ns for step in condition_of(resolved(), "shaped").timeline] == [10**9, 2 * 10**9]


def test_every_default_is_written_out() -> None:
    experiment = resolved().as_json()
    assert experiment["tcp"] == {
        "congestion_control": "reno",
        "rto_min_us": 100_000,
        "ecn": False,
        "socket_buffer_bytes": 64 << 20,
    }
    assert experiment["topology"]["mtu_bytes"] == 1500
    assert experiment["trials"] == {
        "repeat": {
            "at_least": 2,
            "at_most": 10,
            "until": {"quantile": 0.5, "within": 0.05, "confidence": 0.95},
        },
        "order": "randomised-blocks",
        "rest_s": 0.25,
        "budgets": "fresh",
        "seed": 1,
        "limits": {"duration_s": 600.0, "void": "accept", "failed": "continue"},
        "record": False,
        "capture": None,
    }
    assert experiment["application"]["parameters"]["duration_ns"] == 3 * 10**9


def test_a_scaled_experiment_says_what_is_preserved_and_what_is_not() -> None:
    assert any("proportions" in line for line in resolved().preserved)
    assert any("10 times as long on the wire" in line for line in resolved().warnings)


def test_resolving_is_plain_json() -> None:
    assert Resolved.model_validate(json.loads(json.dumps(resolved().as_json()))) == resolved()


def test_ghosts_stay_with_the_condition_of_the_fabric() -> None:
    fabric = fabric_of(resolved(), "shaped", seed=9)
    assert fabric.seed == 9
    assert [node.name for node in fabric.nodes] == ["server", "client"]
    assert len(fabric.condition.interference) == 1
    assert real_interference(resolved(), "shaped") == []


def test_real_interference_gets_nodes_of_its_own_and_leaves_the_condition() -> None:
    fabric = fabric_of(resolved("iperf3"), "shaped")
    assert [node.as_json() for node in fabric.nodes] == [
        {"name": "server", "host": "h0"},
        {"name": "client", "host": "h1"},
        {"name": "noise-h0-h1", "host": "h0"},
        {"name": "noise-h1-h0", "host": "h1"},
    ]
    assert fabric.condition.interference == []
    (entry,) = real_interference(resolved("iperf3"), "shaped")
    assert neighbours(entry) == ("noise-h0-h1", "noise-h1-h0")


def test_a_fabric_has_exactly_the_keys_that_the_agent_knows() -> None:
    fabric = fabric_of(resolved(), "none").as_json()
    assert set(fabric) == {
        "seed",
        "hosts",
        "switches",
        "links",
        "routes",
        "nodes",
        "mtu_bytes",
        "tcp",
        "merge_window_ns",
        "condition",
    }
    assert fabric["condition"] == {"name": "none", "places": {}, "interference": [], "timeline": []}


def test_how_the_emulator_waits_is_sent_where_the_file_says_it() -> None:
    text = TEXT.replace("BY", "ghost").replace("topology:\n", "topology:\n  wait: spin\n")
    written = resolve(parse_experiment(text.encode(), "small.yaml"))
    assert fabric_of(written, "none").as_json()["wait"] == "spin"


def test_an_unknown_condition_is_an_error_of_the_caller() -> None:
    with pytest.raises(KeyError):
        fabric_of(resolved(), "nothing")


@given(st.integers(1, 10**15), st.integers(1, 1000))
def test_the_smallest_size_that_survives_scaling_is_found(value: int, thousandths: int) -> None:
    scale = thousandths / 1000
    least = unscaled(value, scale)
    assert scaled(least, scale) >= value
    assert scaled(least - 1, scale) < value


def test_the_number_of_trials_that_an_interval_needs_is_the_known_one() -> None:
    # Equal-tailed order-statistic intervals at 95 %: 1 - 2 (1/2)^6 = 0.969 for six values and the median.
    assert [trials_needed(quantile, 0.95) for quantile in (0.5, 0.9, 0.95, 0.99, 0.999)] == [
        6,
        36,
        72,
        368,
        3688,
    ]
    assert trials_needed(0.1, 0.95) == trials_needed(0.9, 0.95)
