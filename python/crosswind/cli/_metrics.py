"""The option --metrics of verbs that bring networks up."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from crosswind.spec.resolved import ResolvedTopology
    from crosswind.stream import Event, Stream

metrics_option = click.option(
    "--metrics",
    metavar="PORT",
    type=click.IntRange(0, 65535),
    help="Serve metrics for Prometheus at http://127.0.0.1:PORT/metrics; 0 chooses a port.",
)


def metrics_served(
    topology: ResolvedTopology, stream: Stream[Event], port: int | None
) -> AbstractContextManager[object]:
    """Serve the metrics of a run during the block, and print their address; without a port, do nothing."""
    if port is None:
        return nullcontext()
    from crosswind.spec.network import Network
    from crosswind.telemetry import Metrics

    metrics = Metrics(Network.of(topology), stream.subscribe(kinds=Metrics.kinds), port)
    click.echo(f"metrics: {metrics.url}", err=True)
    return metrics
