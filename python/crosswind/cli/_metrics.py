"""The option --metrics of verbs that bring a network up."""

from __future__ import annotations

import click

metrics_option = click.option(
    "--metrics",
    metavar="PORT",
    type=click.IntRange(0, 65535),
    help="Serve metrics for Prometheus at http://127.0.0.1:PORT/metrics; 0 chooses a port.",
)
