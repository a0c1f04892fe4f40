"""Options that say above what a machine is too busy to begin."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from crosswind.fingerprint.measure.machines import Bounds


def bounded(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options to a command, which is given what they say as `bounds`."""

    @wraps(command)
    def called(
        load_at_most: float | None, memory_at_most: str | None, traffic_at_most: str | None, **others: Any
    ) -> Any:
        return command(bounds=_bounds_of(load_at_most, memory_at_most, traffic_at_most), **others)

    for option in (
        click.option(
            "--traffic-at-most", metavar="RATE", help="Refuse to start above this rate on any interface."
        ),
        click.option(
            "--memory-at-most",
            metavar="SHARE",
            help="Refuse to start above this share of memory in use, such as 80%.",
        ),
        click.option(
            "--load-at-most", type=float, help="Refuse to start above this one-minute load average per core."
        ),
    ):
        called = option(called)
    return called


def _bounds_of(load_at_most: float | None, memory_at_most: str | None, traffic_at_most: str | None) -> Bounds:
    """Return what the options say.

    Raises: CrosswindError: one is no share or no rate.
    """
    from crosswind.fingerprint.measure.machines import Bounds

    return Bounds.read(load_at_most, memory_at_most, traffic_at_most)
