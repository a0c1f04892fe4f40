"""The console of a network that is up: what its page may read, and what it may change."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib import resources
from types import TracebackType
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, ValidationError

from crosswind import catalog
from crosswind.api.fabric import Fabric
from crosswind.console.moves import BY_HAND, Hand, Move, Moved, words_of
from crosswind.console.recent import Recent
from crosswind.console.server import Answer, Page, Parameters, Routes, Server
from crosswind.errors import CrosswindError
from crosswind.spec import load_catalogue_condition
from crosswind.spec.network import Link, Network
from crosswind.topology import network_line
from crosswind.topology.picture import picture
from crosswind.topology.svg import style

_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
}


class _Named(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    condition: str


class Console:
    """Serves the page while the block runs; `url` is the address for a browser."""

    def __init__(self, net: Fabric) -> None:
        self._net = net
        self._network = net.graph
        self._hand = Hand(net.graph)
        self._changing = threading.Lock()
        self._recent = Recent()
        self._server = Server(
            Routes(
                pages=_pages(),
                get={"/api/network": self._describe, "/api/way": self._way, "/api/saved": self._saved},
                post={"/api/set": self._set},
                lines={"/api/stream": self._recent.lines},
            )
        )

    @property
    def url(self) -> str:
        """The address for a browser; anybody who has it can change the network."""
        return self._server.url

    def __enter__(self) -> Self:
        steps = self._net.watch()
        threading.Thread(target=self._recent.follow, args=(steps,), daemon=True, name="console-steps").start()
        self._server.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.close()

    def _describe(self, _: Parameters) -> Answer:
        network = self._network
        catalogue = [
            {"name": name, "summary": load_catalogue_condition(name).summary}
            for name in catalog.condition_names()
        ]
        return Answer.of(
            {
                "title": network_line(network),
                "scale": self._net.network.get("scale", 1),
                "picture": picture(network).drawing(),
                "switches": network.switches,
                "hosts": {host: network.switch_of(host) for host in network.hosts},
                "nodes": {name: [node.host, node.address] for name, node in self._net.nodes.items()},
                "links": [_link(network, link) for link in network.links],
                "conditions": self._net.conditions,
                "catalogue": catalogue,
                "active": [change.model_dump() for change in self._recent.active],
                **self._done(),
            }
        )

    def _way(self, ends: Parameters) -> Answer:
        hosts = [self._network.nodes.get(ends.get(end, "")) for end in ("from", "to")]
        if None in hosts:
            raise CrosswindError(f"from and to: nodes are {', '.join(self._network.nodes)}")
        one, other = map(str, hosts)
        # Every host has a way to every other one: the network is up.
        there, back = self._network.way(one, other) or [], self._network.way(other, one) or []
        return Answer.of({"there": [link.name for link in there], "back": [link.name for link in back]})

    def _saved(self, _: Parameters) -> Answer:
        with self._changing:
            text = self._hand.saved(datetime.now(UTC))
        return Answer(
            text.encode(),
            "application/yaml; charset=utf-8",
            {"Content-Disposition": f'attachment; filename="{BY_HAND}.yaml"'},
        )

    def _set(self, request: Any) -> Answer:
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
            return Answer.of({"effective_ns": effective_ns, **self._done()})

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
            return Answer.of({"effective_ns": effective_ns, **self._done()})

    def _note_others(self) -> None:
        """Take the sliders back where somebody else, such as `crosswind set`, has changed the condition."""
        last_ns = self._hand.moves[-1].at_ns if self._hand.moves else 0
        for change in self._recent.active:
            if change.by == "set" and change.at_ns > last_ns and change.condition != BY_HAND:
                self._hand.values = {}
                self._hand.note(Move(change.at_ns, f"condition {change.condition}, set elsewhere"))

    def _done(self) -> dict[str, Any]:
        """Return where the sliders stand, and what the user did."""
        values = [
            {"place": place, "on": on, **vars(values)} for (place, on), values in self._hand.values.items()
        ]
        moves = [{"at_ns": move.at_ns, "words": move.words} for move in self._hand.moves]
        return {"values": values, "moves": moves}


def _pages() -> dict[str, Page]:
    """Return the files of the page by their paths; the picture's and the report's colours are one of them."""
    folder = resources.files("crosswind.console") / "static"
    pages = {
        f"/{file.name}": Page(_TYPES[suffix], file.read_bytes())
        for file in folder.iterdir()
        if (suffix := file.name[file.name.rfind(".") :]) in _TYPES
    }
    return {**pages, "/": pages["/index.html"], "/picture.css": Page(_TYPES[".css"], style().encode())}


def _link(network: Network, link: Link) -> dict[str, Any]:
    return {
        "name": link.name,
        "from": link.source,
        "to": link.target,
        "element": network.wire_of(link),
        "rate_bps": link.rate_bps,
        "delay_ns": link.delay_ns,
        "buffer_bytes": link.resolved(1).buffer_bytes,
    }
