"""Traffic through a backend before the first trial: is what came through what was declared?

A backend is not believed by the exit status of its commands: Open vSwitch reports a policer that the kernel
lacks in its log alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from crosswind.backends.expected import Expected, expectations
from crosswind.probe.flood import flood_task, read_flood
from crosswind.probe.marks import DATAGRAMS, dscps_between
from crosswind.probe.pairs import run_tasks
from crosswind.results.measurement import TrafficCheck
from crosswind.results.provenance import BackendFacts
from crosswind.spec import Resolved, fabric_of
from crosswind.testbed import RunningTestbed, TestbedError, WorkFolder
from crosswind.testbed.folders import remove_tree
from crosswind.testbed.switched import SwitchedFabric

FLOOD_S = 1.0
# Enough above a limit that the limit is what is measured.
OVER = 1.3
# A tenth is what sessions of one set-up differ by.
WITHIN = 0.1


def check_by_traffic(
    resolved: Resolved, testbed: RunningTestbed, work: WorkFolder, logs: Path
) -> BackendFacts:
    """Send probes under every condition; return what was found and which part of the backend decides what.

    Raises: TestbedError: something differs from what was declared; every such finding is in the message.
    """
    assert resolved.backend is not None
    # Of a check that was interrupted; what programs print is added to their logs.
    remove_tree(logs)
    decided, checks, version, wrong = {}, {}, "", list[str]()
    for condition in resolved.conditions:
        spec = fabric_of(resolved, condition.name)
        with testbed.fabric(spec, work, logs / condition.name.replace("/", "-")) as fabric:
            assert isinstance(fabric, SwitchedFabric)
            version, decided[condition.name] = fabric.version, fabric.decided
            folder = fabric.fresh(work, "probe")
            found = [
                check
                for expected in expectations(spec, spec.condition)
                for check in _checks(fabric, expected, folder, spec.mtu_bytes)
            ]
            checks[condition.name] = found
            failed = [f"{condition.name}: {_words(check)}" for check in found if not check.holds]
            wrong += [*failed, *fabric.complaints()] if failed else []
    if wrong:
        raise TestbedError(
            f"backend {resolved.backend.name}: traffic is not as declared, so no trial was run: "
            + "; ".join(dict.fromkeys(wrong))
            + "; write backend: crosswind, or declare what this machine can carry"
        )
    return BackendFacts(name=resolved.backend.name, version=version, decided=decided, checks=checks)


def _checks(
    fabric: SwitchedFabric, expected: Expected, folder: Path, mtu_bytes: int
) -> Iterator[TrafficCheck]:
    sender, receiver = expected.sender, expected.receiver
    if expected.ip_bps is not None:
        task = flood_task(
            expected.ip_bps * OVER, FLOOD_S, where=f"{receiver.ip}:5003", ip_bytes=min(1500, mtu_bytes)
        )
        run_tasks([task], fabric, [sender.name], receiver.name, folder)
        flood = read_flood(folder, FLOOD_S)
        measured_bps = flood.packet_rate() * float(flood.ip_bytes.sum()) / float(flood.packets.sum()) * 8
        yield TrafficCheck(
            what=expected.by, unit="bit/s", declared=expected.ip_bps, measured=measured_bps, within=WITHIN
        )
    if expected.dscp is not None:
        came = dscps_between(fabric.nodes[sender.name], fabric.nodes[receiver.name])
        with_mark = came.get(expected.dscp, 0)
        # Every datagram has to come, and to have the mark.
        yield TrafficCheck(
            what=f"{expected.marked_by}, DSCP {expected.dscp}",
            unit="packets",
            declared=DATAGRAMS,
            measured=with_mark,
            within=0.0,
        )


def _words(check: TrafficCheck) -> str:
    if check.unit == "bit/s":
        return (
            f"{check.what}: declared {check.declared / 1e6:.1f} Mbit/s of IP, came through "
            f"{check.measured / 1e6:.1f} Mbit/s"
        )
    return f"{check.what}: {check.measured:.0f} of {check.declared:.0f} packets came with it"
