"""The console of a fingerprint: what is measured now, what was found, and the network of the measurement."""

from __future__ import annotations

from typing import Literal, Self

from crosswind.console.recent import Recent
from crosswind.console.served import Served, pages
from crosswind.console.server import Answer, Get, Parameters, Routes
from crosswind.console.shown import NetworkShown, Shown, network_shown, way_of
from crosswind.spec.network import Network
from crosswind.stream import Change, Event, Stream

# A measurement must not be lost behind steps.
_WAITING_MAX = 10_000


class _FingerprintShown(Shown):
    """All that the page needs besides events; `network` is None where Crosswind did not make it."""

    kind: Literal["fingerprint"] = "fingerprint"
    network: NetworkShown | None
    active: list[Change]


class FingerprintConsole(Served):
    """Serves the page of a fingerprint whose events come on `stream`; it changes nothing."""

    def __init__(self, network: Network | None, stream: Stream[Event]) -> None:
        self._network = network
        self._stream = stream
        self._recent = Recent()
        way: dict[str, Get] = {} if network is None else {"/api/way": way_of(network)}
        super().__init__(
            Routes(
                pages=pages(),
                get={"/api/page": self._describe, **way},
                post={},
                lines={"/api/stream": self._recent.lines},
            )
        )

    def __enter__(self) -> Self:
        self._recent.begin(self._stream.subscribe(_WAITING_MAX))
        return super().__enter__()

    def _describe(self, _: Parameters) -> Answer:
        network = None if self._network is None else network_shown(self._network)
        return Answer.of(_FingerprintShown(network=network, active=self._recent.active))
