"""Whether the emulation of one trial can be believed, from its own measurement.

`void`: the network was not the declared one; no number of the trial may be used. `degraded`: it was, but the
machine disturbed it noticeably, or time was slowed down and not for all programs; the numbers are used and
marked. `faithful`: neither. `unverified`: another backend than the emulator carried the packets, and nobody
timed and counted them; the numbers are used and marked. Where several machines carried the network, each of
them counts, and the reason names the worst.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from crosswind.results.between_machines import clock_bound_ns, most, void_reasons
from crosswind.results.measurement import Carried, EmulatorHost, Measurement
from crosswind.results.rows import Fidelity

# One packet in a hundred later than the declared bound moves a P99; above that the tail is partly ours.
MISSED_SHARE_MAX = 0.01
# Steal is time in which neither emulator nor application ran. A hundredth of the window reaches the P99.
STEAL_SHARE_MAX = 0.01
# The canary spins next to the emulator; while it stalls, so does everything on that core. Gaps of up to
# 10 ms by steal are ordinary on a virtual machine; a longer one is a visible stall in a trial of seconds.
CANARY_GAP_NS_MAX = 20_000_000
# While the emulator stalls nothing passes, so throughput loses this share and as many operations of an
# open loop wait. Sessions of one set-up easily differ by a tenth. From there on the stall is as large as what
# a trial is run to find, and neither its mean nor a quantile above P90 is the network's.
STALL_SHARE_MAX = 0.1
# Packets that come evenly are late as often as the emulator waits for its CPU: this share of the window makes
# as many miss their deadline as MISSED_SHARE_MAX allows. A smaller share does not explain that more did.
WAITED_SHARE_MIN = MISSED_SHARE_MAX


@dataclass(frozen=True)
class Verdict:
    """`reason` is empty exactly when the trial is faithful."""

    fidelity: Fidelity
    reason: str


def judge(measurement: Measurement) -> Verdict:
    """Return the verdict on a measurement, with its reasons.

    A wait of the emulator for its CPU is no reason on its own, since packets may still be in time. It
    is named after what came too late, where it was long enough to be the cause.
    """
    if measurement.carried is not None:
        return _unverified(measurement.carried)
    ledger, host = measurement.ledger, measurement.host
    void = []
    if ledger.early:
        void.append(f"{ledger.early} packets left early{most(measurement, lambda it: it.ledger.early)}")
    if not measurement.conservation.holds:
        void.append("packets are unaccounted for")
    if host.ring_overruns:
        where = most(measurement, lambda it: it.host.ring_overruns)
        void.append(f"{host.ring_overruns} packets lost in the capture ring{where}")
    void += void_reasons(measurement)
    void += stalled(measurement) or (_waited(measurement) if host.ring_overruns else [])
    if void:
        return Verdict("void", "; ".join(void))
    degraded = [*_undilated(measurement)]
    if ledger.missed_share > MISSED_SHARE_MAX:
        degraded.append(_late(measurement))
    if stolen(measurement):
        where = most(measurement, lambda it: it.host.steal_ns or 0)
        degraded.append(f"{(host.steal_ns or 0) / 1e6:.0f} ms stolen by the hypervisor{where}")
    gap_ns = host.longest_stall_ns or 0
    if gap_ns > CANARY_GAP_NS_MAX:
        degraded.append(_longest(measurement))
    if ledger.missed_share > MISSED_SHARE_MAX or gap_ns > CANARY_GAP_NS_MAX:
        degraded += _waited(measurement)
    return Verdict("degraded", "; ".join(degraded)) if degraded else Verdict("faithful", "")


def stalled(measurement: Measurement) -> list[str]:
    """Return how the emulator stalled, and its wait for a CPU, where that makes a trial void."""
    hosts = [machine.host for machine in measurement.machines] or [measurement.host]
    stalled_ns, window_ns = max(map(_stalled_ns, hosts)), measurement.window.length_ns
    if stalled_ns < STALL_SHARE_MAX * window_ns:
        return []
    share = f"{stalled_ns / window_ns:.0%} of the trial"
    if stalled_ns > window_ns:
        # A stall that the window began in counts as a whole.
        share = f"{stalled_ns / 1e6:.0f} ms before and in a window of {window_ns / 1e6:.0f} ms"
    return [f"{_longest(measurement)}; in all {share}", *_waited(measurement)]


def _unverified(carried: Carried) -> Verdict:
    if carried.faults:
        return Verdict("void", "; ".join(carried.faults))
    return Verdict(
        "unverified", f"{carried.version} carried the packets; nobody timed and counted each of them"
    )


def _undilated(measurement: Measurement) -> Iterator[str]:
    """Yield what of the nodes was in real time while time was slowed down, once for all nodes that had it."""
    nodes_of: dict[str, list[str]] = {}
    for node in measurement.nodes:
        for fault in [] if node.dilation is None else node.dilation.faults():
            nodes_of.setdefault(fault, []).append(node.node)
    faults_of: dict[tuple[str, ...], list[str]] = {}
    for fault, nodes in nodes_of.items():
        faults_of.setdefault(tuple(nodes), []).append(fault)
    for (first, *others), faults in faults_of.items():
        more = f" and {len(others)} more" if others else ""
        yield f"time of node {first}{more}: {', '.join(faults)}"


def stolen(measurement: Measurement) -> bool:
    """Return whether the hypervisor took enough of a measurement's time to affect it."""
    return (measurement.host.steal_ns or 0) > STEAL_SHARE_MAX * measurement.window.length_ns


def _stalled_ns(host: EmulatorHost) -> int:
    """Return how long the emulator stalled, all visible stalls together."""
    longest = host.longest_stall_ns or 0
    if longest <= CANARY_GAP_NS_MAX:
        return 0
    lengths = [stall.length_ns for stall in host.stalls or []]
    # The longest gap need not be in the list, nor need there be a list.
    return max(longest, sum(length for length in lengths if length > CANARY_GAP_NS_MAX))


def _late(measurement: Measurement) -> str:
    """Return how many packets were late, in words.

    Packets from another machine are late by the estimate of its clock, so the bound of this is a range.
    """
    ledger, range_ns = measurement.ledger, clock_bound_ns(measurement)
    known = f" (\u00b1 {range_ns / 1000:.0f} us, by which clocks may differ)" if range_ns else ""
    many = f"{ledger.missed_share:.1%} of packets"
    if ledger.missed > ledger.packets:
        many = f"{ledger.missed} packets, ghosts among them,"
    return (
        f"{many} later than {ledger.bound_ns / 1000:g} us{known}"
        f"{most(measurement, lambda it: it.ledger.missed)}"
    )


def _longest(measurement: Measurement) -> str:
    """Return the longest stall in words, with its instant where that is known."""
    gap_ns = measurement.host.longest_stall_ns or 0
    where = most(measurement, lambda it: it.host.longest_stall_ns or 0)
    stalled = f"the emulator's core{where} stalled for {gap_ns / 1e6:.0f} ms"
    stalls = {stall.length_ns: stall.at_ns for stall in measurement.host.stalls or []}
    if gap_ns not in stalls:
        return stalled
    after_ns = stalls[gap_ns] - measurement.window.started_ns
    return f"{stalled}, {abs(after_ns) / 1e9:.2f} s {'after' if after_ns >= 0 else 'before'} the start"


def _waited(measurement: Measurement) -> list[str]:
    """Return how long the emulator waited for its CPU, where that explains what came too late."""
    host = measurement.host
    waited_ns = host.run_queue_delay_ns or 0
    where = most(measurement, lambda it: it.host.run_queue_delay_ns or 0)
    much = waited_ns > WAITED_SHARE_MIN * measurement.window.length_ns
    most_of_a_stall = 2 * waited_ns >= (host.longest_stall_ns or 0) > CANARY_GAP_NS_MAX
    if much or most_of_a_stall:
        return [f"the emulator{where} waited {waited_ns / 1e6:.0f} ms for its CPU"]
    return []
