"""Values that a user moves by hand: as a condition in the form of a file, and all moves as a timeline."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import pairwise
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from crosswind.results.measurement import DRAG_NS
from crosswind.spec.network import Network
from crosswind.text.quantities import memory_text, moment_text, rate_text, time_text

BY_HAND = "by-hand"
_MOVES_MAX = 500

_TIMES = (("s", 10**6), ("ms", 10**3), ("us", 1))
_RATES = (("Gbit/s", 10**9), ("Mbit/s", 10**6), ("kbit/s", 10**3), ("bit/s", 1))
_SIZES = (("MB", 10**6), ("kB", 10**3), ("B", 1))
_PLAIN = re.compile(r"[0-9.]+(us|ms|s|%|[kMG]?bit/s|[kM]?B)")

Slider = Literal["delay_us", "jitter_us", "loss_ppm", "rate_bps", "buffer_bytes"]
Place = Literal["hosts", "trunks"]
# A condition in the form of a file: elements by place.
Places = dict[str, JsonValue]


class Moved(BaseModel):
    """One slider at one value.

    Attributes:
        place: links between hosts and their switches, or links between switches.
        on: one host, both directions of its link; or one link between switches. None is all of that place.
        value: None leaves it as the topology has it, or as all of that place have it.
    """

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    place: Place
    on: str | None
    slider: Slider
    value: int | None = Field(ge=0, le=10**12)


@dataclass(frozen=True)
class Values:
    """Where the sliders of one place stand; None is not moved."""

    delay_us: int | None = None
    jitter_us: int | None = None
    loss_ppm: int | None = None
    rate_bps: int | None = None
    buffer_bytes: int | None = None

    def over(self, others: Values) -> Values:
        """Return these values, and those of `others` where there is none."""
        return Values(*(getattr(others, key) if own is None else own for key, own in vars(self).items()))


@dataclass(frozen=True)
class Move:
    """What a user did, and when it became active.

    Attributes:
        places: the condition by hand after it, in the form of a file; None where a named one was chosen.
        of: the slider that was moved.
    """

    at_ns: int
    words: str
    places: Places | None = None
    of: tuple[Place, str | None, Slider] | None = None


@dataclass
class Hand:
    """Where all sliders stand, and how they came there."""

    network: Network
    values: dict[tuple[Place, str | None], Values] = field(default_factory=dict)
    moves: list[Move] = field(default_factory=list)

    def names(self, place: Place) -> list[str]:
        """Return what `on` may name at a place."""
        return [*self.network.hosts] if place == "hosts" else [link.name for link in self.network.trunks]

    def with_moved(self, moved: Moved) -> dict[tuple[Place, str | None], Values]:
        """Return where all sliders stand after a move."""
        key = (moved.place, moved.on)
        return self.values | {key: replace(self.values.get(key, Values()), **{moved.slider: moved.value})}

    def places(self, values: Mapping[tuple[Place, str | None], Values]) -> Places:
        """Return the condition in the form of a file: elements by place, also where there are none."""
        hosts, trunks = (self._values_of(place, values) for place in ("hosts", "trunks"))
        # What names no link stands at those of hosts alone, but would be refused beside what names another.
        is_named = any(each != Values() for each in trunks.values())
        return {
            "host.egress": [*_queues(hosts, is_named=False)],
            "link": [*_elements(hosts, is_named), *_elements(trunks, is_named=True)],
            "switch.egress": [*_queues(hosts, is_named), *_queues(trunks, is_named=True)],
        }

    def _values_of(
        self, place: Place, values: Mapping[tuple[Place, str | None], Values]
    ) -> dict[str, Values]:
        """Return the values of each link of a place."""
        everywhere = values.get((place, None), Values())
        return {name: values.get((place, name), Values()).over(everywhere) for name in self.names(place)}

    def note(self, move: Move) -> None:
        """Add a move to what was done."""
        last = self.moves[-1] if self.moves else None
        if last and last.of and last.of == move.of and move.at_ns - last.at_ns < DRAG_NS:
            self.moves.pop()
        self.moves = [*self.moves, move][-_MOVES_MAX:]

    def saved(self, now: datetime) -> str:
        """Return the moves since the last named condition as a condition with a timeline, as YAML."""
        moves = self._since_named()
        begun = moves[0].places if moves else {}
        lines = [f"# Moved by hand in the console, {moment_text(now.astimezone(UTC))}.", f"{BY_HAND}:"]
        lines += [f"  summary: {len(moves)} moves by hand"]
        lines += [f"  {place}: {_flow(elements)}" for place, elements in (begun or {}).items() if elements]
        steps = []
        for earlier, move in pairwise(moves):
            before, after = earlier.places or {}, move.places or {}
            changed = {place: elements for place, elements in after.items() if before.get(place) != elements}
            at_ms = move.at_ns // 10**6 - moves[0].at_ns // 10**6
            steps += [f"    {_exact(at_ms * 1000, _TIMES)}: {_flow(changed)}  # {move.words}"] * bool(changed)
        lines += ["  at:", *steps] if steps else []
        return "\n".join(lines) + "\n"

    @property
    def saves(self) -> int:
        """How many moves a file of them would have."""
        return len(self._since_named())

    def _since_named(self) -> list[Move]:
        """Return the moves of sliders since a named condition; of those in one millisecond the last."""
        named = [number for number, move in enumerate(self.moves) if move.places is None]
        moves = self.moves[named[-1] + 1 :] if named else self.moves
        return [*{move.at_ns // 10**6: move for move in moves}.values()]


def words_of(moved: Moved) -> str:
    """Return a move in words, such as `delay of all links of hosts: 20 ms`."""
    all_of = "all links of hosts" if moved.place == "hosts" else "all links between switches"
    where = all_of if moved.on is None else moved.on
    return f"{moved.slider.rpartition('_')[0]} of {where}: {_value_words(moved)}"


def _value_words(moved: Moved) -> str:
    value = moved.value
    if value is None:
        return "as declared" if moved.on is None else "as all"
    if value == 0:
        return "none"
    match moved.slider:
        case "delay_us" | "jitter_us":
            return time_text(value * 1000)
        case "loss_ppm":
            return f"{value / 1e4:g} %"
        case "rate_bps":
            return rate_text(value)
        case "buffer_bytes":
            return memory_text(value)


def _elements(each: Mapping[str, Values], is_named: bool) -> Iterator[dict[str, JsonValue]]:
    """Yield the elements in front of the wires of links; `is_named`: with the links, even if all have it."""
    beside = {} if is_named else each
    for delay in dict.fromkeys((values.delay_us or 0, values.jitter_us or 0) for values in each.values()):
        on = [name for name, it in each.items() if (it.delay_us or 0, it.jitter_us or 0) == delay]
        time_us, jitter_us = delay
        varied = {"jitter": _exact(jitter_us, _TIMES)} if jitter_us else {}
        if time_us or jitter_us:
            yield _element("delay", {"time": _exact(time_us, _TIMES), **varied}, on, beside)
    for ppm in dict.fromkeys(values.loss_ppm for values in each.values() if values.loss_ppm):
        on = [name for name, it in each.items() if it.loss_ppm == ppm]
        yield _element("lose", {"bernoulli": f"{ppm / 1e4:g}%"}, on, beside)
    for bps in dict.fromkeys(values.rate_bps for values in each.values() if values.rate_bps is not None):
        on = [name for name, it in each.items() if it.rate_bps == bps]
        yield _element("capacity", {"steps": {"0s": _exact(bps, _RATES)}}, on, beside)


def _queues(each: Mapping[str, Values], is_named: bool) -> Iterator[dict[str, JsonValue]]:
    """Yield the queues in front of links whose buffer was moved."""
    beside = {} if is_named else each
    for size in dict.fromkeys(it.buffer_bytes for it in each.values() if it.buffer_bytes is not None):
        on = [name for name, it in each.items() if it.buffer_bytes == size]
        yield _element("queue", {"buffer": _exact(size, _SIZES)}, on, beside)


def _element(
    kind: str, parameters: dict[str, JsonValue], on: Sequence[str], all_names: Mapping[str, Values]
) -> dict[str, JsonValue]:
    restricted: dict[str, JsonValue] = {} if len(on) == len(all_names) else {"on": [*on]}
    return {kind: {**parameters, **restricted}}


def _exact(value: int, units: Sequence[tuple[str, int]]) -> str:
    """Return a quantity in the largest unit in which it is a whole number."""
    unit, factor = next((it for it in units if value and value % it[1] == 0), units[-1])
    return f"{value // factor}{unit}"


def _flow(value: JsonValue) -> str:
    """Return a value as YAML on one line."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_flow, value)) + "]"
    return value if isinstance(value, str) and _PLAIN.fullmatch(value) else json.dumps(value)
