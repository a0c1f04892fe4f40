"""Rules between the elements of a condition: what a link has once, and what needs a queue behind it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pydantic import JsonValue

from crosswind.spec.description import Rule
from crosswind.spec.document import Path
from crosswind.spec.draft import items, sound_field, value_at
from crosswind.spec.element_kind import KINDS
from crosswind.spec.quantities import shown
from crosswind.spec.setting import Finding

_BEFORE_A_LINK = ("host.egress", "link", "wan", "switch.egress")

# Elements as written, each with its path.
_Elements = Sequence[tuple[Path, JsonValue]]


def second_findings(elements: _Elements) -> Iterator[Finding]:
    """Yield elements of one place that a link may have once: a queue or scheduler, or a capacity."""
    taken: dict[str, set[tuple[str | None, str]]] = {}
    for path, raw in elements:
        for word, kind in KINDS.items():
            where = kind.description.where
            element = value_at(raw, word)
            if where == "anywhere" or element is None:
                continue
            links = _links(word, element)
            # A queue and a scheduler both replace the FIFO.
            before = taken.setdefault(where if where == "port" else word, set())
            if any(_same_link(one, other) for one in links for other in before):
                yield (*path, word), _SECOND[where]
            before |= links


_SECOND = {
    "port": "is a second queue or scheduler for the same link; a link has one",
    "link": "is a second one for the same link and direction; a link has one",
}


def _links(word: str, raw: JsonValue) -> set[tuple[str | None, str]]:
    """Return the hosts and directions of an element; the host is None where it is everywhere."""
    model = KINDS[word].model
    on = sound_field(model, "on", raw)
    direction = sound_field(model, "direction", raw) if "direction" in model.model_fields else None
    hosts: list[str | None] = [None] if on is None else list(on)
    return {(host, way) for host in hosts for way in ("up", "down") if direction in (None, way)}


def _same_link(one: tuple[str | None, str], other: tuple[str | None, str]) -> bool:
    return one[1] == other[1] and (one[0] == other[0] or None in (one[0], other[0]))


def queue_behind_findings(place: str, elements: _Elements) -> Iterator[Finding]:
    """Yield words that need a queue behind them, where there is none."""
    if place in _BEFORE_A_LINK:
        return
    *queues, last = [
        word
        for word, kind in KINDS.items()
        if kind.description.queues and kind.description.where == "anywhere"
    ]
    remedy = f"put a {', '.join(queues)} or {last} behind it, or move it to {', '.join(_BEFORE_A_LINK)}"
    behind: list[JsonValue] = []  # The `on` of each queue behind; None: everywhere.
    for path, raw in reversed(elements):
        for word, rule in _needing(raw):
            if None in behind or value_at(raw, word, "on") in behind:
                continue
            for what_path, what in items(raw, word, rule.key):
                if what in rule.words:
                    message = rule.message.replace("{word}", shown(what))
                    yield (*path, *what_path), f"{message}; {remedy}"
        for word in (*queues, last):
            on = value_at(raw, word, "on")
            if value_at(raw, word) is not None and on not in behind:
                behind.append(on)


def _needing(element: JsonValue) -> Iterator[tuple[str, Rule]]:
    """Yield the rules of an element about words that need a queue behind it, each with the element's name."""
    for word, kind in KINDS.items():
        if value_at(element, word) is not None:
            for rule in kind.description.group.rules:
                if rule.predicate == "word_queue":
                    yield word, rule
