"""Where two machines are as a factor: on one host or two, of one tenant or two, compared with intervals.

OSMeF measured the same between a machine and itself, machines of one host, and machines of two hosts, of one
tenant and of two. Here each pair of machines gives one value, the mean of both directions: they share the
path, so they are no two observations; and an error of the clocks, which one direction gains and the other
loses, cancels.

Source: Venzano and Michiardi: OSMeF, EURECOM RR-13-287, section 4.4.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from crosswind.analysis.osmef.table import OverRuns
from crosswind.stats import GroupsNeedTrials, PerTrial, RatioInterval, quantile_interval, ratio_interval

# The nearest first; the first that there is, is what others are compared with.
PLACEMENTS = ("same host", "same host, other tenant", "other host", "other host, other tenant")


@dataclass(frozen=True)
class MachineLabels:
    """What an inventory says of a machine; None where it does not."""

    host: str | None = None
    tenant: str | None = None


@dataclass(frozen=True)
class PlacementFigure:
    """A figure of the pairs of one placement.

    Attributes:
        over: the pairs, one value each.
        ratio: to the nearest placement; None for that one itself, and where a value is zero.
    """

    over: OverRuns
    ratio: RatioInterval | GroupsNeedTrials | None


@dataclass(frozen=True)
class PlacementRow:
    """The pairs of one placement, and their figures by name."""

    placement: str
    pairs: int
    figures: dict[str, PlacementFigure]


def placement_of(one: MachineLabels, other: MachineLabels) -> str | None:
    """Return where two machines are; None where it is unknown whether they share a host.

    A tenant counts where both have one.
    """
    if one.host is None or other.host is None:
        return None
    place = "same host" if one.host == other.host else "other host"
    tenants = (one.tenant, other.tenant)
    return place if None in tenants or tenants[0] == tenants[1] else f"{place}, other tenant"


def by_placement(
    labels: Mapping[str, MachineLabels], values: Mapping[tuple[str, str], Mapping[str, float]]
) -> list[PlacementRow]:
    """Return a row for each placement, the nearest first; none where the inventory does not place machines.

    Args:
        labels: of the machines.
        values: figures by name of each ordered pair; a pair without its other direction is left out.
    """
    found: dict[str, dict[str, dict[str, float]]] = {}
    for (one, other), there in values.items():
        placement = placement_of(labels[one], labels[other])
        back = values.get((other, one))
        if placement is None or back is None or f"{other} and {one}" in found.get(placement, {}):
            continue
        both = {name: (there[name] + back[name]) / 2 for name in there if name in back}
        found.setdefault(placement, {})[f"{one} and {other}"] = both
    base = next((found[placement] for placement in PLACEMENTS if placement in found), {})
    return [
        PlacementRow(placement, len(found[placement]), _figures(found[placement], base))
        for placement in PLACEMENTS
        if placement in found
    ]


def _figures(
    pairs: Mapping[str, Mapping[str, float]], base: Mapping[str, Mapping[str, float]]
) -> dict[str, PlacementFigure]:
    names = dict.fromkeys(name for values in pairs.values() for name in values)
    return {name: _figure(_of(pairs, name), None if pairs is base else _of(base, name)) for name in names}


def _of(pairs: Mapping[str, Mapping[str, float]], name: str) -> dict[str, float]:
    return {pair: values[name] for pair, values in pairs.items() if name in values}


def _figure(pairs: Mapping[str, float], base: Mapping[str, float] | None) -> PlacementFigure:
    over = OverRuns(quantile_interval(PerTrial.of(pairs), 0.5), min(pairs.values()), max(pairs.values()))
    if not base or min(*pairs.values(), *base.values()) <= 0:
        return PlacementFigure(over, None)
    return PlacementFigure(over, ratio_interval(PerTrial.of(base), PerTrial.of(pairs)))
