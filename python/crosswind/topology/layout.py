"""The places of switches in a picture: in tiers, as data centres are drawn, or by their distances."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from crosswind.spec.network import Network

Places = Mapping[str, tuple[float, float]]

_SWEEPS = 300
_CLOSEST = 1e-3


@dataclass(frozen=True)
class Layout:
    """Places of switches.

    Attributes:
        places: across and down, both in [0, 1] from the upper left corner.
        rows: how many switches the longest tier has, and how many tiers there are; None where spread.
    """

    places: Places
    rows: tuple[int, int] | None


def layout(network: Network) -> Layout:
    """Return a place for each switch; the same network has the same picture."""
    if len(network.switches) == 1:
        return Layout({network.switches[0]: (0.5, 0.0)}, (1, 1))
    neighbours = _neighbours(network)
    tiers = _tiers(network, neighbours)
    tiered = len(set(tiers.values())) > 1 and all(
        tiers[one] != tiers[other] for one, found in neighbours.items() for other in found
    )
    if not tiered:
        return Layout(_spread(network, neighbours), None)
    sizes = Counter(tiers.values())
    return Layout(_in_tiers(tiers), (max(sizes.values()), len(sizes)))


def _neighbours(network: Network) -> dict[str, list[str]]:
    found: dict[str, dict[str, None]] = {switch: {} for switch in network.switches}
    for link in network.trunks:
        found[link.source][link.target] = None
        found[link.target][link.source] = None
    return {switch: list(others) for switch, others in found.items()}


def _tiers(network: Network, neighbours: Mapping[str, list[str]]) -> dict[str, int]:
    """Return the distance of each switch from the nearest one with hosts; 1 more than the largest if none."""
    attached = {link.target for link in network.uplinks.values()}
    return _distances([switch for switch in network.switches if switch in attached], neighbours)


def _distances(starts: list[str], neighbours: Mapping[str, list[str]]) -> dict[str, int]:
    found = dict.fromkeys(starts, 0)
    waiting = deque(starts)
    while waiting:
        at = waiting.popleft()
        for other in neighbours[at]:
            if other not in found:
                found[other] = found[at] + 1
                waiting.append(other)
    beyond = 1 + max(found.values(), default=0)
    return {switch: found.get(switch, beyond) for switch in neighbours}


def _in_tiers(tiers: Mapping[str, int]) -> Places:
    """Return places in rows: switches with hosts at the bottom, the farthest ones at the top."""
    last = max(tiers.values())
    places: dict[str, tuple[float, float]] = {}
    for tier in range(last + 1):
        row = [switch for switch, own in tiers.items() if own == tier]
        for number, switch in enumerate(row):
            places[switch] = ((number + 0.5) / len(row), 1 - tier / last)
    return places


def _spread(network: Network, neighbours: Mapping[str, list[str]]) -> Places:
    """Return places with distances like those along links: stress majorization, starting from a circle.

    Source: Gansner, Koren and North 2004, "Graph Drawing by Stress Majorization".
    """
    names = list(network.switches)
    count = len(names)
    wanted = np.empty((count, count))
    for row, name in enumerate(names):
        hops = _distances([name], neighbours)
        wanted[row] = [hops[other] for other in names]
    wanted = np.maximum(wanted, wanted.T) + np.eye(count)
    weights = wanted**-2.0
    np.fill_diagonal(weights, 0)
    angles = 2 * np.pi * np.arange(count) / count
    at = np.stack([np.cos(angles), np.sin(angles)], axis=1) * count / 4
    for _ in range(_SWEEPS):
        apart = at[:, None, :] - at[None, :, :]
        length = np.maximum(np.linalg.norm(apart, axis=2), _CLOSEST)
        pulled = weights[:, :, None] * (at[None, :, :] + wanted[:, :, None] * apart / length[:, :, None])
        at = pulled.sum(axis=1) / weights.sum(axis=1)[:, None]
    at -= at.min(axis=0)
    at /= np.maximum(at.max(axis=0), _CLOSEST)
    return {name: (float(x), float(y)) for name, (x, y) in zip(names, at, strict=True)}
