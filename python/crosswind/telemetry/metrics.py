"""Metrics for Prometheus: what a stream says, as OpenMetrics at /metrics."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Generic, Self, TypeVar

from prometheus_client import Metric
from prometheus_client.core import CounterMetricFamily
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from crosswind.console.server import Answer, Parameters, Routes, Server
from crosswind.errors import CrosswindError
from crosswind.spec.network import Network
from crosswind.stream import (
    Event,
    NodeFault,
    OperationsStep,
    RunBegun,
    SoFar,
    Step,
    Subscription,
    TrialBegun,
    TrialEnded,
    TrialReached,
)
from crosswind.telemetry.of_network import OfNetwork
from crosswind.telemetry.of_run import OfRun

E = TypeVar("E", bound=Event)
PATH = "/metrics"
# Always this one: every Prometheus since 2.5 (2018) takes it, and it has units.
_ENCODE, _CONTENT_TYPE = choose_encoder("application/openmetrics-text")


class Metrics(Collector, Generic[E]):
    """Serves the metrics of a stream while the block runs; `url` is the address for Prometheus.

    Args:
        network: of the steps in the stream.
        events: read on a thread of its own until the stream ends.
        port: of 127.0.0.1; 0 lets the system choose one.
    Raises: CrosswindError: the port is taken, or needs more rights.

    Attributes:
        kinds: the events that it needs, of those of a run.
    """

    kinds = (Step, NodeFault, OperationsStep, RunBegun, TrialBegun, TrialReached, TrialEnded, SoFar)

    def __init__(self, network: Network, events: Subscription[E], port: int) -> None:
        self._events = events
        self._reading = threading.Lock()
        self._of_network = OfNetwork(network)
        self._of_run = OfRun()
        try:
            self._server = Server(Routes(open={PATH: self._answer}), port=port)
        except OSError as error:
            raise CrosswindError(
                f"--metrics {port}: {error.strerror}; choose another port, or 0 for any"
            ) from error

    @property
    def url(self) -> str:
        """The address that Prometheus scrapes."""
        return f"http://127.0.0.1:{self._server.port}{PATH}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._follow, daemon=True, name="metrics").start()
        self._server.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.close()
        self._events.close()

    def collect(self) -> list[Metric]:
        """Return every metric as it is now."""
        with self._reading:
            found = [*self._of_network.families(), *self._of_run.families()]
        lost = CounterMetricFamily(
            "crosswind_events_lost",
            "Events that these metrics lack: their reader was too slow.",
            value=self._events.lost,
        )
        return [*found, lost]

    def _follow(self) -> None:
        for event in self._events:
            with self._reading:
                if isinstance(event, Step):
                    self._of_network.take(event)
                elif isinstance(event, NodeFault):
                    self._of_network.take_fault(event)
                else:
                    self._of_run.take(event)
                    if isinstance(event, TrialEnded):
                        self._of_network.end()

    def _answer(self, _: Parameters) -> Answer:
        return Answer(_ENCODE(self), _CONTENT_TYPE)
