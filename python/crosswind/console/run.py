"""The console of a run: how far it is, what it knows, and the network of the trial that runs."""

from __future__ import annotations

from typing import Literal, Self

from crosswind.console.recent import Recent
from crosswind.console.served import Served, pages
from crosswind.console.server import Answer, Parameters, Routes
from crosswind.console.shown import NetworkShown, Shown, network_shown, way_of
from crosswind.spec import Resolved
from crosswind.spec.network import Network
from crosswind.stream import Change, Event, Stream

# What ended a trial must not be lost behind steps.
_WAITING_MAX = 10_000


class _RunShown(Shown):
    """All that the page needs of a run besides its events."""

    kind: Literal["run"] = "run"
    network: NetworkShown
    name: str
    summary: str
    active: list[Change]


class RunConsole(Served):
    """Serves the page of a run whose events come on `stream`; it changes nothing."""

    def __init__(self, resolved: Resolved, stream: Stream[Event]) -> None:
        self._resolved = resolved
        self._network = Network.of(resolved.topology)
        self._stream = stream
        self._recent = Recent()
        super().__init__(
            Routes(
                pages=pages(),
                get={"/api/page": self._describe, "/api/way": way_of(self._network)},
                post={},
                lines={"/api/stream": self._recent.lines},
            )
        )

    def __enter__(self) -> Self:
        self._recent.begin(self._stream.subscribe(_WAITING_MAX))
        return super().__enter__()

    def _describe(self, _: Parameters) -> Answer:
        return Answer.of(
            _RunShown(
                network=network_shown(self._network),
                name=self._resolved.name,
                summary=self._resolved.summary or "",
                active=self._recent.active,
            )
        )
