"""Options that refuse to start on a busy machine."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, TypeVar

import click

if TYPE_CHECKING:
    from crosswind.fingerprint.measure.machines import Bounds


Result = TypeVar("Result")


def bounded(command: Callable[..., Result]) -> Callable[..., Result]:
    """Add the options to a command, which gets their values as `bounds`."""

    @wraps(command)
    def called(
        load_at_most: float | None, memory_at_most: str | None, traffic_at_most: str | None, **others: object
    ) -> Result:
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
    """Return the limits that the options give.

    Raises: CrosswindError: a value is not a share or a rate.
    """
    from crosswind.fingerprint.measure.machines import Bounds

    return Bounds.read(load_at_most, memory_at_most, traffic_at_most)
