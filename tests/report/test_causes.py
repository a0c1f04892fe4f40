from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crosswind.analysis.causes import (
    BEHIND,
    CLIENT_STALL,
    SlowOperations,
    connection_ends,
    held_cause,
    late_cause,
    packet_cause,
    slow_operations,
    stalled_ns,
)
from crosswind.analysis.queueing import Queues, waited_at
from crosswind.results.measurement import HeldRow, LoadConnection, Span, StoredLoad
from crosswind.results.reading import Operations, PacketRow, QueueRow, Results

POLICED = "retransmission timeout after a drop at h0/switch.ingress/0:police (no-tokens)"
SERVER, CLIENT = "10.77.0.1:5432", "10.77.0.4:40001"
MS = 1_000_000


def drop(at_ms, seq=1000, src=SERVER, dst=CLIENT, element="h0/switch.ingress/0:police", reason="no-tokens"):
    return PacketRow(int(at_ms * MS), src, dst, seq, 1148, element, reason, None)


def again(at_ms, seq=1000, src=SERVER, dst=CLIENT, waited_ms=200):
    return PacketRow(int(at_ms * MS), src, dst, seq, 1148, "", "", waited_ms * MS)


def test_a_retransmission_is_explained_by_the_drop_of_its_bytes():
    unrelated = drop(1, seq=900_000, element="h3/link/0:loss", reason="queue-full")
    found = packet_cause([again(210)], [unrelated, drop(10)])
    assert found == POLICED


def test_a_drop_of_other_bytes_still_explains_better_than_nothing():
    # The acknowledgement was lost, so the sender sent again what had arrived.
    lost_acknowledgement = drop(10, seq=5, src=CLIENT, dst=SERVER, element="h3/switch.ingress/0:police")
    assert packet_cause([again(210)], [lost_acknowledgement]).startswith(
        "retransmission timeout after a drop at h3/"
    )


def test_a_drop_after_the_retransmission_explains_nothing():
    assert packet_cause([again(210)], [drop(215)]) == "retransmission timeout without a recorded drop"


def test_the_longest_wait_decides_among_several_retransmissions():
    quick, slow = again(20, seq=50_000, waited_ms=1), again(230, seq=1000, waited_ms=210)
    drops = [drop(19, seq=50_000, element="h1/link/0:loss"), drop(20, seq=1000)]
    assert (
        packet_cause([quick, slow], drops)
        == "retransmission timeout after a drop at h0/switch.ingress/0:police (no-tokens)"
    )


def test_without_events_the_network_is_not_blamed():
    assert packet_cause([], []) is None
    assert packet_cause([], [drop(1)]) == (
        "drop at h0/switch.ingress/0:police (no-tokens), no retransmission recorded"
    )


def test_a_lost_acknowledgement_that_nobody_missed_explains_nothing():
    acknowledgement = PacketRow(MS, CLIENT, SERVER, 5, 0, "h1/link.up/0:lose", "lost", None)
    assert packet_cause([], [acknowledgement]) is None


def test_a_timer_that_ran_out_is_told_from_a_quick_retransmission():
    quick = again(20, waited_ms=3)
    assert packet_cause([quick], [drop(10)]).startswith("retransmission after a drop at")
    assert packet_cause([quick], [drop(10)], rto_min_ns=2 * MS).startswith("retransmission timeout")


def held(at_ms, held_ms, node="server"):
    return HeldRow(int(at_ms * MS), node, SERVER, CLIENT, held_ms * MS)


def test_a_held_acknowledgement_explains_what_waited_for_it_for_half_of_its_time():
    assert held_cause([held(41, 40)], [], 45 * MS) == "delayed acknowledgement by server"
    assert held_cause([held(41, 40), held(82, 40)], [], 150 * MS) == "delayed acknowledgement by server"
    assert held_cause([held(41, 40)], [], 250 * MS) is None
    assert held_cause([], [], 250 * MS) is None


def test_an_acknowledgement_that_waited_for_a_stalled_emulator_was_not_held_back():
    stall = Span(at_ns=10 * MS, length_ns=300 * MS)
    assert held_cause([held(311, 305)], [stall], 500 * MS) is None
    assert held_cause([held(311, 305)], [stall], 10 * MS) == "delayed acknowledgement by server"


def test_only_the_part_of_a_stall_within_an_operation_counts():
    stalls = [Span(at_ns=10, length_ns=20), Span(at_ns=50, length_ns=100)]
    assert stalled_ns(stalls, 0, 60) == 30
    assert stalled_ns(stalls, 20, 25) == 5
    assert stalled_ns(stalls, 31, 49) == 0


def test_a_tail_below_100_ms_is_its_slowest_hundredth_from_30_ms_on(folder):
    results = Results(folder)
    took_ms = np.array([2] * 985 + [44] * 15)
    none = np.zeros(took_ms.size, dtype=np.int64)

    def found(took_ns):
        operations = Operations(none.astype(str), none, none, none, took_ns, none == 0)
        return slow_operations(results, results.trials[0].trial, operations)

    slow, tail = found(took_ms * MS)
    assert (slow.slow, tail.slow, tail.operations) == (0, 15, took_ms.size)
    assert found(took_ms * MS // 2)[1].slow == 0, "22 ms are no tail"


def test_an_operation_that_began_late_waited_for_its_connection_or_for_the_client():
    # Due at 0, begun at 150, ended at 151; its connection was free at 149, or at 10.
    assert late_cause(0, 150 * MS, 151 * MS, 149 * MS) == BEHIND
    assert late_cause(0, 150 * MS, 151 * MS, 10 * MS) == CLIENT_STALL
    assert late_cause(0, 20 * MS, 151 * MS, 10 * MS) is None


def step(at_ms, queued, departed, element="h0/uplink", traffic="real"):
    return QueueRow(at_ms * MS, element, traffic, departed, 0, queued)


def test_a_queue_that_stood_all_the_time_is_named_and_one_that_passed_is_not():
    # Of 12 500 bytes in 100 ms, 10 000 take 80 ms to drain: much of 250 ms.
    standing = [step(at, 10_000, 12_500) for at in (0, 100, 200)]
    assert Queues(standing).longest(90 * MS, 340 * MS) == "h0/uplink"
    assert Queues(standing[:1]).longest(90 * MS, 490 * MS) is None
    # A busy link whose queue empties in a millisecond holds nobody up for a quarter of a second.
    busy = [step(at, 12_500, 1_250_000) for at in (0, 100, 200)]
    assert Queues(busy).longest(90 * MS, 340 * MS) is None


def test_a_packet_that_is_in_the_queue_by_chance_holds_nobody_up():
    # A client slept, woke and sent: 104 bytes are seen when the link was idle for most of the step.
    woken = [step(0, 104, 304), step(100, 0, 5576)]
    assert Queues(woken).longest(-110 * MS, 110 * MS) is None
    # Of a link that carries as little afterwards no other rate is known.
    assert Queues([step(0, 104, 304), step(100, 0, 304)]).longest(-110 * MS, 110 * MS) == "h0/uplink"


def test_what_waits_behind_ghosts_waits_for_them_too():
    together = [
        row for at in (0, 100, 200) for row in (step(at, 100, 100), step(at, 10_000, 12_400, traffic="ghost"))
    ]
    assert Queues(together).longest(90 * MS, 340 * MS) == "h0/uplink"
    ghosts = [row for row in together if row.traffic == "ghost"]
    assert Queues(ghosts).longest(90 * MS, 340 * MS) is None


def test_waiting_for_a_shaper_is_called_so():
    assert waited_at("db0/host.egress/0:shape") == "shaper wait at db0/host.egress/0:shape"
    assert waited_at("h3/downlink") == "queueing at h3/downlink"


@given(st.integers(0, 2**32 - 1), st.integers(-1147, 1147))
def test_overlapping_bytes_are_the_same_across_the_wrap_of_sequence_numbers(seq, shift):
    resent = again(210, seq=(seq + shift) % 2**32)
    other = drop(5, seq=(seq + 2**31) % 2**32, element="h9/link/0:loss")
    assert "h0/" in packet_cause([resent], [other, drop(10, seq=seq)])


def test_only_events_of_the_same_connection_and_time_count(folder):
    results = Results(folder)
    trial = next(t for t in results.trials if "token-bucket-on-switch" in t.condition)
    operations = results.operations(trial.trial)
    assert operations is not None
    found, tail = slow_operations(results, trial.trial, operations)
    assert tail.slow == 0, "its P99 is above 100 ms, so its tail is what is over that"
    assert found.slow == int(np.sum(operations.finished_ns - operations.started_ns > 100 * MS))
    causes = {name: share for name, _, share in found.causes()}
    # The writer explains four of five stalls by a drop, one of ten by a retransmission alone, one of ten not
    # at all.
    explained = causes[POLICED]
    assert explained == pytest.approx(0.8, abs=0.2)
    assert sum(causes.values()) == pytest.approx(1)


def test_an_unknown_connection_is_said_to_be_unknown(folder):
    results = Results(folder)
    operations = Operations(
        node=np.array(["client"]),
        connection=np.array([99]),
        intended_ns=np.array([0]),
        started_ns=np.array([0]),
        finished_ns=np.array([150 * MS]),
        ok=np.array([True]),
    )
    found, _ = slow_operations(results, results.trials[0].trial, operations)
    assert [name for name, _, _ in found.causes()] == [
        "connection unknown: the load generator did not report its addresses"
    ]


def test_a_connection_made_again_has_both_addresses(folder):
    rows = [LoadConnection(connection=0, local=f"10.77.0.4:{port}", remote=SERVER) for port in (40001, 40002)]
    measurement = Results(folder).measurement(next(Results(folder).path.glob("monitors/*.json")).stem)
    assert measurement is not None
    again = measurement.model_copy(update={"load": StoredLoad(connections=rows)})
    assert len(connection_ends(again)[0]) == 2
    assert connection_ends(None) == {}


def test_counts_of_trials_add_up():
    parts = [SlowOperations(10, 2, Counter(a=2), 1), SlowOperations(20, 1, Counter(b=1), 0)]
    assert SlowOperations.together(parts) == SlowOperations(30, 3, Counter(a=2, b=1), 1)
