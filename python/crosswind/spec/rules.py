"""What must hold inside a condition: rules that a single value cannot show.

Each rule works on plain values and yields what it finds with the path inside the condition, so that the same
rules serve a condition written in a file, one of the catalogue, and a step of a timeline.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from crosswind.spec.base import SpecModel
from crosswind.spec.condition import PLACES, Interference, Normal, NormalLaw, Pair
from crosswind.spec.document import Path
from crosswind.spec.draft import items, sound, sound_field, value_at
from crosswind.spec.element import Delay, Element, Mark, Police, Queue, Schedule, Shape
from crosswind.spec.nearest import did_you_mean
from crosswind.spec.quantities import DSCP_NAMES, Intensity, PositiveDuration, shown
from crosswind.spec.scale import scaled, unscaled

Finding = tuple[Path, str]

_MODELS: dict[str, type[SpecModel]] = {
    "police": Police,
    "shape": Shape,
    "mark": Mark,
    "delay": Delay,
    "schedule": Schedule,
}
_SCHEDULED_PLACES = ("host.egress", "switch.egress")


@dataclass(frozen=True)
class Setting:
    """What a condition meets. None: not known (the file is unsound there, or the condition stands alone)."""

    hosts: list[str] | None = None
    nodes: dict[str, str] | None = None
    mtu_bytes: int | None = None
    scale: float = 1.0
    uplink_bps: int | None = None  # As written.
    uplink_unlimited: bool = False
    measured_ns: int | None = None  # How long a trial is measured.


def condition_findings(data: Any, setting: Setting) -> Iterator[Finding]:
    """Yield what is wrong with a condition beyond its single values."""
    yield from _places_findings(data, (), setting)
    yield from _interference_findings(data, setting)
    instants: dict[int, str] = {}
    for path, _ in items(data, "at"):
        at_ns = sound(PositiveDuration, path[-1])
        if at_ns is None:
            continue
        if at_ns in instants:
            yield path, f'is the same instant as "{instants[at_ns]}"; keep one of them'
        instants[at_ns] = str(path[-1])
        if setting.measured_ns is not None and at_ns >= setting.measured_ns:
            measured_s = setting.measured_ns / 1e9
            yield path, f"would never come: a trial is measured for {measured_s:g}s; make its duration longer"
        yield from _places_findings(data, path, setting)


def _places_findings(data: Any, prefix: Path, setting: Setting) -> Iterator[Finding]:
    for place in PLACES:
        schedules: list[tuple[Path, Schedule]] = []
        for path, raw in items(data, *prefix, place):
            for word in _MODELS:
                if value_at(raw, word) is not None:
                    yield from _element_findings(place, word, (*path, word), raw[word], setting)
            element = sound(Element, raw)
            if element is not None and element.schedule is not None:
                schedules.append((path, element.schedule))
        for (_, first), (path, second) in combinations(schedules, 2):
            if first.on is None or second.on is None or set(first.on) & set(second.on):
                yield (*path, "schedule"), "is a second scheduler for the same link; a link has one"


def _element_findings(place: str, word: str, path: Path, raw: Any, setting: Setting) -> Iterator[Finding]:
    yield from _on_findings(place, word, path, raw, setting)
    for size in ("burst", "buffer"):
        yield from _size_findings(_MODELS[word], size, path, raw, setting)
    if word != "schedule":
        return
    if place not in _SCHEDULED_PLACES:
        yield path, f"cannot be at {place}, where no link is; move it to {' or '.join(_SCHEDULED_PLACES)}"
    yield from _queue_findings(path, raw, setting)


def _on_findings(place: str, word: str, path: Path, raw: Any, setting: Setting) -> Iterator[Finding]:
    if setting.hosts is None or setting.nodes is None:
        return
    # A scheduler sits in front of the host's link, which the host's nodes share.
    hosts_only = not place.startswith("host.") or word == "schedule"
    known = setting.hosts if hosts_only else [*setting.nodes, *setting.hosts]
    noun = "host" if hosts_only else "node or host"
    for item_path, name in items(raw, "on"):
        if isinstance(name, str) and name not in known:
            remedy = did_you_mean(name, known) or f"there are {', '.join(known)}"
            yield (*path, *item_path), f'"{name}" is not a {noun}; {remedy}'


def _size_findings(
    model: type[SpecModel], key: str, path: Path, raw: Any, setting: Setting
) -> Iterator[Finding]:
    attribute = f"{key}_bytes"
    if attribute not in model.model_fields or setting.mtu_bytes is None:
        return
    size_bytes = sound_field(model, attribute, raw)
    if isinstance(size_bytes, int) and scaled(size_bytes, setting.scale) < setting.mtu_bytes:
        yield (*path, key), too_small(value_at(raw, key), size_bytes, setting.mtu_bytes, setting.scale)


def too_small(text: object, size_bytes: int, mtu_bytes: int, scale: float) -> str:
    """Say that a burst or buffer cannot hold one packet."""
    after = "" if scale == 1 else f" (scaled by {scale:g}: {scaled(size_bytes, scale)}B)"
    least_bytes = unscaled(mtu_bytes, scale)
    return f"{shown(text)}{after} is smaller than one packet of {mtu_bytes}B; write at least {least_bytes}B"


def _queue_findings(path: Path, raw: Any, setting: Setting) -> Iterator[Finding]:
    by = sound_field(Schedule, "by", raw)
    defaults, taken = 0, dict[int, int]()
    queues = items(raw, "queues")
    for queue_path, queue in queues:
        where = (*path, *queue_path)
        if value_at(queue, "dscp") == "default":
            defaults += 1
        for dscp_path, value in items(queue, "dscp"):
            dscp = value if isinstance(value, int) else DSCP_NAMES.get(str(value).upper(), -1)
            if dscp in taken:
                yield (
                    (*where, *dscp_path),
                    f"{shown(value)} is already in queue {taken[dscp] + 1}; a DSCP goes to one queue",
                )
            elif dscp >= 0:
                taken[dscp] = int(queue_path[-1])
        if by == "strict" and value_at(queue, "weight") is not None:
            yield (*where, "weight"), "has no meaning under strict; remove it, or schedule by wrr or drr"
        if by in ("wrr", "drr") and isinstance(queue, dict) and queue.get("weight") is None:
            yield where, f"needs a weight under {by}; add weight: 1 or more"
        yield from _size_findings(Queue, "buffer", where, queue, setting)
    if queues and defaults != 1:
        yield (
            (*path, "queues"),
            f"{defaults or 'none'} with dscp: default; exactly one takes all others",
        )


def _interference_findings(data: Any, setting: Setting) -> Iterator[Finding]:
    many = isinstance(value_at(data, "interference"), list)
    entries = items(data, "interference") if many else [(("interference",), value_at(data, "interference"))]
    pairs: set[frozenset[str]] = set()
    for path, raw in entries:
        for pair_path, text in items(raw, "between"):
            pair = sound(Pair, text)
            if pair is None:
                continue
            where = (*path, *pair_path)
            if pair[0] == pair[1]:
                yield (
                    where,
                    f'"{text}" names one host twice; interference crosses the switch between two hosts',
                )
            elif frozenset(pair) in pairs:
                yield (
                    where,
                    f'"{text}" is a second interference between the same hosts; write their sum as one',
                )
            pairs.add(frozenset(pair))
            for host in dict.fromkeys(pair):
                if setting.hosts is not None and host not in setting.hosts:
                    remedy = did_you_mean(host, setting.hosts) or f"hosts are {', '.join(setting.hosts)}"
                    yield where, f'"{text}": host {host} does not exist; {remedy}'
        yield from _rate_findings(path, raw, setting)
        hold_ns, pacing_ns = (
            sound_field(Interference, "hold_ns", raw),
            sound_field(Interference, "pacing_ns", raw),
        )
        if hold_ns is not None and pacing_ns is not None and pacing_ns > hold_ns:
            yield path, "pacing is longer than hold; a draw must hold for one burst at least"


def _rate_findings(path: Path, raw: Any, setting: Setting) -> Iterator[Finding]:
    rate = sound_field(Interference, "rate", raw)
    where = (*path, "rate")
    if isinstance(rate, Intensity) and not (rate.rate_bps or rate.share):
        yield where, "is zero; leave the interference out"
    law = rate.normal if isinstance(rate, NormalLaw) else None
    if law is not None and _above(law.low, law.high, setting.uplink_bps):
        yield (*where, "normal"), "low is above high; exchange them"
    if setting.uplink_unlimited:
        parts = [rate] if isinstance(rate, Intensity) else _intensities(law)
        if any(part.share for part in parts):
            yield where, "is a share of an unlimited uplink; write it in bit/s, or give the uplink a rate"


def _intensities(law: Normal | None) -> list[Intensity]:
    return [] if law is None else [law.mean, law.sd, law.low, law.high]


def _above(low: Intensity, high: Intensity, uplink_bps: int | None) -> bool:
    """Compare where both are known; a share of an unknown uplink is compared with shares only."""
    if uplink_bps is not None:
        return low.of(uplink_bps) > high.of(uplink_bps)
    if low.rate_bps is not None and high.rate_bps is not None:
        return low.rate_bps > high.rate_bps
    return low.share is not None and high.share is not None and low.share > high.share
