"""The console of a network that is up: what its page may read, and what it may change."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError

from crosswind import catalog
from crosswind.api.fabric import Fabric
from crosswind.console.moves import BY_HAND, Hand, Move, Moved, Place, words_of
from crosswind.console.recent import Recent
from crosswind.console.served import Served, pages
from crosswind.console.server import Answer, Parameters, Routes
from crosswind.console.shown import NetworkShown, Shown, network_shown, way_of
from crosswind.errors import CrosswindError
from crosswind.spec import load_catalogue_condition
from crosswind.stream import Change


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
    """Where all sliders stand, and what the user did; `effective_ns` is the instant of the last change."""

    values: list[_Stands]
    moves: list[_Did]
    effective_ns: int | None = None


class _UpShown(Shown):
    """All that the page needs of a network that is up."""

    kind: Literal["up"] = "up"
    network: NetworkShown
    scale: JsonValue
    conditions: list[str]
    catalogue: list[_Summarised]
    active: list[Change]
    done: _Done


class Console(Served):
    """Serves the page of a network that is up."""

    def __init__(self, net: Fabric) -> None:
        self._net = net
        self._hand = Hand(net.graph)
        self._changing = threading.Lock()
        self._recent = Recent()
        super().__init__(
            Routes(
                pages=pages(),
                get={"/api/page": self._describe, "/api/way": way_of(net.graph), "/api/saved": self._saved},
                post={"/api/set": self._set},
                lines={"/api/stream": self._recent.lines},
            )
        )

    def __enter__(self) -> Self:
        self._recent.begin(self._net.watch())
        return super().__enter__()

    def _describe(self, _: Parameters) -> Answer:
        return Answer.of(
            _UpShown(
                network=network_shown(self._net.graph),
                scale=self._net.network.get("scale", 1),
                conditions=list(self._net.conditions),
                catalogue=[
                    _Summarised(name=name, summary=load_catalogue_condition(name).summary)
                    for name in catalog.condition_names()
                ],
                active=self._recent.active,
                done=self._done(),
            )
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
        # `set` would also read a file of this name; a page names none.
        if name not in self._net.conditions and name not in catalog.condition_names():
            raise CrosswindError(f"{name}: is no condition of this network or of the catalogue")
        with self._changing:
            effective_ns = self._net.set(name)
            self._hand.values = {}
            self._hand.note(Move(effective_ns, f"condition {name}"))
            return Answer.of(self._done(effective_ns))

    def _move(self, moved: Moved) -> Answer:
        if moved.on is not None and moved.on not in self._hand.names(moved.place):
            raise CrosswindError(f"{moved.on}: there is no such place; reload the page")
        with self._changing:
            self._note_others()
            values = self._hand.with_moved(moved)
            places = self._hand.places(values)
            effective_ns = self._net.set(places, BY_HAND)
            self._hand.values = values
            of = (moved.place, moved.on, moved.slider)
            self._hand.note(Move(effective_ns, words_of(moved), places, of))
            return Answer.of(self._done(effective_ns))

    def _note_others(self) -> None:
        """Take the sliders back where somebody else, such as `crosswind set`, has changed the condition."""
        last_ns = self._hand.moves[-1].at_ns if self._hand.moves else 0
        for change in self._recent.active:
            if change.by == "set" and change.at_ns > last_ns and change.condition != BY_HAND:
                self._hand.values = {}
                self._hand.note(Move(change.at_ns, f"condition {change.condition}, set elsewhere"))

    def _done(self, effective_ns: int | None = None) -> _Done:
        """Return where the sliders stand, and what the user did."""
        return _Done(
            values=[
                _Stands(place=place, on=on, **vars(values))
                for (place, on), values in self._hand.values.items()
            ],
            moves=[_Did(at_ns=move.at_ns, words=move.words) for move in self._hand.moves],
            effective_ns=effective_ns,
        )
