"""The machines of a fingerprint before and after it: what they did, and what changed while it was measured.

What a machine does (load, memory, traffic of its interfaces) varies all the time, so both values are shown.
What a machine is (kernel, sysctls, interface, settings of a connection) should stay, so each difference is
reported.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import JsonValue

from crosswind.analysis.network.document import FingerprintDocument
from crosswind.analysis.network.ends import EndFacts, EndMachines
from crosswind.results.provenance import MachineActivity
from crosswind.text import units
from crosswind.text.html_file import flat

# What differs every time, and the answer of a cloud, which is queried once.
_MOVES = ("time", "state.", "connection.handshake_rtt_us", "cloud")
_MOVES_IN_PROVENANCE = ("time", "steal_s", "load_average", "memory_available_bytes")


@dataclass(frozen=True)
class StateRow:
    """One aspect of what a machine did, in words; `-` where it was not inspected, or had no traffic."""

    what: str
    before: str
    after: str


@dataclass(frozen=True)
class MachineState:
    """The name of a machine, and what it did."""

    name: str
    rows: list[StateRow]


def states(document: FingerprintDocument) -> list[MachineState]:
    """Return what each machine did: one where both ends share it, none where they were not inspected."""
    before, after = _ends(document.machines.before), _ends(document.machines.after)
    places = ["here"] if "here" in before else list(before)
    return [
        MachineState(f"{_named(end)}, {before[end].host}", _rows(before[end], after.get(end)))
        for end in places
    ]


def changes(document: FingerprintDocument) -> list[str] | None:
    """Return what changed and should not have, in words; None where nothing was inspected afterwards."""
    before, after = _ends(document.machines.before), _ends(document.machines.after)
    found = [
        _changed(_named(end), facts.as_json(), after[end].as_json(), _MOVES)
        for end, facts in before.items()
        if end in after
    ]
    if document.provenance_after is not None:
        name = "the machine that measured"
        found.append(_changed(name, document.provenance, document.provenance_after, _MOVES_IN_PROVENANCE))
    return [change for each in found for change in each] if found else None


def _changed(
    name: str, before: Mapping[str, JsonValue], after: Mapping[str, JsonValue], moves: tuple[str, ...]
) -> list[str]:
    was, now = (
        {key: text for key, text in flat(dict(facts)) if not key.startswith(moves)}
        for facts in (before, after)
    )
    return [
        f"{name}, {key}: {was.get(key, 'absent')} before, {now.get(key, 'absent')} after"
        for key in sorted({*was, *now})
        if was.get(key) != now.get(key)
    ]


def _ends(machines: EndMachines | None) -> dict[str, EndFacts]:
    """Return the facts of each end, and of the machine that both are on, by their names."""
    if machines is None:
        return {}
    ends = {"near": machines.near, "far": machines.far}
    return ends if machines.here is None else ends | {"here": machines.here}


def _named(end: str) -> str:
    return "the machine of both ends" if end == "here" else f"the {end} end"


def _rows(before: EndFacts, after: EndFacts | None) -> list[StateRow]:
    sides = [
        _described(before.state, before.cores),
        {} if after is None else _described(after.state, before.cores),
    ]
    if after is not None:
        elapsed_s = after.state.uptime_s - before.state.uptime_s
        stolen_s = after.state.steal_s - before.state.steal_s
        # A machine that was rebooted counts from zero again.
        if elapsed_s > 0:
            share = stolen_s / elapsed_s / before.cores
            sides[1]["CPU time taken by the hypervisor meanwhile"] = units.percent(share)
    return [
        StateRow(what, *(side.get(what, "-") for side in sides))
        for what in dict.fromkeys([*sides[0], *sides[1]])
    ]


def _described(state: MachineActivity, cores: int) -> dict[str, str]:
    used_bytes = state.memory_used_bytes
    used = units.percent(used_bytes / state.memory_bytes)
    interfaces = {
        f"through {name}, received and sent": f"{units.rate(rates.received)} and {units.rate(rates.sent)}"
        for name, rates in state.interfaces_bps.items()
        if rates.received or rates.sent
    }
    return {
        f"load average of 1, 5 and 15 min on {cores} cores": ", ".join(map(units.number, state.load_average)),
        "memory in use": f"{units.quantity(used_bytes, 'B')} ({used})",
        "swap in use": units.quantity(state.swap_used_bytes, "B"),
        "processes": units.count(state.processes),
        **interfaces,
    }
