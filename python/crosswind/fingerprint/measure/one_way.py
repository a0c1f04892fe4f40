"""One-way delay of small packets on an idle network, where both ends share a clock."""

from __future__ import annotations

from crosswind.fingerprint.measure.ends import PACKETS_PORT, Network
from crosswind.fingerprint.measure.packets import EndStalled, carried
from crosswind.fingerprint.measure.wall_clock import left_alone
from crosswind.probe.single_packets import FILE, Probes, probe_task, read_probes

PACKETS, PACKETS_PER_S = 400, 200
# The receiver gives up after two seconds without a packet, and counts the rest as lost.
_LATE_S = 1.0


def one_way(network: Network, packets: int = PACKETS) -> Probes | None:
    """Return the delays and losses of packets; None where the ends do not share a clock.

    Raises: Interrupted: the sender stalled.
    """
    with network() as ends:
        if not ends.one_machine:
            return None
        task = probe_task(PACKETS_PER_S, packets, where=ends.far.at(PACKETS_PORT))
        sends_s = packets / PACKETS_PER_S
        with left_alone(ends.far):
            probes, report = carried(
                ends, task, FILE, sends_s, lambda folder: read_probes(folder / FILE, packets)
            )
        late_s = report.latest_ns / 1e9
        if late_s > _LATE_S:
            raise EndStalled(
                f"{ends.near.name}: the sender of small packets stalled for {late_s:.2f} s, and its receiver "
                f"tolerates {_LATE_S:g} s; measure again on a less busy machine"
            )
        return probes
