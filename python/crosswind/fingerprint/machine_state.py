"""What the machines of a fingerprint did and were, before and after, and what somebody changed meanwhile.

What a machine does beside (load, memory, what passes its interfaces) moves all the time, and is set side by
side. What it is (kernel, sysctls, interface, the settings of a connection) stays, and each difference is
named: somebody changed it while it was measured.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from crosswind.analysis.network.figures import at
from crosswind.text import units
from crosswind.text.html_file import flat

# What is another at every look, and the answer of a cloud, which is asked once.
_MOVES = ("time", "state.", "connection.handshake_rtt_us", "cloud")
_MOVES_IN_PROVENANCE = ("time", "steal_s", "load_average", "memory_available_bytes")


@dataclass(frozen=True)
class StateRow:
    """What a machine did in one respect, in words; `-` where nobody looked, or nothing passed."""

    what: str
    before: str
    after: str


@dataclass(frozen=True)
class MachineState:
    """One machine: what it is called, and what it did."""

    name: str
    rows: list[StateRow]


def states(document: Mapping[str, Any]) -> list[MachineState]:
    """Return what each machine did; one where both ends share it, none where nobody looked."""
    seen = {end: _looks(document, end) for end in _ends(document)}
    places = {"here": seen["here"]} if "here" in seen else seen
    return [
        MachineState(_named(end, before["host"]), _rows(before, after))
        for end, (before, after) in places.items()
    ]


def changes(document: Mapping[str, Any]) -> list[str] | None:
    """Return what differs afterwards and should not, each in words; None where nobody looked afterwards."""
    looks = [(_named(end), *_looks(document, end), _MOVES) for end in _ends(document)]
    provenances = document["provenance"], document.get("provenance_after")
    looks.append(("the machine that measured", *provenances, _MOVES_IN_PROVENANCE))
    found = [
        _changed(name, before, after, moves) for name, before, after, moves in looks if after is not None
    ]
    return [change for each in found for change in each] if found else None


def _changed(
    name: str, before: Mapping[str, Any], after: Mapping[str, Any], moves: tuple[str, ...]
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


def _ends(document: Mapping[str, Any]) -> list[str]:
    return [end for end in ("near", "far", "here") if at(document, "machines", "before", end)]


def _looks(document: Mapping[str, Any], end: str) -> tuple[Mapping[str, Any], Mapping[str, Any] | None]:
    return document["machines"]["before"][end], at(document, "machines", "after", end)


def _named(end: str, host: str = "") -> str:
    name = "the machine of both ends" if end == "here" else f"the {end} end"
    return f"{name}, {host}" if host else name


def _rows(before: Mapping[str, Any], after: Mapping[str, Any] | None) -> list[StateRow]:
    sides = [before["state"], None if after is None else after["state"]]
    told = [{} if state is None else _told(state, before["cores"]) for state in sides]
    if after is not None:
        elapsed_s = after["state"]["uptime_s"] - before["state"]["uptime_s"]
        stolen_s = after["state"]["steal_s"] - before["state"]["steal_s"]
        # A machine that was started anew counts from zero again.
        if elapsed_s > 0:
            told[1]["taken by the hypervisor meanwhile"] = units.percent(
                stolen_s / elapsed_s / before["cores"]
            )
    return [
        StateRow(what, *(side.get(what, "-") for side in told))
        for what in dict.fromkeys([*told[0], *told[1]])
    ]


def _told(state: Mapping[str, Any], cores: int) -> dict[str, str]:
    used_bytes = state["memory_bytes"] - state["memory_available_bytes"]
    used = units.percent(used_bytes / state["memory_bytes"])
    interfaces = {
        f"through {name}, received and sent": " and ".join(
            units.rate(rates[way]) for way in ("received", "sent")
        )
        for name, rates in state["interfaces_bps"].items()
        if any(rates.values())
    }
    return {
        f"load of 1, 5 and 15 min on {cores} cores": ", ".join(
            units.number(load) for load in state["load_average"]
        ),
        "memory in use": f"{units.quantity(used_bytes, 'B')} ({used})",
        "swap in use": units.quantity(state["swap_used_bytes"], "B"),
        "processes": units.count(state["processes"]),
        **interfaces,
    }
