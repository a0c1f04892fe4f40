"""Conditions as the kernel's traffic control has them, what it cannot carry, and the reading back."""

import pytest
from experiments import resolved, scheduled

from crosswind.backends import NotCarried
from crosswind.backends.tc.devices import Devices
from crosswind.backends.tc.mapping import control_of
from crosswind.backends.tc.setup import TrafficControl
from crosswind.spec import Resolved, fabric_of
from crosswind.testbed.traffic_control import differences

IMPAIRED = """
link:
  - delay: {time: 5ms, jitter: 1ms, law: normal, order: free}
  - lose: 1%
  - corrupt: 0.1%
"""


def control(experiment: Resolved) -> TrafficControl:
    spec = fabric_of(experiment, "tried")
    return control_of(spec, spec.condition, Devices(spec))


def tried(condition: str, **more: str) -> TrafficControl:
    return control(resolved(condition, backend="tc", **more))


def test_a_link_with_a_rate_is_a_token_bucket_in_front_of_its_veth():
    found = tried("host.egress: []")
    assert {qdisc.device for qdisc in found.qdiscs} == {"h0up", "h0down", "h1up", "h1down"}
    # Wire bits of packets of 1500 bytes: 1514 of 1538 bytes are the frame's; the bucket is two frames.
    assert (
        found.qdiscs[0].words
        == f"rate {100_000_000 * 1514 // 1538}bit burst 3076 limit {65536 * 1514 // 1538}"
    )


def test_delays_and_losses_of_a_direction_are_one_netem_in_front_of_the_queue():
    found = tried(IMPAIRED, delay="1ms")
    by_parent = {qdisc.parent: qdisc for qdisc in found.qdiscs if qdisc.device == "h0up"}
    assert by_parent["root"].words == (
        "limit 1000000 delay 6000us 1000us distribution normal loss random 1.000000% corrupt 0.100000%"
    )
    assert by_parent["root"].shown["delay"] == {"delay": 0.006, "jitter": 0.001}
    assert by_parent["1:1"].kind == "tbf"
    assert "sch_netem" in found.modules()


def test_a_policer_and_a_mark_are_filters_where_the_packet_enters():
    found = tried("switch.ingress: [{police: {rate: 20Mbit/s, burst: 50kB}}, {mark: {dscp: AF41}}]")
    commands = [command for command in found.commands() if "dev h0down ingress" in command]
    assert "police rate 20186666bit burst 50466 conform-exceed drop/continue" in commands[0]
    assert "dsfield set 0x88 retain 0xfc" in commands[1]
    assert {"act_police", "act_pedit", "act_csum"} < {*found.modules()}


@pytest.mark.parametrize(
    ("by", "kind", "words"),
    [
        ("wrr", "htb", "default 2"),
        ("drr", "ets", "bands 2 quanta 105000 45000 priomap " + " ".join("1" * 16)),
        ("strict", "ets", "bands 2 strict 2 priomap " + " ".join("1" * 16)),
    ],
)
def test_a_scheduler_is_htb_or_ets(by: str, kind: str, words: str):
    found = tried(scheduled(by).replace("mark: {dscp: AF41, on: [h0]}", "mark: {dscp: AF41}"))
    (qdisc,) = [each for each in found.qdiscs if each.device == "h1down" and each.kind == kind]
    assert qdisc.words == words
    assert sum(each.kind == "bfifo" and each.device == "h1down" for each in found.qdiscs) == 2
    assert any("match ip dsfield 0x88 0xfc flowid" in command for command in found.commands())


def test_nodes_of_one_host_share_its_link_and_reach_each_other_without_it():
    spec = fabric_of(
        resolved("host.egress: []", backend="tc", nodes="server: h0, client: h1, other: h1"), "tried"
    )
    devices = Devices(spec)
    filters = [each for each in control_of(spec, spec.condition, devices).filters if each.device == "port1"]
    assert [(each.match, each.actions) for each in filters] == [
        ("ip dst 10.77.0.3/32", "flowid 1:1"),
        ("", "action mirred egress redirect dev h1up"),
    ]
    assert "ip route add 10.77.0.3/32 dev port2 table 101" in list(devices.commands())


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ("link: [{delay: {time: 5ms, jitter: 1ms}}]", "delay at link: netem reorders"),
        ("link: [{delay: {time: 5ms, jitter: 1ms, depth: 10, order: free}}]", "wait in one queue"),
        ("link: [{reorder: {share: 1%, time: 1ms}}]", "reorder at link"),
        ("link: [{lose: 1%}, {lose: 2%}]", "one netem has one lose"),
        ("switch.ingress: [{delay: 1ms}]", "delay at switch.ingress: nothing waits"),
        (
            "link: [{pace: {rate: 1Mbit/s}}]",
            "no pace",
        ),
        ("switch.egress: [{queue: {buffer: 64KiB, drop: head}}]", "only tail and codel"),
    ],
)
def test_what_the_kernel_lacks_is_refused_with_place_and_remedy(condition: str, words: str):
    with pytest.raises(NotCarried, match=words) as refused:
        tried(condition)
    assert str(refused.value).startswith("backend tc: tried: ")
    assert str(refused.value).endswith("write backend: crosswind, which can")


def test_a_setting_that_the_kernel_has_otherwise_is_a_difference():
    asked = [each for each in tried(IMPAIRED).qdiscs if each.device == "h0up"]
    shown = [
        {"dev": "h0up", "kind": "netem", "handle": "1:", "options": {
            "limit": 1000000, "delay": {"delay": 0.005, "jitter": 0.001, "correlation": 0},
            "loss-random": {"loss": 0.01, "correlation": 0}, "corrupt": {"corrupt": 0.002}}},
        {"dev": "h0up", "kind": "tbf", "handle": "11:", "options": {"rate": 12304941, "burst": 3076}},
    ]  # fmt: skip
    assert list(differences(asked, shown)) == ["h0up netem 1: corrupt corrupt: asked 0.001, has 0.002"]
    assert list(differences(asked, [])) == ["h0up netem 1: is not there", "h0up tbf 11: is not there"]


def test_a_bucket_is_stored_in_microseconds_of_its_rate():
    (asked,) = [each for each in tried("host.egress: []").qdiscs if each.device == "h0up"]
    shown = {"dev": "h0up", "kind": "tbf", "handle": "1:", "options": {"rate": 12304941, "burst": 3063}}
    assert list(differences([asked], [shown])) == []
    smaller = {**shown, "options": {"rate": 12304941, "burst": 3000}}
    assert list(differences([asked], [smaller])) == ["h0up tbf 1: burst: asked 3076, has 3000"]
