"""A resolved condition in words: what is done to packets, place by place, with quantities that have units."""

from typing import Any

from crosswind.report.units import duration, number, rate


def describe(condition: dict[str, Any]) -> list[tuple[str, str]]:
    """Return (place, what happens there) for a condition of resolved.json; [] for one that leaves packets "
    "alone."""
    rows = _places(condition.get("places") or {})
    for flow in condition.get("interference") or []:
        pair = " and ".join(flow.get("between") or [])
        details = {key: value for key, value in flow.items() if key not in ("between", "by", "rate")}
        rows.append(
            (
                "interference",
                f"{flow.get('by')} between {pair}, {_named(flow.get('rate'))}, {_named(details)}",
            )
        )
    for change in condition.get("timeline") or []:
        instant = duration(change.get("at_ns"))
        rows += [(f"at {instant}, {place}", text) for place, text in _places(change.get("places") or {})]
    return rows


def _places(places: dict[str, Any]) -> list[tuple[str, str]]:
    rows = []
    for place, elements in places.items():
        texts = [f"{name} ({_named(with_)})" for element in elements for name, with_ in element.items()]
        rows.append((place, ", then ".join(texts) or "nothing"))
    return rows


def _named(value: Any, key: str = "") -> str:
    """Return a quantity by the unit at the end of its name, and nested ones with their names."""
    if isinstance(value, dict):
        return ", ".join(f"{_without_unit(name)} {_named(member, name)}" for name, member in value.items())
    if isinstance(value, list):
        texts = [_named(member) for member in value]
        return "; ".join(texts) if any(isinstance(member, dict) for member in value) else " ".join(texts)
    if value is None:
        return "any other" if key == "dscp" else "unlimited"
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
