"""The closed loop of delays: emulated ones are measured as a fingerprint does, and their quantiles come back.

The machine takes its time too, so a bare veth pair is measured beside each delay. What should come back is
a quantile of the sum of the two, independent of each other: of every value of the law with every one of the
pair.

A shared machine is seldom left alone for long, so a delay is measured in pieces of a second, each with its
own second of the bare pair. A piece counts if the machine left it alone, by what the hypervisor stole, what
other programs used and how long the machine stood still; what was measured in it has no say. Others are tried
again, so often and so long at most, and are left out then.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from bench.figures import Figure, figure, skipped
from bench.standstill import Standstill
from crosswind.certify.probe import probe_bare
from crosswind.certify.quiet import TRIES_MAX, Watch
from crosswind.fingerprint.measure.one_way import PACKETS_PER_S, one_way
from crosswind.fingerprint.measure.own_ends import own_fabric
from crosswind.testbed.plain import plain_fabric

SHARES = (0.5, 0.9, 0.99)
WANTED_NS, WANTED_SHARE = 2_000.0, 0.01
# Of a law that is drawn a P99 must not be missed by the draw: 2000 packets are enough for those below.
PIECES, PACKETS = 10, 200
# Fewer pieces than this say nothing of a P99.
PIECES_MIN = 5
# Two packets in a hundred of a piece are sent while the machine stands still for so long.
STANDSTILL_S_MAX = 0.02
# Tries that do not count, of all delays together.
REPEATED_S_MAX = 300.0
_GRID = (np.arange(1_000) + 0.5) / 1_000


@dataclass(frozen=True)
class Piece:
    """One-way delays of one second of packets, and of another one over a bare pair, in ns."""

    found_ns: NDArray[np.int64]
    bare_ns: NDArray[np.int64]


@dataclass(frozen=True)
class Delay:
    """A delay of `time_us`, with a part drawn from `law` that is `jitter_us` wide, if there is one.

    Neighbours are 5 ms apart, so that none has to wait for the one before it.
    """

    time_us: int
    law: str | None = None
    jitter_us: int = 0

    def __str__(self) -> str:
        return f"{self.time_us} us" + (f", {self.law} {self.jitter_us} us" if self.law else "")

    def values_ns(self) -> NDArray[np.float64]:
        """Return the law at even probabilities."""
        spread = {None: np.zeros(1), "uniform": 2 * _GRID - 1, "normal": ndtri(_GRID)}[self.law]
        return 1e3 * (self.time_us + self.jitter_us * spread)

    def piece(self, seed: int) -> Piece:
        """Return the one-way delays of a fingerprint, drawn from a seed, and the bare pair's before them."""
        delay: dict[str, Any] = {"time_ns": 1_000 * self.time_us}
        if self.law:
            jitter = {self.law: {"jitter_ns": 1_000 * self.jitter_us}}
            delay["random"] = {"law": jitter, "depth": None, "order": "keep", "half_life_ns": None}
        spec = plain_fabric(places={"link": [{"delay": {**delay, "on": ["h0"]}}]}, seed=seed)
        bare_ns = probe_bare(PACKETS_PER_S, PACKETS).delay_ns
        probes = one_way(partial(own_fabric, spec), PACKETS)
        assert probes is not None, "both nodes of a fabric have one clock"
        return Piece(probes.delay_ns, bare_ns)


DELAYS = (
    *(Delay(time_us) for time_us in (100, 1_000, 10_000, 50_000)),
    *(Delay(time_us, "uniform", time_us // 10) for time_us in (1_000, 10_000)),
    *(Delay(time_us, "normal", time_us // 25) for time_us in (1_000, 10_000)),
)


class Patience:
    """Measures pieces until the machine leaves them alone, for as long as there is time.

    Attributes:
        counted, left_out: pieces.
        repeated: tries that did not count, by what the machine did.
    """

    def __init__(self) -> None:
        self.counted = self.left_out = 0
        self.repeated: dict[str, int] = {}
        self._left_s = REPEATED_S_MAX

    def piece(self, delay: Delay, seed: int) -> Piece | None:
        """Return a piece that counts; None where there was none."""
        for _ in range(TRIES_MAX):
            with Standstill() as still, Watch() as watch:
                piece = delay.piece(seed)
            disturbed = watch.machine.partition(";")[0]
            if still.longest_s > STANDSTILL_S_MAX:
                disturbed = disturbed or f"stood still for more than {1e3 * STANDSTILL_S_MAX:g} ms"
            if not disturbed:
                self.counted += 1
                return piece
            self.repeated[disturbed] = self.repeated.get(disturbed, 0) + 1
            self._left_s -= watch.took_s
            if self._left_s <= 0:
                break
        self.left_out += 1
        return None


def delays_back(_: int) -> Iterator[Figure]:
    """Yield the error of every quantile of every delay, as a share of what is allowed.

    Every delay is measured once, whatever the number of rounds: pieces take its place.
    """
    patience = Patience()
    for delay in DELAYS:
        pieces = [piece for seed in range(PIECES) if (piece := patience.piece(delay, seed + 1)) is not None]
        if len(pieces) < PIECES_MIN:
            yield skipped(
                f"error of the delay, {delay}",
                f"the machine left {len(pieces)} of {PIECES} pieces alone, and {PIECES_MIN} are needed",
            )
            continue
        found_ns = np.concatenate([piece.found_ns for piece in pieces])
        bare_ns = np.concatenate([piece.bare_ns for piece in pieces])
        values_ns = delay.values_ns()
        together_ns = np.add.outer(values_ns, bare_ns)
        for share in SHARES:
            found, declared, bare, wanted = (
                float(np.quantile(each, share)) for each in (found_ns, values_ns, bare_ns, together_ns)
            )
            yield figure(
                f"error of the delay's p{100 * share:g} over 2 us + 1 %, {delay}",
                "ratio",
                [abs(found - wanted) / (WANTED_NS + WANTED_SHARE * declared)],
                "at most 1",
                error_us=round((found - wanted) / 1e3, 2),
                found_us=round(found / 1e3, 2),
                declared_us=round(declared / 1e3, 2),
                bare_us=round(bare / 1e3, 2),
                pieces=len(pieces),
            )
    yield figure(
        "pieces of delays that count",
        "count",
        [patience.counted],
        None,
        repeated=sum(patience.repeated.values()) - patience.left_out,
        left_out=patience.left_out,
        disturbed=patience.repeated,
    )
