"""What `ofproto/trace` of Open vSwitch 3.1.0 answers, and whether it shows what was set."""

import pytest

from crosswind.backends.ovs.setup import PortQueues, Queue, Trace
from crosswind.testbed.open_vswitch import passes, queue_commands

MARKED = Trace("br0", 30000, "10.77.0.2", 34, is_metered=True)


@pytest.mark.parametrize(
    ("answer", "holds"),
    [
        ("Datapath actions: meter(0),set(ipv4(tos=0x88/0xfc)),9", True),
        ("Datapath actions: set(ipv4(tos=0x88/0xfc)),9", False),
        ("Datapath actions: meter(0),9", False),
        # The published flow rules of ICPE '23 set the field after the output: the packet has left.
        ("Datapath actions: meter(0),9,set(ipv4(tos=0x88/0xfc))", False),
        ("Datapath actions: drop", False),
    ],
)
def test_a_meter_and_a_mark_have_to_come_before_the_packet_leaves(answer: str, holds: bool):
    assert passes(MARKED, answer) is holds


def test_a_packet_without_a_mark_needs_its_meter_alone():
    assert passes(Trace("br0", 1, "10.77.0.2", None, is_metered=True), "Datapath actions: meter(3),7")


def test_queues_have_leaves_and_filters_of_the_kernel():
    queues = (Queue(0, 30_000_000, 0, 9_000), Queue(1, 70_000_000, 0, 64_000, (34, 36)))
    qos, *kernel = queue_commands(PortQueues("w0b", 100_000_000, queues))
    assert "type=linux-htb other-config:max-rate=100000000 queues=0=@q0,1=@q1" in qos
    assert kernel == [
        "tc qdisc replace dev w0b parent 1:1 handle 11: bfifo limit 9000",
        "tc qdisc replace dev w0b parent 1:2 handle 12: bfifo limit 64000",
        "tc filter add dev w0b parent 1: protocol ip prio 1 u32 match ip dsfield 0x88 0xfc flowid 1:2",
        "tc filter add dev w0b parent 1: protocol ip prio 1 u32 match ip dsfield 0x90 0xfc flowid 1:2",
    ]
