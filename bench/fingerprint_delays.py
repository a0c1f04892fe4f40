"""The closed loop of delays: emulated ones are measured as a fingerprint does, and their quantiles come back.
Then what `crosswind conditions from` makes of the measurement is emulated and measured, and they come again.

The machine takes its time too, so a bare veth pair is measured beside each delay. What should come back is
a quantile of the sum of the two, independent of each other: of every value of the law with every one of the
pair.

With packets 5 ms apart that floor is not the same from one bare pair to the next, by some us, and of 100 us
3 us may be missed. So the shortest delay is measured in more pieces, and beside it stands the control: what
comes back of a bare pair, by the same rule and in as many pieces, without any emulator.

A shared machine is seldom left alone for long, so a delay is measured in pieces of a second, each with its
own second of the bare pair. A piece counts if the machine left it alone, by what the hypervisor stole, what
other programs used and how long the machine stood still; what was measured in it has no say. Others are tried
again, so often and so long at most, and are left out then.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from bench.figures import Figure, figure, skipped
from bench.fitted import fitted_places
from bench.standstill import Standstill
from crosswind.analysis.network.comparison import compare_fingerprints
from crosswind.certify.quiet import TRIES_MAX, Watch
from crosswind.fingerprint.fingerprint import delay_part
from crosswind.fingerprint.fit.fitted import NoFit
from crosswind.fingerprint.fit.floor import Floor
from crosswind.fingerprint.measure.one_way import PACKETS_PER_S, one_way
from crosswind.fingerprint.measure.own_ends import own_fabric
from crosswind.probe.single_packets import probe_bare
from crosswind.spec import FabricSpec
from crosswind.testbed.plain import plain_fabric

SHARES = (0.5, 0.9, 0.99)
WANTED_NS, WANTED_SHARE = 2_000.0, 0.01
# Of a law that is drawn a P99 must not be missed by the draw: 2000 packets are enough for those below.
PACKETS = 200
# More where the floor's own wander is as large as what is allowed.
PIECES, PIECES_NEAR_FLOOR, NEAR_FLOOR_US = 10, 40, 500
# Two packets in a hundred of a piece are sent while the machine stands still for so long.
STANDSTILL_S_MAX = 0.02
# Tries that do not count, of all delays together.
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
        """Measure a network as a fingerprint does, behind a bare pair; or another bare pair."""
        bare_ns = probe_bare(PACKETS_PER_S, PACKETS).delay_ns
        if fabric is None:
            return cls(probe_bare(PACKETS_PER_S, PACKETS).delay_ns, bare_ns)
        probes = one_way(partial(own_fabric, fabric), PACKETS)
        assert probes is not None, "both nodes of a fabric have one clock"
        return cls(probes.delay_ns, bare_ns)


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

    @property
    def pieces(self) -> int:
        """How many seconds of packets it takes."""
        return PIECES_NEAR_FLOOR if self.time_us < NEAR_FLOOR_US else PIECES

    def values_ns(self) -> NDArray[np.float64]:
        """Return the law at even probabilities."""
        spread = {None: np.zeros(1), "uniform": 2 * _GRID - 1, "normal": ndtri(_GRID)}[self.law]
        return 1e3 * (self.time_us + self.jitter_us * spread)

    def places(self) -> dict[str, Any]:
        """Return the elements, by place, that emulate it."""
        delay: dict[str, Any] = {"time_ns": 1_000 * self.time_us}
        if self.law:
            jitter = {self.law: {"jitter_ns": 1_000 * self.jitter_us}}
            delay["random"] = {"law": jitter, "depth": None, "order": "keep", "half_life_ns": None}
        return {"link": [{"delay": {**delay, "on": ["h0"]}}]}


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

    def measured(self, places: Mapping[str, Any] | None, pieces: int) -> Piece | None:
        """Return all pieces of a network, or of a bare pair, that count, as one; None where they are too few.

        Every piece draws from a seed of its own. Less than half of them say nothing of a P99.
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
        """Return a piece that counts; None where there was none."""
        for _ in range(TRIES_MAX):
            with Standstill() as still, Watch() as watch:
                piece = Piece.of(fabric)
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
    """Yield the error of every quantile of every delay, and how it changes when what was found is emulated.

    Both are shares of what is allowed. Every delay is measured once, whatever the number of rounds: pieces
    take its place.
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


def _control(patience: Patience) -> Iterator[Figure]:
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


def _again(patience: Patience, delay: Delay, first: Piece) -> Iterator[Figure]:
    """Yield how every quantile changes when what was found is emulated, as a share of what is allowed."""
    changes = "change of the delay's p{} over 2 us + 1 % when it is fitted and measured again, {}"
    # Pieces are no series in time: each is one of its own.
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
    model = next(iter(random["law"])) if random else "constant"
    law_ns = floor.taken_off(first.found_ns) if random else np.array([element["time_ns"]])
    documents = [{"delay": delay_part(piece.found_ns, 0)} for piece in (first, second)]
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


def _quantiles(*values_ns: NDArray[Any]) -> Iterator[tuple[float, ...]]:
    """Yield each share with the quantile of each of some values."""
    for share in SHARES:
        yield share, *(float(np.quantile(each, share)) for each in values_ns)


def _allowed_ns(delay_ns: float) -> float:
    return WANTED_NS + WANTED_SHARE * delay_ns
