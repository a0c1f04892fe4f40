"""Conditions as Open vSwitch has them: flows, meters, queues, and what it cannot carry."""

import re

import pytest
from experiments import resolved, scheduled

from crosswind.backends import NotCarried, refuse_what_emulators_do
from crosswind.backends.ovs.bridges import Bridges
from crosswind.backends.ovs.mapping import PolicedBy, settings_of
from crosswind.backends.ovs.setup import Settings
from crosswind.spec import Resolved, fabric_of

POLICED = """
switch.ingress:
  - police: {rate: 20Mbit/s, burst: 50kB}
  - mark: {dscp: AF41}
"""


def settings(experiment: Resolved, police: PolicedBy = "meter") -> Settings:
    spec = fabric_of(experiment, "tried")
    return settings_of(spec, spec.condition, Bridges(spec), police)


def refusal(condition: str, **more: str) -> str:
    with pytest.raises(NotCarried) as refused:
        settings(resolved(condition, **more))
    return str(refused.value)


def test_hosts_and_switches_are_bridges_and_links_are_veth_pairs_between_them():
    bridges = Bridges(fabric_of(resolved("host.egress: []"), "tried"))
    assert [bridge.of for bridge in bridges.bridges] == ["switch", "h0", "h1"]
    assert [[end.bridge for end in wire.ends] for wire in bridges.wires] == [["br1", "br0"], ["br2", "br0"]]


def test_every_bridge_leads_to_every_node_and_the_last_one_addresses_it():
    flows = settings(resolved("host.egress: []")).flows
    assert all(sum("nw_dst=10.77.0." in flow for flow in of) == 2 for of in flows.values())
    assert (
        "table=1,priority=10,ip,nw_dst=10.77.0.2,actions=set_field:02:77:00:00:00:02->eth_dst,output:2"
        in flows["br2"]
    )
    assert "table=1,priority=10,ip,nw_dst=10.77.0.2,actions=output:30001" in flows["br0"]


def test_a_policer_becomes_a_meter_of_frames_in_front_of_the_mark():
    found = settings(resolved(POLICED))
    # 20 Mbit/s of IP in packets of 1500 bytes are 1514 / 1500 of that in frames.
    assert found.meters["br0"][0] == "meter=1,kbps,burst,stats,bands=type=drop,rate=20187,burst_size=404"
    (flow, _) = [flow for flow in found.flows["br0"] if "meter" in flow]
    assert flow.endswith("actions=meter:1,set_field:34->ip_dscp,goto_table:1")
    assert found.traces[0].dscp == 34
    assert found.traces[0].is_metered


def test_a_policer_may_be_ingress_policing_instead():
    found = settings(resolved(POLICED, backend="{ovs: {police: ingress-policing}}"), "ingress-policing")
    assert [(each.device, each.kbps, each.kbit) for each in found.policing] == [
        ("w0b", 20187, 404),
        ("w1b", 20187, 404),
    ]
    assert not any(found.meters.values())


def test_what_leaves_to_nodes_of_one_host_shares_its_meter():
    nodes = "server: h0, client: h1, other: h1"
    found = settings(
        resolved("switch.egress: [{police: {rate: 1Mbit/s, burst: 5kB, on: [h1]}}]", nodes=nodes)
    )
    assert len(found.meters["br0"]) == 1
    assert sum("meter:1" in flow for flow in found.flows["br0"]) == 2


def test_a_scheduler_divides_a_link_by_weight_and_its_first_queue_takes_the_rest():
    queues = {each.device: each for each in settings(resolved(scheduled("wrr"))).queues}["w0b"]
    rate_bps = 100_000_000 * 1514 // 1538
    assert [(queue.dscps, queue.least_bps) for queue in queues.queues] == [
        ((), rate_bps * 30 // 100),
        ((34, 36, 38), rate_bps * 70 // 100),
    ]
    assert queues.queues[0].limit_bytes == 10_000 * 1514 // 1538


def test_every_element_is_in_the_list_of_what_decides_it():
    found = settings(
        resolved(POLICED + scheduled("strict").partition("switch.egress")[2].join(["switch.egress", ""]))
    )
    assert {each.element for each in found.decided} == {"police", "mark", "schedule", "rate"}
    assert {each.of for each in found.decided if each.element == "police"} == {"h0", "h1"}


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ("link: [{delay: 1ms}]", ["delay at link", "Open vSwitch has no delay", "crosswind"]),
        ("switch.egress: [{lose: 1%}]", ["lose at switch.egress"]),
        ("host.egress: [{shape: {rate: 1Mbit/s, burst: 5kB, buffer: 10kB}}]", ["shape at host.egress"]),
        ("switch.egress: [{queue: {buffer: 64KiB, drop: {codel: {}}}}]", ["queue at switch.egress", "tail"]),
        ("link: [{mark: {dscp: AF41}}]", ["mark at link"]),
    ],
)
def test_what_open_vswitch_lacks_is_refused_with_place_and_remedy(condition: str, words: list[str]):
    text = refusal(condition)
    assert all(word in text for word in ["backend ovs: tried:", *words, "write backend: crosswind"]), text


def test_a_link_with_a_delay_is_refused():
    assert re.match(r"backend ovs: link h0->switch: delay", refusal("host.egress: []", delay="2us"))


@pytest.mark.parametrize(
    ("condition", "trials", "words"),
    [
        ("interference: {between: [h0-h1], rate: 1Mbit/s, hold: 1s}", "", "by: iperf3"),
        ("host.egress: []", ", record: true", "trials: record"),
        ("host.egress: []", ", capture: {}", "trials: capture"),
        ("host.egress: []\nat:\n  1s: {host.egress: []}", "", "tried: at"),
        ("at: {1s: {isolate: server}}", "", "tried: faults"),
    ],
)
def test_what_only_the_emulator_does_is_refused(condition: str, trials: str, words: str):
    with pytest.raises(NotCarried, match=words):
        refuse_what_emulators_do("ovs", resolved(condition, trials=trials))
