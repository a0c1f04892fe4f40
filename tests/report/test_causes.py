from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crosswind.report.causes import NO_EVENT, SlowOperations, cause, connection_ends, slow_operations
from crosswind.report.folder import Operations, PacketRow, Results

SERVER, CLIENT = "10.77.0.1:5432", "10.77.0.4:40001"
MS = 1_000_000


def drop(at_ms, seq=1000, src=SERVER, dst=CLIENT, element="h0/switch.ingress/0:police", reason="no-tokens"):
    return PacketRow(int(at_ms * MS), src, dst, seq, 1148, element, reason, None)


def again(at_ms, seq=1000, src=SERVER, dst=CLIENT, waited_ms=200):
    return PacketRow(int(at_ms * MS), src, dst, seq, 1148, "", "", waited_ms * MS)


def test_a_retransmission_is_explained_by_the_drop_of_its_bytes():
    unrelated = drop(1, seq=900_000, element="h3/link/0:loss", reason="queue-full")
    found = cause([again(210)], [unrelated, drop(10)])
    assert found == "retransmission after a drop at h0/switch.ingress/0:police (no-tokens)"


def test_a_drop_of_other_bytes_still_explains_better_than_nothing():
    # The acknowledgement was lost, so the sender sent again what had arrived.
    lost_acknowledgement = drop(10, seq=5, src=CLIENT, dst=SERVER, element="h3/switch.ingress/0:police")
    assert cause([again(210)], [lost_acknowledgement]).startswith("retransmission after a drop at h3/")


def test_a_drop_after_the_retransmission_explains_nothing():
    assert cause([again(210)], [drop(215)]) == "retransmission without a recorded drop"


def test_the_longest_wait_decides_among_several_retransmissions():
    quick, slow = again(20, seq=50_000, waited_ms=1), again(230, seq=1000, waited_ms=210)
    drops = [drop(19, seq=50_000, element="h1/link/0:loss"), drop(20, seq=1000)]
    assert (
        cause([quick, slow], drops) == "retransmission after a drop at h0/switch.ingress/0:police (no-tokens)"
    )


def test_without_events_the_network_is_not_blamed():
    assert cause([], []) == NO_EVENT == "no packet event: server, client or host"
    assert (
        cause([], [drop(1)]) == "drop at h0/switch.ingress/0:police (no-tokens), no retransmission recorded"
    )


@given(st.integers(0, 2**32 - 1), st.integers(-1147, 1147))
def test_overlapping_bytes_are_the_same_across_the_wrap_of_sequence_numbers(seq, shift):
    resent = again(210, seq=(seq + shift) % 2**32)
    other = drop(5, seq=(seq + 2**31) % 2**32, element="h9/link/0:loss")
    assert "h0/" in cause([resent], [other, drop(10, seq=seq)])


def test_only_events_of_the_same_connection_and_time_count(folder):
    results = Results(folder)
    trial = next(t for t in results.trials if "token-bucket-on-switch" in t.condition)
    operations = results.operations(trial.trial)
    assert operations is not None
    found = slow_operations(results, trial.trial, operations)
    assert found.slow == int(np.sum(operations.finished_ns - operations.started_ns > 100 * MS))
    causes = {name: share for name, _, share in found.causes()}
    # The writer explains four of five stalls by a drop, one of ten by a retransmission alone, one of ten not
    # at all.
    explained = causes["retransmission after a drop at h0/switch.ingress/0:police (no-tokens)"]
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
    found = slow_operations(results, results.trials[0].trial, operations)
    assert [name for name, _, _ in found.causes()] == [
        "connection unknown: the load generator did not report its addresses"
    ]


def test_a_connection_made_again_has_both_addresses():
    rows = [{"connection": 0, "local": f"10.77.0.4:{port}", "remote": SERVER} for port in (40001, 40002)]
    assert len(connection_ends({"load": {"connections": rows}})[0]) == 2
    assert connection_ends({}) == {}


def test_counts_of_trials_add_up():
    parts = [SlowOperations(10, 2, Counter(a=2), 1), SlowOperations(20, 1, Counter(b=1), 0)]
    assert SlowOperations.together(parts) == SlowOperations(30, 3, Counter(a=2, b=1), 1)
