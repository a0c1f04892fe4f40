"""Draw how late packets are, through links and over a bare pair: `python -m bench.delay_tails OUT.svg`.

The control is a program that sends over a bare veth pair at planned instants and spins for them: what an
emulator has to do with one packet, and nothing else. Where the curves of links run along the control's, the
machine bounds them and not the emulator.
"""

import sys
from collections.abc import Callable
from math import log10
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from crosswind.certify.probe import probe_bare, probe_fabric
from crosswind.testbed.plain import plain_fabric

ROUNDS = 10
RATE_PER_S = 1000
PANELS = {"spin": (5, 50, 1000), "sleep": (60, 200, 1000)}
COLOURS = ("#0072b2", "#c4560b", "#00845f")
CONTROL = "#4b5563"
LATE_US = (1, 1000)
SHARE = (1e-4, 1)
WIDTH, HEIGHT, LEFT, TOP, PANEL, DEPTH = 900, 400, 70, 50, 380, 280

Lateness = NDArray[np.float64]


def measured() -> dict[str, dict[str, Lateness]]:
    """Return how late packets were in us, by panel and curve, of rounds in which all take turns."""
    late: dict[str, dict[str, list[Lateness]]] = {wait: {} for wait in PANELS}
    for _ in range(ROUNDS):
        for wait, delays_us in PANELS.items():
            bare = probe_bare(RATE_PER_S, RATE_PER_S)
            late[wait].setdefault("bare pair, planned", []).append((bare.received_ns - bare.planned_ns) / 1e3)
            for delay_us in delays_us:
                spec = {**plain_fabric(delay_ns=delay_us * 500), "wait": wait}
                through, _ = probe_fabric(spec, RATE_PER_S, RATE_PER_S)
                late[wait].setdefault(f"link of {delay_us} us", []).append(through.delay_ns / 1e3 - delay_us)
    return {wait: {name: np.concatenate(rounds) for name, rounds in of.items()} for wait, of in late.items()}


def drawn(late: dict[str, dict[str, Lateness]]) -> str:
    """Return the picture: a panel for each way to wait, both axes logarithmic."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img"'
        ' font-family="system-ui, sans-serif" font-size="13" fill="#1f2933">',
        "<title>How late packets are behind emulated links and over a bare veth pair</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
    ]
    for panel, (wait, curves) in enumerate(late.items()):
        left = LEFT + panel * (PANEL + 50)
        parts += _axes(left, f"the emulator {wait}s", with_shares=panel == 0)
        for colour, (name, values) in zip((CONTROL, *COLOURS), curves.items(), strict=True):
            parts.append(_curve(left, values, colour))
            row = TOP + 18 + 18 * list(curves).index(name)
            parts.append(
                f'<text x="{left + PANEL - 8}" y="{row}" text-anchor="end" fill="{colour}">{name}</text>'
            )
    parts.append(f'<text x="{LEFT}" y="{HEIGHT - 12}">later than this after the declared instant (us)</text>')
    return "\n".join([*parts, "</svg>\n"])


def _scale(limits: tuple[float, float], length: float) -> Callable[[float], float]:
    low, high = (log10(limit) for limit in limits)
    return lambda value: (log10(max(value, limits[0])) - low) / (high - low) * length


_across, _up = _scale(LATE_US, PANEL), _scale(SHARE, DEPTH)


def _axes(left: float, title: str, *, with_shares: bool) -> list[str]:
    bottom = TOP + DEPTH
    parts = [f'<text x="{left}" y="{TOP - 16}" font-weight="600">{title}</text>']
    for late_us in (1, 10, 100, 1000):
        x = left + _across(late_us)
        parts.append(f'<path d="M{x:.1f} {TOP}V{bottom}" stroke="#e6e9ec"/>')
        parts.append(f'<text x="{x:.1f}" y="{bottom + 18}" text-anchor="middle">{late_us}</text>')
    for share in (1e-4, 1e-3, 1e-2, 1e-1, 1):
        y = bottom - _up(share)
        parts.append(f'<path d="M{left} {y:.1f}H{left + PANEL}" stroke="#e6e9ec"/>')
        if with_shares:
            parts.append(f'<text x="{left - 8}" y="{y + 4:.1f}" text-anchor="end">{share * 100:g} %</text>')
    return parts


def _curve(left: float, values: Lateness, colour: str) -> str:
    shares = np.geomspace(1, max(SHARE[0], 1 / values.size), 200)
    late_us = np.quantile(values, 1 - shares)
    points = " ".join(
        f"{left + _across(late):.1f},{TOP + DEPTH - _up(share):.1f}"
        for late, share in zip(late_us, shares, strict=True)
        if late <= LATE_US[1]
    )
    return f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>'


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(drawn(measured()), encoding="utf-8")
