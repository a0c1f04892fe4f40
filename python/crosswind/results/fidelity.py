"""Whether the emulation of one trial can be believed, from its own measurement.

`void`: the network was not the one that was asked for; no number of the trial may be used. `degraded`: it
was, but the machine disturbed it noticeably; the numbers are kept and marked. `faithful`: neither.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from crosswind.results.host import standstill_ns
from crosswind.results.rows import Fidelity

# One packet in a hundred later than the declared bound moves a P99; above that the tail is partly ours.
MISSED_SHARE_MAX = 0.01
# Steal is time in which neither emulator nor application ran. A hundredth of the window reaches the P99.
STEAL_SHARE_MAX = 0.01
# The canary spins beside the emulator; while it stood still, so did everything on that core. Gaps of up to 10
# ms by steal are ordinary on a virtual machine; a longer one is a visible stall in a trial of seconds.
CANARY_GAP_NS_MAX = 20_000_000
# While the emulator stands still nothing passes, so throughput loses this share and as many operations of an
# open loop wait. Sessions of one set-up easily differ by a tenth: from there on the stall is as large as what
# a trial is run to find, and neither its mean nor a quantile above P90 is the network's.
STANDSTILL_SHARE_MAX = 0.1
# Packets that come evenly are late as often as the emulator waits for its processor: this share of the window
# makes as many miss their deadline as MISSED_SHARE_MAX allows, so less does not explain that more did.
WAITED_SHARE_MIN = MISSED_SHARE_MAX


@dataclass(frozen=True)
class Verdict:
    """`reason` is empty exactly when the trial is faithful."""

    fidelity: Fidelity
    reason: str


def judge(measurement: Mapping[str, Any]) -> Verdict:
    """Return the verdict on a measurement (docs/reference/contracts.md, section 3), with its reasons.

    What the emulator waited for its processor is no reason by itself, since packets may be in time all the
    same; it stands behind what came too late, where it was long enough to be the cause.
    """
    ledger, host = measurement["ledger"], measurement["host"]
    void = []
    if ledger["early"]:
        void.append(f"{ledger['early']} packets left early")
    if not measurement["conservation"]["holds"]:
        void.append("packets are unaccounted for")
    if host["ring_overruns"]:
        void.append(f"{host['ring_overruns']} packets lost in the capture ring")
    still_share = _still_ns(host) / _window_ns(measurement)
    if still_share >= STANDSTILL_SHARE_MAX:
        void.append(f"{_longest(measurement)}; in all {still_share:.0%} of the trial")
    if host["ring_overruns"] or still_share >= STANDSTILL_SHARE_MAX:
        void += _waited(measurement)
    if void:
        return Verdict("void", "; ".join(void))
    degraded = []
    missed_share = ledger["missed"] / ledger["packets"] if ledger["packets"] else 0.0
    if missed_share > MISSED_SHARE_MAX:
        degraded.append(f"{missed_share:.1%} of packets later than {ledger['bound_ns'] / 1000:g} us")
    if stolen(measurement):
        degraded.append(f"{host['steal_ns'] / 1e6:.0f} ms stolen by the hypervisor")
    gap_ns = standstill_ns(host) or 0
    if gap_ns > CANARY_GAP_NS_MAX:
        degraded.append(_longest(measurement))
    if missed_share > MISSED_SHARE_MAX or gap_ns > CANARY_GAP_NS_MAX:
        degraded += _waited(measurement)
    return Verdict("degraded", "; ".join(degraded)) if degraded else Verdict("faithful", "")


def stolen(measurement: Mapping[str, Any]) -> bool:
    """Return whether the hypervisor took so much of a measurement's time that it shows."""
    return bool((measurement["host"]["steal_ns"] or 0) > STEAL_SHARE_MAX * _window_ns(measurement))


def _still_ns(host: Mapping[str, Any]) -> int:
    """Return how long the emulator stood still, all visible stalls together."""
    longest = standstill_ns(host) or 0
    if longest <= CANARY_GAP_NS_MAX:
        return 0
    lengths = [int(stall["length_ns"]) for stall in host.get("stalls") or []]
    # The longest gap need not be in the list, nor need there be a list.
    return max(longest, sum(length for length in lengths if length > CANARY_GAP_NS_MAX))


def _longest(measurement: Mapping[str, Any]) -> str:
    """Return the longest standstill in words, with its instant where that is known."""
    host = measurement["host"]
    gap_ns = standstill_ns(host) or 0
    still = f"the emulator's core stood still for {gap_ns / 1e6:.0f} ms"
    stalls = {stall["length_ns"]: stall["at_ns"] for stall in host.get("stalls") or []}
    if gap_ns not in stalls:
        return still
    return f"{still}, {(stalls[gap_ns] - measurement['window']['started_ns']) / 1e9:.2f} s after the start"


def _waited(measurement: Mapping[str, Any]) -> list[str]:
    """Return what the emulator waited for its processor, where that explains what came too late."""
    host = measurement["host"]
    waited_ns = host.get("run_queue_delay_ns") or 0
    much = waited_ns > WAITED_SHARE_MIN * _window_ns(measurement)
    most_of_a_standstill = 2 * waited_ns >= (standstill_ns(host) or 0) > CANARY_GAP_NS_MAX
    if much or most_of_a_standstill:
        return [f"the emulator waited {waited_ns / 1e6:.0f} ms for its processor"]
    return []


def _window_ns(measurement: Mapping[str, Any]) -> int:
    window = measurement["window"]
    return int(window["ended_ns"] - window["started_ns"])
