"""Arrays of numbers for statistics: checked, or refused with a reason."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crosswind.errors import CrosswindError


class Refused(CrosswindError, ValueError):
    """These values have no such statistic; the message has the value, the reason and the remedy."""


def flat(values: ArrayLike) -> NDArray[np.float64]:
    """Return `values` as a flat array of floats, in their order.

    Raises: Refused: one of them is no number.
    """
    try:
        return np.asarray(values, dtype=np.float64).ravel()
    except (TypeError, ValueError) as error:
        raise Refused(f"values: {error}; give numbers only") from error


def finite_values(values: ArrayLike, name: str, *, at_least: int = 1) -> NDArray[np.float64]:
    """Return `values` as a flat array of floats, in their order.

    Args:
        values: any shape, any unit.
        name: of the values, for the message.
        at_least: number of values that are needed.
    Raises: Refused: fewer, or one of them is NaN, infinite or no number.
    """
    array = flat(values)
    if array.size < at_least:
        raise Refused(
            f"{name}: {array.size} of them; at least {at_least} {'is' if at_least == 1 else 'are'} needed"
        )
    unknown = np.flatnonzero(~np.isfinite(array))
    if unknown.size:
        place = int(unknown[0])
        raise Refused(
            f"{name}: number {place + 1} is {array[place]}, which cannot be added or averaged; leave it out "
            "and report that, or use ranks (a quantile), with +inf for an operation that never ended"
        )
    return array
