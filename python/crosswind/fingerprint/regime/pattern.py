"""The access pattern of a regime: sending without a rest, or a repeated burst and rest.

Source: Uta et al. 2020, "Is Big Data Performance Reproducible in Modern Cloud Networks?", NSDI, section 3:
full-speed, 10-30 and 5-30, in seconds.
"""

from __future__ import annotations

from dataclasses import dataclass

FULL_SPEED = "full-speed"
# The study has a point every 10 s. A phase that empties a bucket needs several to show both rates.
POINT_S = 10.0
POINTS_PER_PHASE = 10
# Shorter phases would only be slow start.
_SHORTEST_S = 0.1
_LONGEST_S = 1e6


@dataclass(frozen=True)
class Pattern:
    """An access pattern.

    Attributes:
        on_s: length of a burst; None sends without end.
        off_s: length of the rest after it.
    """

    on_s: float | None
    off_s: float

    @classmethod
    def read(cls, text: str) -> Pattern:
        """Return the pattern that a text names.

        Raises: ValueError: it names none; gives examples.
        """
        if text == FULL_SPEED:
            return cls(None, 0.0)
        words = text.split("-")
        try:
            on_s, off_s = map(float, words)
        except ValueError:
            raise ValueError(
                f'"{text}" is no regime; write {FULL_SPEED}, or seconds on and off such as 10-30'
            ) from None
        # All comparisons with `nan` are false.
        if not (_SHORTEST_S <= on_s <= _LONGEST_S and _SHORTEST_S <= off_s <= _LONGEST_S):
            raise ValueError(f'"{text}": give seconds on and off from {_SHORTEST_S:g} to {_LONGEST_S:g}')
        return cls(on_s, off_s)

    def __str__(self) -> str:
        return FULL_SPEED if self.on_s is None else f"{self.on_s:g}-{self.off_s:g}"

    @property
    def usual_point_s(self) -> float:
        """The default time between points."""
        return POINT_S if self.on_s is None else min(POINT_S, self.on_s / POINTS_PER_PHASE)

    def phase(self, elapsed_s: float, left_s: float) -> tuple[float, float]:
        """Return the start and the length of the next phase.

        Args:
            elapsed_s: since the first phase began.
            left_s: until the whole measurement ends, which may cut a phase short.
        """
        if self.on_s is None:
            return elapsed_s, left_s
        period_s = self.on_s + self.off_s
        # A phase that ends within a rounding error of its end must not start again.
        number = -int(-(elapsed_s - 1e-9) // period_s)
        begin_s = max(0, number) * period_s
        return begin_s, min(self.on_s, left_s - (begin_s - elapsed_s))
