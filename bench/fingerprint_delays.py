"""The closed loop of delays: emulated delays are measured as in a fingerprint, and compared by quantiles.

Then the condition that `crosswind conditions from` makes of the measurement is emulated and measured again.

The machine itself adds delay, so a bare veth pair is measured next to each delay. The expected value is a
quantile of the sum of both, which are independent: every value of the distribution plus every value of the
pair.

With packets 5 ms apart, this floor differs by some us from one bare pair to the next, and the tolerance for
100 us is 3 us. So the shortest delay is measured in more pieces. Its control is a bare pair, measured by the
same rule and in the same number of pieces, without an emulator.

A shared machine is seldom undisturbed for long, so a delay is measured in pieces of one second, each with its
own second of the bare pair. A piece counts if the machine did not disturb it, by steal, by other programs,
and by stalls; the measured values do not matter. Other pieces are repeated, up to a limit, and then left out.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from bench.figures import Figure, Skipped, figure, skipped
from bench.fitted import fitted_places
from bench.stall import Stalls
from crosswind.analysis.network.comparison import compare_fingerprints
from crosswind.analysis.network.document import SCHEMA, FingerprintDocument
from crosswind.certify.quiet import TRIES_MAX, Watch
from crosswind.fingerprint.fingerprint import delay_part
from crosswind.fingerprint.fit.fitted import NoFit
from crosswind.fingerprint.fit.floor import Floor
from crosswind.fingerprint.measure.one_way import PACKETS_PER_S, one_way
from crosswind.fingerprint.measure.own_ends import own_fabric
from crosswind.probe.single_packets import probe_bare
from crosswind.spec import FabricSpec
from crosswind.spec.resolved import Parameters, Places, number
from crosswind.testbed.plain import plain_fabric

SHARES = (0.5, 0.9, 0.99)
WANTED_NS, WANTED_SHARE = 2_000.0, 0.01
# Enough that the sampling error of a P99 is small: 2000 packets in all for the distributions below.
PACKETS = 200
# More where the variation of the floor is as large as the tolerance.
PIECES, PIECES_NEAR_FLOOR, NEAR_FLOOR_US = 10, 40, 500
# Longer stalls affect 2 % of the packets of a piece.
STALL_S_MAX = 0.02
# Length of the tries that do not count, for all delays together.
REPEATED_S_MAX = 300.0
CONTROL = "none: one bare pair and the next"
_TOO_FEW = "the machine left fewer than half of the pieces alone"
_GRID = (np.arange(1_000) + 0.5) / 1_000


@dataclass(frozen=True)
class Piece:
    """One-way delays of one second of packets, and of another one over a bare pair, in ns."""

    found_ns: NDArray[np.int64]
    bare_ns: NDArray[np.int64]

    @classmethod
    def of(cls, fabric: FabricSpec | None) -> "Piece":
        """Measure a bare pair, then a network as in a fingerprint, or another bare pair."""
        bare_ns = probe_bare(PACKETS_PER_S, PACKETS).delay_ns
        if fabric is None:
            return cls(probe_bare(PACKETS_PER_S, PACKETS).delay_ns, bare_ns)
        probes = one_way(partial(own_fabric, fabric), PACKETS)
        assert probes is not None, "both nodes of a fabric have one clock"
        return cls(probes.delay_ns, bare_ns)


@dataclass(frozen=True)
class Delay:
    """A delay of `time_us`, with jitter of `jitter_us` from `law` if there is one.

    Packets are 5 ms apart, so that none has to wait for the one before it.
    """

    time_us: int
    law: str | None = None
    jitter_us: int = 0

    def __str__(self) -> str:
        return f"{self.time_us} us" + (f", {self.law} {self.jitter_us} us" if self.law else "")

    @property
    def pieces(self) -> int:
        """The number of seconds of packets."""
        return PIECES_NEAR_FLOOR if self.time_us < NEAR_FLOOR_US else PIECES

    def values_ns(self) -> NDArray[np.float64]:
        """Return quantiles at equal steps of probability."""
        spreads: dict[str | None, NDArray[np.float64]] = {
            None: np.zeros(1),
            "uniform": 2 * _GRID - 1,
            "normal": ndtri(_GRID),
        }
        spread = spreads[self.law]
        return 1e3 * (self.time_us + self.jitter_us * spread)

    def places(self) -> Places:
        """Return the elements, by place, that emulate it."""
        delay: Parameters = {"time_ns": 1_000 * self.time_us}
        if self.law:
            jitter: Parameters = {self.law: {"jitter_ns": 1_000 * self.jitter_us}}
            delay["random"] = {"law": jitter, "depth": None, "order": "keep", "half_life_ns": None}
        return {"link": [{"delay": {**delay, "on": ["h0"]}}]}


DELAYS = (
    *(Delay(time_us) for time_us in (100, 1_000, 10_000, 50_000)),
    *(Delay(time_us, "uniform", time_us // 10) for time_us in (1_000, 10_000)),
    *(Delay(time_us, "normal", time_us // 25) for time_us in (1_000, 10_000)),
)


class Patience:
    """Measures pieces until the machine does not disturb them, up to a limit of time.

    Attributes:
        counted, left_out: pieces.
        repeated: tries that did not count, by disturbance.
    """

    def __init__(self) -> None:
        self.counted = self.left_out = 0
        self.repeated: dict[str, int] = {}
        self._left_s = REPEATED_S_MAX

    def measured(self, places: Places | None, pieces: int) -> Piece | None:
        """Return all pieces that count, of a network or a bare pair, as one; None if they are too few.

        Every piece has its own seed. At least half of the pieces are needed for a P99.
        """
        fabrics = (
            None if places is None else plain_fabric(places=places, seed=1 + seed) for seed in range(pieces)
        )
        counting = [piece for piece in map(self._piece, fabrics) if piece is not None]
        if 2 * len(counting) < pieces:
            return None
        found_ns, bare_ns = (
            np.concatenate(each)
            for each in zip(*((piece.found_ns, piece.bare_ns) for piece in counting), strict=True)
        )
        return Piece(found_ns, bare_ns)

    def _piece(self, fabric: FabricSpec | None) -> Piece | None:
        """Return a piece that counts; None if there was none."""
        for _ in range(TRIES_MAX):
            with Stalls() as still, Watch() as watch:
                piece = Piece.of(fabric)
            disturbed = watch.machine.partition(";")[0]
            if still.longest_s > STALL_S_MAX:
                disturbed = disturbed or f"stalled for more than {1e3 * STALL_S_MAX:g} ms"
            if not disturbed:
                self.counted += 1
                return piece
            self.repeated[disturbed] = self.repeated.get(disturbed, 0) + 1
            self._left_s -= watch.took_s
            if self._left_s <= 0:
                break
        self.left_out += 1
        return None


def delays_back(_: int) -> Iterator[Figure | Skipped]:
    """Yield the error of every quantile of every delay, and its change when the measurement is emulated.

    Both are shares of the tolerance. Every delay is measured once, for any number of rounds, because it has
    many pieces.
    """
    patience = Patience()
    yield from _control(patience)
    for delay in DELAYS:
        first = patience.measured(delay.places(), delay.pieces)
        if first is None:
            yield skipped(f"error of the delay, {delay}", _TOO_FEW)
            continue
        for share, found, declared, wanted, bare in _quantiles(
            first.found_ns, delay.values_ns(), np.add.outer(delay.values_ns(), first.bare_ns), first.bare_ns
        ):
            yield figure(
                f"error of the delay's p{100 * share:g} over 2 us + 1 %, {delay}",
                "ratio",
                [abs(found - wanted) / _allowed_ns(declared)],
                "at most 1",
                error_us=round((found - wanted) / 1e3, 2),
                found_us=round(found / 1e3, 2),
                declared_us=round(declared / 1e3, 2),
                bare_us=round(bare / 1e3, 2),
                packets=first.found_ns.size,
            )
        yield from _again(patience, delay, first)
    yield figure(
        "pieces of delays that count",
        "count",
        [patience.counted],
        None,
        repeated=sum(patience.repeated.values()) - patience.left_out,
        left_out=patience.left_out,
        disturbed=patience.repeated,
    )


def _control(patience: Patience) -> Iterator[Figure | Skipped]:
    """Yield the error of a bare pair's quantiles from another one's."""
    control = patience.measured(None, PIECES_NEAR_FLOOR)
    if control is None:
        yield skipped(f"error of the delay, {CONTROL}", _TOO_FEW)
        return
    for share, found, wanted in _quantiles(control.found_ns, control.bare_ns):
        yield figure(
            f"error of the delay's p{100 * share:g} over 2 us + 1 %, {CONTROL}",
            "ratio",
            [abs(found - wanted) / _allowed_ns(0)],
            None,
            error_us=round((found - wanted) / 1e3, 2),
            found_us=round(found / 1e3, 2),
            packets=control.found_ns.size,
        )


def _again(patience: Patience, delay: Delay, first: Piece) -> Iterator[Figure | Skipped]:
    """Yield the change of every quantile when the measurement is emulated, as a share of the tolerance."""
    changes = "change of the delay's p{} over 2 us + 1 % when it is fitted and measured again, {}"
    # The delays of pieces are no time series.
    lines = "\n".join(["delay_ns", *map(str, first.found_ns)])
    floor = Floor(first.bare_ns.astype(np.float64), "the bare pair")
    name = f"change of the delay when it is fitted and measured again, {delay}"
    try:
        places = fitted_places(lines.encode(), floor=floor)
    except NoFit as refused:
        yield skipped(name, str(refused))
        return
    second = patience.measured(places, delay.pieces)
    if second is None:
        yield skipped(name, _TOO_FEW)
        return
    ((_, element),) = places["host.egress"][0].items()
    random = element.get("random")
    law = random.get("law") if isinstance(random, dict) else None
    if isinstance(law, dict):
        model, law_ns = next(iter(law)), floor.taken_off(first.found_ns.astype(np.float64))
    else:
        model, law_ns = "constant", np.array([number(element, "time_ns")], dtype=np.float64)
    documents = [
        FingerprintDocument(schema_version=SCHEMA, between=("n0", "n1"), delay=delay_part(piece.found_ns, 0))
        for piece in (first, second)
    ]
    compared = compare_fingerprints(documents[:1], documents[1:])
    expected_ns = np.add.outer(law_ns, second.bare_ns)
    for share, found, before, expected in _quantiles(second.found_ns, first.found_ns, expected_ns):
        yield figure(
            changes.format(f"{100 * share:g}", delay),
            "ratio",
            [abs(found - before) / _allowed_ns(before)],
            "at most 1",
            change_us=round((found - before) / 1e3, 2),
            expected_us=round((expected - before) / 1e3, 2),
            model=model,
            compare=compared.verdict,
            packets=second.found_ns.size,
        )


def _quantiles(*values_ns: NDArray[np.float64] | NDArray[np.int64]) -> Iterator[tuple[float, ...]]:
    """Yield each share with its quantile of each array."""
    for share in SHARES:
        yield share, *(float(np.quantile(each, share)) for each in values_ns)


def _allowed_ns(delay_ns: float) -> float:
    return WANTED_NS + WANTED_SHARE * delay_ns
