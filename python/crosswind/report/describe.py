"""Describe a resolved condition in words: what happens to packets at each place, with units."""

from pydantic import JsonValue

from crosswind.spec.resolved import (
    Parameters,
    Places,
    ResolvedCondition,
    ResolvedInterference,
    SentReplay,
)
from crosswind.spec.resolved import number as whole
from crosswind.text.units import duration, number, rate

# A trace has up to a million points; a table has room for a few.
_LIST_MAX = 12


def describe(condition: ResolvedCondition) -> list[tuple[str, str]]:
    """Return (place, what happens there) for a condition; empty for one that does nothing to packets."""
    rows = _places(condition.places)
    for flow in condition.interference:
        pair = " and ".join(flow.between)
        rows.append(("interference", f"{flow.by} between {pair}, {_flow(flow)}"))
    for step in condition.timeline:
        instant = duration(step.at_ns)
        rows += [(f"at {instant}, {place}", text) for place, text in _places(step.places)]
        rows += [(f"at {instant}", ", ".join(step.faults))] if step.faults else []
    return rows


def _flow(flow: ResolvedInterference) -> str:
    if isinstance(flow.arrivals, SentReplay):
        replay = flow.arrivals.replay
        again = "repeatedly" if replay.repeat else "once"
        return f"a replay of {len(replay.packets)} packets {again}, dscp {flow.dscp}"
    given = flow.as_json()
    details = {key: value for key, value in given.items() if key not in ("between", "by", "rate")}
    return f"{_named(given['rate'])}, {_named(_present(details))}"


def _present(value: JsonValue) -> JsonValue:
    """Return a mapping without absent values: no `tcp` never backs off, no shape is exponential."""
    if not isinstance(value, dict):
        return value
    return {key: _present(member) for key, member in value.items() if member is not None}


def _places(places: Places) -> list[tuple[str, str]]:
    rows = []
    for place, elements in places.items():
        texts = [
            f"{name} ({_monitored(with_) if name == 'monitor' else _named(with_)})"
            for element in elements
            for name, with_ in element.items()
        ]
        rows.append((place, ", then ".join(texts) or "nothing"))
    return rows


def _monitored(monitor: Parameters) -> str:
    """Return what a monitor measures, and the packets unless it is all of them."""
    quantities = monitor["what"]
    if not isinstance(quantities, list):
        raise ValueError("a monitor measures a list of quantities")
    text = f"{', '.join(map(str, quantities))}; window {duration(whole(monitor, 'window_ns'))}"
    if monitor.get("match"):
        text += f"; only {_named(monitor['match'])}"
    if monitor.get("start") not in (None, {"after_ns": 0}):
        text += f"; from {_named(monitor['start'])} on"
    return text


def _named(value: JsonValue, key: str = "") -> str:
    """Return a quantity with the unit at the end of its name, and nested ones with their names."""
    if isinstance(value, dict):
        return ", ".join(f"{_without_unit(name)} {_named(member, name)}" for name, member in value.items())
    if isinstance(value, list):
        if len(value) > _LIST_MAX:
            first, last = (_named(value[index], key) for index in (0, -1))
            return f"{first} to {last} ({len(value)} values)"
        texts = [_named(member, key) for member in value]
        return "; ".join(texts) if any(isinstance(member, dict) for member in value) else " ".join(texts)
    if value is None:
        return "any other" if key == "dscp" else "unlimited"
    if isinstance(value, str):
        return value
    if key.endswith("_bps"):
        return rate(value)
    if key.endswith("_ns"):
        return duration(value)
    if key.endswith("_bytes"):
        return f"{number(value / 1000)} kB" if value >= 10_000 else f"{value} B"
    return str(value)


def _without_unit(name: str) -> str:
    for unit in ("_bps", "_bytes", "_ns"):
        name = name.removesuffix(unit)
    return name.replace("_", " ")
