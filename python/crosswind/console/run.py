"""The console of a run: how far it is, what it knows, and the network of the trial that runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, Self

from crosswind.console.by_hand import ByHand, HandShown, Of
from crosswind.console.moves import BY_HAND, Move, Places
from crosswind.console.recent import Recent
from crosswind.console.served import Served, pages
from crosswind.console.server import Answer, Parameters, Routes
from crosswind.console.shown import NetworkShown, Shown, network_shown, way_of
from crosswind.runner import Steering
from crosswind.spec import Resolved, Setup, carried_out, condition_for_agent
from crosswind.spec.document import document_of
from crosswind.spec.network import Network
from crosswind.stream import Change, Event, NodeFault, Stream

# What ended a trial must not be lost behind steps.
_WAITING_MAX = 10_000


class _RunShown(Shown):
    """All that the page needs of a run besides its events."""

    kind: Literal["run"] = "run"
    network: NetworkShown
    name: str
    summary: str
    active: list[Change]
    faults: list[NodeFault]
    hand: HandShown


class RunConsole(Served):
    """Serves the page of a run whose events come on `stream`; it may move the trial that runs.

    Args:
        setup: the network of the experiment, in which conditions are read.
    """

    def __init__(self, setup: Setup, resolved: Resolved, stream: Stream[Event], steering: Steering) -> None:
        self._setup = setup
        self._resolved = resolved
        self._network = Network.of(resolved.topology)
        self._stream = stream
        self._steering = steering
        self._hand = ByHand(self._network, tuple(setup.conditions), setup.scale, self._apply, self._others)
        self._recent = Recent()
        super().__init__(
            Routes(
                pages=pages(),
                get={"/api/page": self._describe, "/api/way": way_of(self._network), **self._hand.get},
                post=self._hand.post,
                lines={"/api/stream": self._recent.lines},
            )
        )

    def __enter__(self) -> Self:
        self._recent.begin(self._stream.subscribe(_WAITING_MAX))
        return super().__enter__()

    def _describe(self, _: Parameters) -> Answer:
        return Answer.of(
            _RunShown(
                network=network_shown(self._network, self._resolved.dilations),
                name=self._resolved.name,
                summary=self._resolved.summary or "",
                active=self._recent.active,
                faults=self._recent.faults,
                hand=self._hand.shown(),
            )
        )

    def _apply(self, condition: str | Places, words: str, of: Of) -> int:
        found = (
            self._setup.condition(condition)
            if isinstance(condition, str)
            else self._setup.condition_in(document_of({BY_HAND: condition}, BY_HAND))
        )
        return self._steering.set(condition_for_agent(carried_out(found)), words, of)

    def _others(self) -> Iterator[Move]:
        """Yield the begin of the trial: each has a network of its own, on which nothing has been moved."""
        if (trial := self._steering.trial) is not None:
            yield Move(trial.at_ns, f"trial {trial.name}, condition {trial.condition}")
