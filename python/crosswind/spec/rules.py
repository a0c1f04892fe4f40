"""What must hold inside a condition: rules that a single value cannot show.

Each rule works on plain values and yields what it finds with the path inside the condition, so that the same
rules serve a condition written in a file, one of the catalogue, and a step of a timeline.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

from crosswind.spec.base import SpecModel
from crosswind.spec.capacity import Capacity
from crosswind.spec.capacity_rules import capacity_findings, second_capacity_findings
from crosswind.spec.condition import PLACES
from crosswind.spec.credit import Credit, credit_findings
from crosswind.spec.delay import Delay
from crosswind.spec.document import Path
from crosswind.spec.draft import items, sound, sound_field, value_at
from crosswind.spec.element import Element, Mark, Police, Schedule, Shape
from crosswind.spec.impairment import Corrupt, Duplicate, Reorder
from crosswind.spec.interference_rules import interference_findings
from crosswind.spec.loss import Lose
from crosswind.spec.meter import Srtcm, Trtcm, srtcm_findings, trtcm_findings
from crosswind.spec.monitor import Monitor
from crosswind.spec.monitor_rules import monitor_findings, queue_behind_findings, too_many_matches
from crosswind.spec.nearest import did_you_mean
from crosswind.spec.pace import Pace
from crosswind.spec.quantities import DSCP_NAMES, PositiveDuration, shown
from crosswind.spec.queue import Queue, ScheduledQueue
from crosswind.spec.queue_rules import Emptied, memory_findings, queue_findings, too_small
from crosswind.spec.scale import scaled
from crosswind.spec.setting import Finding, Setting

_MODELS: dict[str, type[SpecModel]] = {
    "police": Police,
    "shape": Shape,
    "credit": Credit,
    "pace": Pace,
    "srtcm": Srtcm,
    "trtcm": Trtcm,
    "mark": Mark,
    "delay": Delay,
    "lose": Lose,
    "duplicate": Duplicate,
    "corrupt": Corrupt,
    "reorder": Reorder,
    "monitor": Monitor,
    "queue": Queue,
    "schedule": Schedule,
    "capacity": Capacity,
}
_OF_A_LINK = ("queue", "schedule")  # They replace the FIFO in front of a link.
_LINK_PLACES = ("host.egress", "switch.egress")


def condition_findings(data: Any, setting: Setting) -> Iterator[Finding]:
    """Yield what is wrong with a condition beyond its single values."""
    yield from _places_findings(data, (), setting)
    yield from too_many_matches(_elements(data))
    yield from interference_findings(data, setting)
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


def _elements(data: Any) -> Iterator[tuple[Path, Any]]:
    """Yield every element of a condition, those of its timeline included."""
    for prefix in [(), *(path for path, _ in items(data, "at"))]:
        for place in PLACES:
            yield from items(data, *prefix, place)


def _places_findings(data: Any, prefix: Path, setting: Setting) -> Iterator[Finding]:
    for place in PLACES:
        queued: list[tuple[Path, Queue | Schedule]] = []
        for path, raw in items(data, *prefix, place):
            for word in _MODELS:
                if value_at(raw, word) is not None:
                    yield from _element_findings(place, word, (*path, word), raw[word], setting)
            element = sound(Element, raw)
            if element is not None and isinstance(element.given, Queue | Schedule):
                queued.append(((*path, element.word), element.given))
        yield from queue_behind_findings(place, items(data, *prefix, place))
        for (_, first), (path, second) in combinations(queued, 2):
            if first.on is None or second.on is None or set(first.on) & set(second.on):
                yield path, "is a second queue or scheduler for the same link; a link has one"
        yield from second_capacity_findings(items(data, *prefix, place))


def _element_findings(place: str, word: str, path: Path, raw: Any, setting: Setting) -> Iterator[Finding]:
    yield from _on_findings(place, word, path, raw, setting)
    for size in ("burst", "buffer", "cbs", "ebs", "pbs"):
        yield from _size_findings(_MODELS[word], size, path, raw, setting)
    for inner, message in _findings_inside(place, word, raw, setting):
        yield (*path, *inner), message
    if word in _OF_A_LINK and place not in _LINK_PLACES:
        yield path, f"cannot be at {place}, where no link is; move it to {' or '.join(_LINK_PLACES)}"
    if word == "shape":
        rate_bps, unlimited = sound_field(Shape, "rate_bps", raw), value_at(raw, "rate") == "unlimited"
        yield from queue_findings(Shape, path, raw, _emptied(rate_bps, unlimited, setting))
    if word == "credit":
        # A time counts at the low rate, so that what waits never needs longer.
        emptied_bps = sound_field(Credit, "low_bps", raw)
        yield from queue_findings(Credit, path, raw, _emptied(emptied_bps, False, setting))
    if word == "queue":
        yield from queue_findings(Queue, path, raw, _link(setting))
        yield from memory_findings(path, raw, [((), raw)], _link(setting))
    if word == "capacity":
        yield from capacity_findings(place, path, raw)
    if word == "schedule":
        yield from _schedule_findings(path, raw, setting)
        yield from memory_findings(path, raw, items(raw, "queues"), _link(setting))


def _link(setting: Setting) -> Emptied:
    return _emptied(setting.uplink_bps, setting.uplink_unlimited, setting)


def _emptied(rate_bps: int | None, unlimited: bool, setting: Setting) -> Emptied:
    return Emptied(rate_bps, unlimited, setting.mtu_bytes, setting.scale)


def _findings_inside(place: str, word: str, raw: Any, setting: Setting) -> Iterator[Finding]:
    """Yield what is wrong between the parameters of one element, with the path inside it."""
    match word:
        case "srtcm":
            yield from srtcm_findings(raw)
        case "trtcm":
            yield from trtcm_findings(raw)
        case "credit":
            yield from credit_findings(raw, setting.mtu_bytes, setting.scale)
        case "monitor":
            yield from monitor_findings(place, raw, setting)


def _on_findings(place: str, word: str, path: Path, raw: Any, setting: Setting) -> Iterator[Finding]:
    if setting.hosts is None or setting.nodes is None:
        return
    # A queue sits in front of the host's link, which the host's nodes share.
    hosts_only = not place.startswith("host.") or word in _OF_A_LINK
    known = setting.hosts if hosts_only else [*setting.nodes, *setting.hosts]
    noun = "host" if hosts_only else "node or host"
    for item_path, name in items(raw, "on"):
        if isinstance(name, str) and name not in known:
            remedy = did_you_mean(name, known) or f"there are {', '.join(known)}"
            yield (*path, *item_path), f"{shown(name)} is not a {noun}; {remedy}"


def _size_findings(
    model: type[SpecModel], key: str, path: Path, raw: Any, setting: Setting
) -> Iterator[Finding]:
    attribute = f"{key}_bytes"
    if attribute not in model.model_fields or setting.mtu_bytes is None:
        return
    size_bytes = sound_field(model, attribute, raw)
    if not isinstance(size_bytes, int) or size_bytes == 0:  # Where zero is allowed it is meant.
        return
    if scaled(size_bytes, setting.scale) < setting.mtu_bytes:
        yield (*path, key), too_small(value_at(raw, key), size_bytes, setting.mtu_bytes, setting.scale)


def _schedule_findings(path: Path, raw: Any, setting: Setting) -> Iterator[Finding]:
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
            yield (
                (*where, "weight"),
                "has no meaning under strict; remove it, or use wrr, drr or stfq",
            )
        if by in ("wrr", "drr", "stfq") and isinstance(queue, dict) and queue.get("weight") is None:
            yield where, f"needs a weight under {by}; add weight: 1 or more"
        yield from queue_findings(ScheduledQueue, where, queue, _link(setting))
    if queues and defaults != 1:
        yield (
            (*path, "queues"),
            f"{defaults or 'none'} with dscp: default; exactly one takes all others",
        )
