"""Rules inside a condition, which need more than one value.

Each rule reads plain values and yields its findings with the path inside the condition. So the same rules
work for a condition in a file, a condition of the catalogue, and a step of a timeline.
"""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import JsonValue

from crosswind.spec.addresses import direction_findings, on_findings, place_findings, with_links
from crosswind.spec.document import Path
from crosswind.spec.draft import items, sound, sound_field, value_at
from crosswind.spec.element_kind import KINDS, ElementKind
from crosswind.spec.faults.nemesis_rules import nemesis_findings
from crosswind.spec.faults.rules import fault_findings
from crosswind.spec.interference_rules import interference_findings
from crosswind.spec.places import PLACES, elements_at, is_by_name
from crosswind.spec.quantities import TIME
from crosswind.spec.setting import Finding, Setting
from crosswind.spec.short_form import condition_in_full
from crosswind.spec.together import queue_behind_findings, second_findings


def condition_findings(data: JsonValue, setting: Setting) -> Iterator[Finding]:
    """Yield what is wrong with a condition besides its single values."""
    data = condition_in_full(data)
    yield from _places_findings(data, (), setting)
    yield from interference_findings(data, setting)
    yield from fault_findings(data, setting)
    yield from nemesis_findings(data, setting)
    instants: dict[int, str] = {}
    measured_ns = setting.tested.measured_ns
    for path, _ in items(data, "at"):
        at_ns = sound(TIME.read_positive, path[-1])
        if at_ns is None:
            continue
        if at_ns in instants:
            yield path, f'is the same time as "{instants[at_ns]}"; remove one of the two'
        instants[at_ns] = str(path[-1])
        if measured_ns is not None and at_ns >= measured_ns:
            measured_s = measured_ns / 1e9
            yield (
                path,
                f"would never happen: a trial is measured for {measured_s:g}s; make its duration longer",
            )
        yield from _places_findings(data, path, setting)


def _places_findings(data: JsonValue, prefix: Path, setting: Setting) -> Iterator[Finding]:
    for place in PLACES:
        yield from place_findings(data, (*prefix, place), place, setting)
        elements, by_name = elements_at(data, *prefix, place), is_by_name(data, *prefix, place)
        for path, raw in elements:
            for word, kind in KINDS.items():
                if (element := value_at(raw, word)) is not None:
                    yield from _element_findings(kind, (*path, word), element, place, by_name, setting)
        elements = with_links(elements, place, setting)
        yield from queue_behind_findings(place, elements)
        yield from second_findings(elements)


def _element_findings(
    kind: ElementKind, path: Path, raw: JsonValue, place: str, is_by_name: bool, setting: Setting
) -> Iterator[Finding]:
    local = setting.at(place, sound_field(kind.model, "on", raw))
    yield from direction_findings(path, raw, place, local)
    if not is_by_name:
        yield from on_findings(path, raw, place, kind.description.where == "port", local)
    for inner, message in kind.findings(raw, place, local):
        yield (*path, *inner), message
