"""The excess of buckets of one packet, compared with a program that paces over a bare veth pair.

A bucket of one packet has no reserve, so every packet that the machine delays begins a window with an excess.
That is the same task as pacing. In the same rounds a program paces over the bare pair, and spins like the
emulator. Excess divided by the rate is a time: the difference in lateness between the window's first packet
and a later one. tbf of one packet avoids the excess but sends less.

`python -m bench.bucket_tails OUT.svg` prints the figures and draws the excess of all windows.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import numpy as np

from bench.figures import Figure, figure
from bench.rates import TBF_BYTES, bucket, excesses, flood_tbf, paced_train, rate_error
from bench.tails import Lateness, Panel, drawn
from crosswind.certify.live.rates import OVERLOAD, SHORT_S, burst_bytes
from crosswind.probe.flood import IP_BYTES, Flood, flood_fabric, paced_bare
from crosswind.text.quantities import rate_text

ROUNDS = 6
RATES_BPS = (100_000_000, 1_000_000_000, 5_000_000_000)
PACED, OURS, SAVED, TBF = "paced, bare pair", "bucket of a packet", "bucket of 5 ms", "tbf of a packet"


@dataclass
class Windows:
    """The floods of one kind at one rate.

    Attributes:
        excess_bytes: over all windows that begin with each call, one array per round.
        missed: missing share of the rate, one value per round.
    """

    excess_bytes: list[Lateness] = field(default_factory=list)
    missed: list[float] = field(default_factory=list)

    def add(self, flood: Flood, bytes_each: int, rate_bps: int, burst: int) -> None:
        """Add a round's flood; the bucket counts `bytes_each` for a packet and holds `burst`."""
        self.excess_bytes.append(excesses(flood, bytes_each, rate_bps, burst))
        self.missed.append(-rate_error(flood, bytes_each, rate_bps))

    @property
    def worst_bytes(self) -> list[float]:
        """The largest excess over all windows, one value per round."""
        return [float(windows.max()) for windows in self.excess_bytes]

    @property
    def beyond(self) -> list[float]:
        """The share of windows with an excess of more than a packet, one value per round."""
        return [float(np.mean(windows > IP_BYTES)) for windows in self.excess_bytes]


@dataclass
class Rate:
    """All kinds at one rate, in turns, and the largest lateness in the emulator's ledger, in us."""

    kinds: dict[str, Windows] = field(
        default_factory=lambda: {kind: Windows() for kind in (PACED, OURS, SAVED, TBF)}
    )
    ledger_us: list[float] = field(default_factory=list)


def bucket_tails(rounds: int) -> Iterator[Figure]:
    """Yield excess, share of windows above a packet and missing rate, of each kind at each rate."""
    yield from _figures(measured(rounds))


def measured(rounds: int) -> dict[int, Rate]:
    """Return the floods of all kinds by rate, in rounds in which they take turns."""
    rates = {rate_bps: Rate() for rate_bps in RATES_BPS}
    for _ in range(rounds):
        for rate_bps, rate in rates.items():
            train = paced_train(rate_bps)
            paced = paced_bare(rate_bps, SHORT_S, train)
            # Its burst is the train that it sends in one call.
            rate.kinds[PACED].add(paced, IP_BYTES, rate_bps, train * IP_BYTES)
            for kind, burst in ((OURS, IP_BYTES), (SAVED, burst_bytes(rate_bps))):
                flood, measurement = flood_fabric(bucket(rate_bps, burst), OVERLOAD * rate_bps, SHORT_S)
                rate.kinds[kind].add(flood, IP_BYTES, rate_bps, burst)
                if kind == OURS:
                    rate.ledger_us.append((measurement.ledger.error_ns["max"] or 0) / 1e3)
            rate.kinds[TBF].add(flood_tbf(rate_bps, TBF_BYTES, SHORT_S), TBF_BYTES, rate_bps, TBF_BYTES)
    return rates


def _figures(rates: dict[int, Rate]) -> Iterator[Figure]:
    for rate_bps, rate in rates.items():
        at = rate_text(rate_bps)
        for kind, windows in rate.kinds.items():
            worst = windows.worst_bytes
            late_us = round(median(worst) * 8e6 / rate_bps, 2)
            ledger = {"ledger_late_us_max": round(median(rate.ledger_us), 2)} if kind == OURS else {}
            yield figure(
                f"excess over every window, {kind}, {at}", "B", worst, None, late_us=late_us, **ledger
            )
            if kind in (PACED, OURS):
                beyond = [100 * share for share in windows.beyond]
                yield figure(f"windows that exceed by more than a packet, {kind}, {at}", "%", beyond, None)
            missed = [100 * share for share in windows.missed]
            yield figure(f"rate that is missed, {kind}, {at}", "%", missed, None)
        both = zip(rate.kinds[OURS].worst_bytes, rate.kinds[PACED].worst_bytes, strict=True)
        # Ratios below one byte would have no meaning.
        ratios = [max(ours, 1) / max(paced, 1) for ours, paced in both]
        yield figure(
            f"excess of a bucket of a packet over that of a paced program, {at}", "ratio", ratios, None
        )


def _panel(rate_bps: int, rate: Rate) -> Panel:
    us = 8e6 / rate_bps
    curves = {kind: np.concatenate(windows.excess_bytes) * us for kind, windows in rate.kinds.items()}
    return Panel(rate_text(rate_bps), curves, (IP_BYTES * us, "1 MTU"))


if __name__ == "__main__":
    found = measured(ROUNDS)
    for line in _figures(found):
        print(line.model_dump_json(), flush=True)
    picture = drawn(
        "By how much windows exceed token buckets, and a program that paces over a bare veth pair",
        [_panel(rate_bps, rate) for rate_bps, rate in found.items()],
        "share of windows with a larger excess, as time at the bucket's rate (us)",
    )
    Path(sys.argv[1]).write_text(picture, encoding="utf-8")
