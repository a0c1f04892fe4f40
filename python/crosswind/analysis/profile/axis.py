"""A factor as the axis of a surface."""

import math
from dataclasses import dataclass
from typing import Literal

from crosswind.spec.resolved import ResolvedFactor
from crosswind.text.units import Unit, units_of

# Whether more of a quantity makes a better network; for a burst or a buffer either is possible.
_BETTER = {"bit/s": "more", "ns": "less", "share": "less"}
_SPAN_OF_LOGARITHMS = 8.0  # Levels that differ by more are drawn on a logarithmic axis.


@dataclass(frozen=True)
class Axis:
    """A factor whose levels are quantities.

    Attributes:
        unit: of the levels, as in resolved.json.
        levels: of the conditions, ascending.
        scale: of the drawing; `steps` where levels span much and include 0.
    """

    name: str
    unit: str
    levels: tuple[float, ...]
    scale: Literal["linear", "log", "steps"]

    @property
    def better(self) -> Literal["more", "less", "either"]:
        """Which direction makes the network better."""
        found = _BETTER.get(self.unit, "either")
        assert found in ("more", "less", "either")
        return found  # type: ignore[return-value]

    @property
    def logarithmic(self) -> bool:
        """Whether ratios of levels are meaningful: none is 0, and the quantity is no time.

        Delay is added to the network's own, so twice the added delay is not twice the delay.
        """
        return self.levels[0] > 0 and self.unit not in ("ns", "share")

    def drawn(self, level: float) -> float:
        """Return where a level lies on the axis."""
        match self.scale:
            case "log":
                return math.log10(level)
            case "steps":
                return float(self.levels.index(level))
            case "linear":
                return level / self.shown_in.size

    @property
    def shown_in(self) -> Unit:
        """The unit of the axis."""
        if self.unit == "share":
            return Unit("%", 0.01)
        family = units_of(self.unit)
        return next((unit for unit in family if self.levels[-1] >= unit.size), family[-1])

    def label(self, level: float) -> str:
        """Return a level with its unit."""
        if self.unit == "share":
            return f"{100 * level:.3g}\u00a0%"
        family = units_of(self.unit)
        unit = next((unit for unit in family if level >= unit.size), self.shown_in)
        return f"{level / unit.size:.4g}\u00a0{unit.name}".rstrip()


def axis_of(name: str, factor: ResolvedFactor, levels: set[float]) -> Axis:
    """Return the axis of a factor.

    Args:
        factor: as in resolved.json.
        levels: of the conditions.
    """
    ascending = tuple(sorted(levels))
    spans = ascending[-1] > _SPAN_OF_LOGARITHMS * (next((v for v in ascending if v > 0), ascending[-1]))
    scale: Literal["linear", "log", "steps"] = "linear"
    if factor.spacing == "log" or (spans and factor.spacing is None):
        scale = "log" if ascending[0] > 0 else "steps"
    return Axis(name, factor.unit or "1", ascending, scale)
