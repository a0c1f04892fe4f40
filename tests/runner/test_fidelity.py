"""The verdict on a trial, from its measurement."""

from typing import Any

import pytest

from crosswind.results import Measurement
from crosswind.results.fidelity import judge
from crosswind.results.measurement import Carried
from crosswind.runner.trial import after_stalls
from crosswind.testbed import TestbedError

SECOND_NS = 1_000_000_000


def measurement(**changes: Any) -> Measurement:
    """Return a faultless measurement of one second, with some values changed by their dotted names."""
    sound: dict[str, Any] = {
        "window": {"started_ns": 0, "ended_ns": SECOND_NS},
        "ledger": {"packets": 1000, "early": 0, "missed": 0, "bound_ns": 100_000},
        "conservation": {"holds": True},
        "host": {"canary_gap_ns_max": 0, "steal_ns": 0, "ring_overruns": 0},
    }
    for name, value in changes.items():
        part, _, key = name.partition("__")
        sound[part][key] = value
    return Measurement.model_validate(sound)


def test_a_faultless_measurement_is_faithful_without_a_reason() -> None:
    verdict = judge(measurement())
    assert (verdict.fidelity, verdict.reason) == ("faithful", "")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"ledger__early": 1}, "1 packets left early"),
        ({"conservation__holds": False}, "unaccounted"),
        ({"host__ring_overruns": 3}, "3 packets lost"),
    ],
)
def test_a_network_that_was_not_the_declared_one_is_void(change: dict[str, Any], reason: str) -> None:
    verdict = judge(measurement(**change))
    assert verdict.fidelity == "void"
    assert reason in verdict.reason


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"ledger__missed": 11}, "1.1% of packets later than 100 us"),
        ({"host__steal_ns": SECOND_NS // 50}, "20 ms stolen"),
        ({"host__canary_gap_ns_max": 30_000_000}, "stalled for 30 ms"),
        (
            {"host__stalls": [{"at_ns": 250_000_000, "length_ns": 90_000_000}]},
            "stalled for 90 ms, 0.25 s after the start",
        ),
    ],
)
def test_a_disturbed_network_is_degraded_and_says_by_what(change: dict[str, Any], reason: str) -> None:
    verdict = judge(measurement(**change))
    assert verdict.fidelity == "degraded"
    assert reason in verdict.reason


def test_an_emulator_that_stalled_for_most_of_a_trial_makes_it_void() -> None:
    stop = {"at_ns": 2 * SECOND_NS, "length_ns": 10 * SECOND_NS}
    verdict = judge(measurement(window__ended_ns=14 * SECOND_NS, host__stalls=[stop]))
    assert verdict.fidelity == "void"
    assert verdict.reason == (
        "the emulator's core stalled for 10000 ms, 2.00 s after the start; in all 71% of the trial"
    )


def test_a_stall_that_the_window_began_in_is_before_the_start_and_no_share_of_the_trial() -> None:
    """A live trial said "stalled for 2974 ms, -2.97 s after the start; in all 547% of the trial"."""
    stall = {"at_ns": 7 * SECOND_NS, "length_ns": 3 * SECOND_NS}
    window = {"window__started_ns": 9 * SECOND_NS, "window__ended_ns": 10 * SECOND_NS}
    assert judge(measurement(host__stalls=[stall], **window)).reason == (
        "the emulator's core stalled for 3000 ms, 2.00 s before the start; "
        "in all 3000 ms before and in a window of 1000 ms"
    )


@pytest.mark.parametrize(
    ("lengths_ns", "fidelity"),
    [
        ([99_000_000], "degraded"),
        ([100_000_000], "void"),
        ([50_000_000, 50_000_000], "void"),  # Several stalls count together,
        ([19_000_000] * 20, "faithful"),  # those that are ordinary on a virtual machine do not.
    ],
)
def test_a_tenth_of_the_trial_is_the_bound_of_stalls(lengths_ns: list[int], fidelity: str) -> None:
    stalls = [{"at_ns": place, "length_ns": length} for place, length in enumerate(lengths_ns)]
    assert judge(measurement(host__stalls=stalls)).fidelity == fidelity


def test_the_longest_gap_alone_can_make_a_trial_void() -> None:
    assert judge(measurement(host__canary_gap_ns_max=SECOND_NS // 2)).fidelity == "void"


def test_a_long_gap_counts_beside_a_list_of_short_stalls() -> None:
    stalls = [{"at_ns": 1, "length_ns": 19_000_000}]
    gap = {"host__stalls": stalls, "host__canary_gap_ns_max": SECOND_NS // 2}
    assert judge(measurement(**gap)).fidelity == "void"


def test_an_ordinary_gap_does_not_make_a_trial_of_milliseconds_void() -> None:
    short = {"window__ended_ns": 2_500_000, "host__canary_gap_ns_max": 900_000}
    assert judge(measurement(**short)).fidelity == "faithful"


def test_every_reason_is_named() -> None:
    assert judge(measurement(ledger__early=2, host__ring_overruns=1)).reason.count(";") == 1


def test_a_trial_without_packets_has_missed_nothing() -> None:
    assert judge(measurement(ledger__packets=0)).fidelity == "faithful"


def test_what_a_machine_cannot_measure_is_not_held_against_it() -> None:
    assert judge(measurement(host__steal_ns=None, host__canary_gap_ns_max=None)).fidelity == "faithful"


WAITED = "the emulator waited 600 ms for its CPU"


@pytest.mark.parametrize(
    "change",
    [
        {"ledger__missed": 600},
        {"host__canary_gap_ns_max": 30_000_000},
        {"host__ring_overruns": 3},
    ],
)
def test_waiting_for_a_cpu_is_named_after_what_it_made_late(change: dict[str, Any]) -> None:
    alone = judge(measurement(**change)).reason
    assert judge(measurement(**change, host__run_queue_delay_ns=600_000_000)).reason == f"{alone}; {WAITED}"


def test_waiting_that_made_nothing_late_is_no_reason() -> None:
    assert judge(measurement(host__run_queue_delay_ns=600_000_000)).fidelity == "faithful"
    stolen = judge(measurement(host__run_queue_delay_ns=600_000_000, host__steal_ns=SECOND_NS // 50))
    assert stolen.reason == "20 ms stolen by the hypervisor"


@pytest.mark.parametrize("waited_ns", [None, 0, 5_000_000])
def test_too_short_a_wait_explains_nothing(waited_ns: int | None) -> None:
    late = judge(measurement(ledger__missed=600, host__run_queue_delay_ns=waited_ns))
    assert late.reason == "60.0% of packets later than 100 us"


def test_a_wait_of_half_a_stall_explains_it_in_any_window() -> None:
    # Of 20 s, 25 ms are far below a hundredth; of 50 ms they are half.
    still = {"window__ended_ns": 20 * SECOND_NS, "host__canary_gap_ns_max": 50_000_000}
    assert judge(measurement(**still, host__run_queue_delay_ns=25_000_000)).reason.endswith(
        "stalled for 50 ms; the emulator waited 25 ms for its CPU"
    )
    assert "waited" not in judge(measurement(**still, host__run_queue_delay_ns=24_000_000)).reason


def machines(
    change: dict[str, Any] | None = None, peers: dict[str, Any] | None = None, **tunnel: Any
) -> Measurement:
    """Return a faultless measurement of two machines, with some values of the second changed.

    Args:
        peers: what it counted of datagrams from the first.
        tunnel: other values of its tunnel.
    """
    whole = measurement()
    parts = [
        {
            "machine": f"m{number}",
            "started_ns": 0,
            "clock": {"here_ns": 0, "there_ns": 0, "gained_ns": 0, "over_ns": 1, "bound_ns": 30_000 * number},
            "ledger": whole.ledger.as_json(),
            "host": whole.host.as_json(),
            "tunnel": {"domain": number, "peers": [{"domain": 1 - number}]},
        }
        for number in range(2)
    ]
    parts[1]["tunnel"] = {"domain": 1, "peers": [{"domain": 0} | (peers or {})]} | tunnel
    parts[1] |= change or {}
    return Measurement.model_validate({**whole.as_json(), "machines": parts})


def test_two_machines_without_a_fault_are_faithful() -> None:
    assert judge(machines()).fidelity == "faithful"


@pytest.mark.parametrize(
    ("peers", "reason"),
    [
        ({"lost_datagrams": 1}, "1 datagram from m0 to m1 lost"),
        ({"refused_records": 3}, "3 records from m0 to m1 could not be read"),
        ({"clock_steps": 1}, "the clock of m0 was set, as m1 saw it"),
    ],
)
def test_what_happened_to_datagrams_between_machines_makes_a_trial_void(
    peers: dict[str, Any], reason: str
) -> None:
    verdict = judge(machines(peers=peers))
    assert (verdict.fidelity, verdict.reason) == ("void", reason)


def test_datagrams_without_room_in_a_socket_make_a_trial_void() -> None:
    verdict = judge(machines(dropped_here=4, receive_buffer_bytes=212_992))
    assert verdict.fidelity == "void"
    assert verdict.reason == "4 datagrams had no room in the socket of m1 (212992 bytes)"


def test_ghosts_that_came_late_are_counted_and_are_no_share_of_packets_that_left() -> None:
    ledger = {"packets": 10, "early": 0, "missed": 975, "bound_ns": 120_000}
    found = machines({"ledger": ledger})
    verdict = judge(found.model_copy(update={"ledger": found.machines[1].ledger}))
    assert verdict.fidelity == "degraded"
    assert verdict.reason.startswith("975 packets, ghosts among them, later than 120 us")


def test_what_came_out_of_order_twice_or_from_strangers_changes_no_verdict() -> None:
    assert judge(machines(forged_datagrams=1000)).fidelity == "faithful"
    assert judge(machines(peers={"reordered_datagrams": 2, "duplicate_datagrams": 2})).fidelity == "faithful"


def test_the_reason_names_the_machine_and_by_how_much_clocks_may_differ() -> None:
    ledger = {"packets": 1000, "early": 0, "missed": 11, "bound_ns": 100_000}
    found = machines({"ledger": ledger, "host": {"stalls": [{"at_ns": 1, "length_ns": 30_000_000}]}})
    found = found.model_copy(update={"ledger": found.machines[1].ledger, "host": found.machines[1].host})
    late, stalled = judge(found).reason.split("; ")
    assert late == "1.1% of packets later than 100 us (\u00b1 30 us, by which clocks may differ) on m1"
    assert stalled == "the emulator's core on m1 stalled for 30 ms, 0.00 s after the start"


def test_stalls_of_different_machines_do_not_add_up() -> None:
    stall = {"at_ns": 1, "length_ns": 60_000_000}
    found = machines({"host": {"stalls": [stall]}})
    both = [stall, {"at_ns": 500_000_000, "length_ns": 60_000_000}]
    parts = [machine.model_copy(update={"host": found.machines[1].host}) for machine in found.machines]
    whole = Measurement.model_validate({**measurement().as_json(), "host": {"stalls": both}})
    assert judge(whole).fidelity == "void"
    assert judge(whole.model_copy(update={"machines": parts})).fidelity == "degraded"


def test_packets_that_nobody_timed_are_unverified_and_void_where_the_backend_lost_some() -> None:
    carried = {"backend": "ovs", "version": "Open vSwitch 3.1.0"}
    verdict = judge(measurement().model_copy(update={"carried": Carried.model_validate(carried)}))
    assert verdict.fidelity == "unverified"
    assert "Open vSwitch 3.1.0" in verdict.reason
    faulty = Carried.model_validate({**carried, "faults": ["its socket had no room"]})
    assert judge(measurement().model_copy(update={"carried": faulty})).fidelity == "void"


def test_programs_in_real_time_beside_slow_ones_degrade_a_trial_and_are_named() -> None:
    sound = {"processes": 2, "execs": 2, "undilated": [], "killed": [], "refused": [], "counters": []}
    odd = {
        **sound,
        "undilated": [{"program": "ntpd", "count": 1}],
        "killed": [{"program": "su", "why": "it gains privileges", "count": 2}],
        "refused": [{"call": "io_uring_setup", "count": 4}],
        "counters": [
            {"program": "/bin/spin", "file": "/bin/spin", "reads": 1000},
            {"program": "/bin/java", "file": "/lib/libticks.so", "reads": 100},
        ],
    }
    for dilation, verdict in ((sound, "faithful"), (odd, "degraded")):
        nodes = [{"node": "db0", "dilation": dilation}, {"node": "db1"}]
        found = judge(Measurement.model_validate({**measurement().as_json(), "nodes": nodes}))
        assert found.fidelity == verdict
    assert found.reason == (
        "time of node db0: ntpd ran in real time (1), su was killed: it gains privileges (2), "
        "io_uring_setup was refused (4), "
        "/bin/spin read the time-stamp counter, which is not slowed down (1000 times or more), "
        "/bin/java read the time-stamp counter, which is not slowed down "
        "(in /lib/libticks.so, 100 times or more)"
    )


def test_what_was_in_real_time_on_many_nodes_is_said_once() -> None:
    spin = {"program": "/bin/spin", "file": "/bin/spin", "reads": 1000}
    nodes: list[dict[str, object]] = [
        {"node": f"rank{number}", "dilation": {"counters": [spin]}} for number in range(9)
    ]
    nodes.append({"node": "db", "dilation": {"refused": [{"call": "io_uring_setup", "count": 1}]}})
    found = judge(Measurement.model_validate({**measurement().as_json(), "nodes": nodes}))
    assert found.reason == (
        "time of node rank0 and 8 more: /bin/spin read the time-stamp counter, which is not slowed down "
        "(1000 times or more); time of node db: io_uring_setup was refused (1)"
    )


def test_a_failure_while_the_machine_stalled_names_the_stalls_first() -> None:
    """Or else "give a longer --duration" blames the trial for what the machine did."""
    failure = TestbedError("load on client: exit status 4; no operation was measured")
    stall = {"at_ns": 100_000_000, "length_ns": 800_000_000}
    busy = measurement(host__stalls=[stall], host__run_queue_delay_ns=790_000_000)
    assert str(after_stalls(failure, lambda: busy)) == (
        "the emulator's core stalled for 800 ms, 0.10 s after the start; in all 80% of the trial; "
        f"the emulator waited 790 ms for its CPU; then {failure}"
    )
    short = measurement(host__stalls=[{"at_ns": 100_000_000, "length_ns": 90_000_000}])
    assert after_stalls(failure, lambda: short) is failure

    def agent_has_ended() -> Measurement:
        raise TestbedError("the agent has ended")

    assert after_stalls(failure, agent_has_ended) is failure
