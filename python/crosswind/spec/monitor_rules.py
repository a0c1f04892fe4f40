"""What must hold of a monitor beyond its single values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from crosswind.spec.document import Path
from crosswind.spec.draft import items, sound, sound_field, value_at
from crosswind.spec.monitor import MATCHES_MAX, QUEUE_QUANTITIES, SHORTEST_WINDOW_NS, Match, Monitor
from crosswind.spec.nearest import did_you_mean
from crosswind.spec.quantities import shown
from crosswind.spec.setting import Finding, Setting

_PLACES_BEFORE_A_LINK = ("host.egress", "link", "switch.egress")
_QUEUES = ("shape", "credit")  # Elements in which packets wait.


def monitor_findings(place: str, raw: Any, setting: Setting) -> Iterator[Finding]:
    """Yield what is wrong inside one monitor, with the path in it."""
    window_ns = sound_field(Monitor, "window_ns", raw)
    if isinstance(window_ns, int) and window_ns < SHORTEST_WINDOW_NS:
        text = shown(value_at(raw, "window"))
        yield ("window",), f"{text} is too short to count in; write at least 100us"
    named: list[object] = []
    for path, what in items(raw, "what"):
        if what in named:
            yield path, f"{shown(what)} is given twice; each quantity is measured once"
        named.append(what)
        if what == "rtt" and place != "link":
            yield (
                path,
                f"{shown(what)} needs both directions, which pass only at link; move the monitor there",
            )
        if what == "utilisation" and setting.uplink_unlimited:
            remedy = "give the uplink a rate, or measure packet-rate"
            yield path, f"{shown(what)} of an unlimited uplink is not defined; {remedy}"
    for key in ("match", "start"):
        for end in ("from", "to"):
            name = value_at(raw, key, end)
            if setting.nodes is not None and isinstance(name, str) and name not in setting.nodes:
                remedy = did_you_mean(name, list(setting.nodes)) or f"nodes are {', '.join(setting.nodes)}"
                yield (key, end), f"{shown(name)} is no node; {remedy}"
    start_ns = sound_field(Monitor, "start", raw)
    measured_ns = setting.measured_ns
    if isinstance(start_ns, int) and measured_ns is not None and start_ns >= measured_ns:
        measured_s = measured_ns / 1e9
        yield ("start",), f"would never come: a trial is measured for {measured_s:g}s; start earlier"


def queue_behind_findings(place: str, elements: Sequence[tuple[Path, Any]]) -> Iterator[Finding]:
    """Yield monitors that ask for a queue where none stands behind them.

    Args:
        elements: the elements of the place in their order, as they are written, each with its path.
    """
    if place in _PLACES_BEFORE_A_LINK:
        return
    for position, (path, raw) in enumerate(elements):
        for what_path, what in items(raw, "monitor", "what"):
            behind = [entry for _, entry in elements[position + 1 :]]
            if what in QUEUE_QUANTITIES and not any(
                _queues(entry, value_at(raw, "monitor")) for entry in behind
            ):
                remedy = f"put a shape or credit behind it, or move it to {', '.join(_PLACES_BEFORE_A_LINK)}"
                yield (*path, *what_path), f"{shown(what)} needs a queue behind the monitor; {remedy}"


def too_many_matches(elements: Iterable[tuple[Path, Any]]) -> Iterator[Finding]:
    """Yield the monitor whose match by headers is one too many for a condition.

    Args:
        elements: all elements of the condition, those of its timeline included, each with its path.
    """
    different: set[frozenset[tuple[str, object]]] = set()
    for path, raw in elements:
        for key in ("match", "start"):
            match = sound(Match, value_at(raw, "monitor", key))
            keys = match.header_keys() if match is not None else frozenset()
            if not keys or keys in different:
                continue
            different.add(keys)
            if len(different) == MATCHES_MAX + 1:
                yield (
                    (*path, "monitor", key),
                    f"is one more than the {MATCHES_MAX} different sets of nodes, protocol and ports "
                    "that a condition has room for; use fewer",
                )


def _queues(entry: Any, monitor: Any) -> bool:
    """Whether packets wait in `entry` wherever `monitor` stands."""
    given = next((value_at(entry, word) for word in _QUEUES if value_at(entry, word) is not None), None)
    return given is not None and value_at(given, "on") in (None, value_at(monitor, "on"))
