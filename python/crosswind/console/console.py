"""The console of a network that is up: what its page may read, and what it may change."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, Self

from crosswind.api.fabric import Fabric
from crosswind.console.by_hand import ByHand, HandShown, Of
from crosswind.console.moves import BY_HAND, Move, Places
from crosswind.console.recent import Recent
from crosswind.console.served import Served, pages
from crosswind.console.server import Answer, Parameters, Routes
from crosswind.console.shown import NetworkShown, Shown, network_shown, way_of
from crosswind.stream import Change, NodeFault


class _UpShown(Shown):
    """All that the page needs of a network that is up."""

    kind: Literal["up"] = "up"
    network: NetworkShown
    active: list[Change]
    faults: list[NodeFault]
    hand: HandShown


class Console(Served):
    """Serves the page of a network that is up."""

    def __init__(self, net: Fabric) -> None:
        self._net = net
        scale = net.network.get("scale", 1)
        self._hand = ByHand(net.graph, net.conditions, scale, self._apply, self._others)
        self._recent = Recent()
        super().__init__(
            Routes(
                pages=pages(),
                get={"/api/page": self._describe, "/api/way": way_of(net.graph), **self._hand.get},
                post=self._hand.post,
                lines={"/api/stream": self._recent.lines},
            )
        )

    def __enter__(self) -> Self:
        self._recent.begin(self._net.events())
        return super().__enter__()

    def _describe(self, _: Parameters) -> Answer:
        return Answer.of(
            _UpShown(
                network=network_shown(self._net.graph, [self._net.dilation]),
                active=self._recent.active,
                faults=self._recent.faults,
                hand=self._hand.shown(),
            )
        )

    def _apply(self, condition: str | Places, words: str, of: Of) -> int:
        return self._net.set(condition) if of is None else self._net.set(condition, BY_HAND)

    def _others(self) -> Iterator[Move]:
        """Yield what somebody else, such as `crosswind set`, has made active."""
        for change in self._recent.active:
            if change.by == "set" and change.condition != BY_HAND:
                yield Move(change.at_ns, f"condition {change.condition}, set elsewhere")
