"""What a page may change by hand in a network that is up or in that of a trial, and what it gets of that."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Protocol

from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError

from crosswind import catalog
from crosswind.console.moves import BY_HAND, Hand, Move, Moved, Place, Places, Slider, words_of
from crosswind.console.server import Answer, Get, Parameters, Post
from crosswind.console.shown import Shown
from crosswind.errors import CrosswindError
from crosswind.spec import load_catalogue_condition
from crosswind.spec.network import Network

# What a move is about: two of the same that follow each other at once are one. None is a named condition.
Of = tuple[Place, str | None, Slider] | None


class Apply(Protocol):
    """Applies a condition: a name, or elements by place."""

    def __call__(self, condition: str | Places, words: str, of: Of) -> int:
        """Return the instant from which it is active, in ns of CLOCK_MONOTONIC."""


class _Named(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    condition: str


class _Summarised(Shown):
    name: str
    summary: str | None


class _Stands(Shown):
    """Where the sliders of one place stand; None is not moved."""

    place: Place
    on: str | None
    delay_us: int | None
    jitter_us: int | None
    loss_ppm: int | None
    rate_bps: int | None
    buffer_bytes: int | None


class _Did(Shown):
    at_ns: int
    words: str


class _Done(Shown):
    """Where all sliders stand, and what the user did.

    Attributes:
        saves: moves that a file of them would have.
        effective_ns: the instant of the last change.
    """

    values: list[_Stands]
    moves: list[_Did]
    saves: int
    effective_ns: int | None = None


class HandShown(Shown):
    """What the page needs to move a network by hand."""

    scale: JsonValue
    conditions: list[str]
    catalogue: list[_Summarised]
    done: _Done


class ByHand:
    """Takes the moves of a page.

    Args:
        conditions: names that may be applied besides those of the catalogue.
        scale: of rates and buffers.
        apply: changes the network.
        others: conditions that became active otherwise, such as by `crosswind set`; they take the sliders
            back.
    """

    def __init__(
        self,
        network: Network,
        conditions: Sequence[str],
        scale: JsonValue,
        apply: Apply,
        others: Callable[[], Iterable[Move]],
    ) -> None:
        self._hand = Hand(network)
        self._conditions = conditions
        self._scale = scale
        self._apply = apply
        self._others = others
        self._changing = threading.Lock()

    @property
    def get(self) -> Mapping[str, Get]:
        """What may be read."""
        return {"/api/saved": self._saved}

    @property
    def post(self) -> Mapping[str, Post]:
        """What may be changed."""
        return {"/api/set": self._set}

    def shown(self) -> HandShown:
        """Return what the page needs."""
        with self._changing:
            done = self._done()
        return HandShown(
            scale=self._scale,
            conditions=list(self._conditions),
            catalogue=[
                _Summarised(name=name, summary=load_catalogue_condition(name).summary)
                for name in catalog.condition_names()
            ],
            done=done,
        )

    def _saved(self, _: Parameters) -> Answer:
        with self._changing:
            text = self._hand.saved(datetime.now(UTC))
        return Answer(
            text.encode(),
            "application/yaml; charset=utf-8",
            {"Content-Disposition": f'attachment; filename="{BY_HAND}.yaml"'},
        )

    def _set(self, request: JsonValue) -> Answer:
        try:
            if isinstance(request, Mapping) and "condition" in request:
                return self._set_named(_Named.model_validate(request).condition)
            return self._move(Moved.model_validate(request))
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"])) or "request"
            raise CrosswindError(f"{where}: {first['msg']}; reload the page") from None

    def _set_named(self, name: str) -> Answer:
        # `apply` would also read a file of this name; a page names none.
        if name not in self._conditions and name not in catalog.condition_names():
            raise CrosswindError(f"{name}: is no condition of this network or of the catalogue")
        with self._changing:
            words = f"condition {name}"
            effective_ns = self._apply(name, words, None)
            self._hand.values = {}
            self._hand.note(Move(effective_ns, words))
            return Answer.of(self._done(effective_ns))

    def _move(self, moved: Moved) -> Answer:
        if moved.on is not None and moved.on not in self._hand.names(moved.place):
            raise CrosswindError(f"{moved.on}: there is no such place; reload the page")
        with self._changing:
            for move in self._since():
                self._hand.values = {}
                self._hand.note(move)
            values = self._hand.with_moved(moved)
            places, words = self._hand.places(values), words_of(moved)
            of = (moved.place, moved.on, moved.slider)
            effective_ns = self._apply(places, words, of)
            self._hand.values = values
            self._hand.note(Move(effective_ns, words, places, of))
            return Answer.of(self._done(effective_ns))

    def _since(self) -> list[Move]:
        """Return the conditions that became active otherwise since the last move."""
        last_ns = self._hand.moves[-1].at_ns if self._hand.moves else 0
        return [move for move in self._others() if move.at_ns > last_ns]

    def _done(self, effective_ns: int | None = None) -> _Done:
        """Return where the sliders stand, and what the user did."""
        values = {} if self._since() else self._hand.values
        return _Done(
            values=[_Stands(place=place, on=on, **vars(each)) for (place, on), each in values.items()],
            moves=[_Did(at_ns=move.at_ns, words=move.words) for move in self._hand.moves],
            saves=self._hand.saves,
            effective_ns=effective_ns,
        )
