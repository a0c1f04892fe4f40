"""Claims: RED and WRED drop as figure 2 of their source does, packet by packet or in distribution."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from crosswind.certify.claim import Claim, at_most
from crosswind.certify.table import Packets, play
from crosswind.certify.virtual.exact import wire_bytes
from crosswind.spec.resolved import Parameters
from crosswind.stats import ks_bound, ks_distance
from crosswind.testbed.plain import plain_fabric

FAMILY = "early drops"
RATE_BPS = 100_000_000
BYTE_NS = 8 * 10**9 // RATE_BPS
FULL_PACKET_NS = wire_bytes(1500) * BYTE_NS
PACKETS = 40_000
# A load above 1 fills the queue until enough is dropped; a phase below 1 empties it.
LOADS = (1.6, 0.4)
PHASE_NS = 20_000_000
# One false alarm in a million certificates; with a fixed seed there is none.
ALPHA = 1e-6
PPB = 1_000_000_000
# RFC 2597, section 6: AF11 to AF43 by drop precedence; EF and best effort have no precedence.
PRECEDENCES = ((10, 18, 26, 34), (12, 20, 28, 36), (14, 22, 30, 38))
OTHERS = (46, 0)


@dataclass(frozen=True)
class Profile:
    """The drop probability by average queue: 0 below `low`, `most` at `high`, 1 from twice `high` on."""

    low: int  # Wire bytes.
    high: int  # Wire bytes.
    most: float

    def base(self, average: float) -> float:
        """Return p_b of an average queue in wire bytes.

        Source: Floyd and Jacobson 1993, section 4; between high and twice high Floyd 2000 ("gentle").
        """
        if average < self.high:
            return max(0.0, self.most * (average - self.low) / (self.high - self.low))
        return min(1.0, self.most + (1 - self.most) * (average / self.high - 1))


@dataclass
class Gateway:
    """A model of the gateway in Floyd and Jacobson 1993, figure 2; `happened` gives it the actual drops."""

    profiles: Sequence[Profile]  # By drop precedence.
    weight: float
    average: float = 0.0
    empty_since: float = 0.0
    free_at: int = 0
    # Wire bytes of each packet; the packet that is being sent does not wait.
    waiting: deque[int] = field(default_factory=deque)
    counts: list[int] = field(default_factory=lambda: [-1, -1, -1])

    def chance(self, at_ns: int, precedence: int) -> float:
        """Return p_a of a packet that arrives."""
        self._serve(at_ns)
        if self.waiting:
            self.average = (1 - self.weight) * self.average + self.weight * sum(self.waiting)
        else:
            # As if packets of full size had arrived during all of the idle time.
            self.average *= (1 - self.weight) ** ((at_ns - self.empty_since) / FULL_PACKET_NS)
            self.empty_since = at_ns
        profile = self.profiles[precedence]
        if self.average < profile.low:
            self.counts[precedence] = -1
            return 0.0
        self.counts[precedence] += 1
        base = profile.base(self.average)
        spared = self.counts[precedence] * base
        return min(1.0, base / (1 - spared)) if spared < 1 else 1.0

    def happened(self, at_ns: int, precedence: int, size: int, *, dropped: bool) -> None:
        """Record the fate of the packet that has arrived; `size` is in wire bytes."""
        if dropped:
            self.counts[precedence] = 0
            return
        self.free_at = max(self.free_at, at_ns)
        self.waiting.append(size)
        self._serve(at_ns)

    def _serve(self, now_ns: int) -> None:
        while self.waiting and self.free_at <= now_ns:
            if len(self.waiting) == 1:
                self.empty_since = self.free_at
            self.free_at += self.waiting.popleft() * BYTE_NS


# A step from 0 to 1, and slopes; WRED drops packets of a higher precedence earlier and more often.
STEPS = (Profile(60_000, 60_001, 1.0), Profile(40_000, 40_001, 1.0), Profile(20_000, 20_001, 1.0))
SLOPES = (Profile(20_000, 60_000, 0.1), Profile(15_000, 45_000, 0.2), Profile(10_000, 30_000, 0.4))


@dataclass(frozen=True)
class Policy:
    """An early drop policy: RED, with one profile and count for all packets, or WRED."""

    name: str
    profiles: Sequence[Profile]
    weight: float

    @property
    def drop(self) -> Parameters:
        """The drop policy as a queue has it in a condition."""
        weight: Parameters = {"weight_ppb": round(self.weight * PPB)}
        words: list[Parameters] = [
            {"min_bytes": each.low, "max_bytes": each.high, "probability_ppb": round(each.most * PPB)}
            for each in self.profiles
        ]
        if self.name == "red":
            return {"red": {**words[0], **weight}}
        return {"wred": {**dict(zip(("green", "yellow", "red"), words, strict=True)), **weight}}

    def precedence(self, dscp: int) -> int:
        """Return the position of the profile for a code point."""
        if self.name == "red":
            return 0
        return next((number for number, assured in enumerate(PRECEDENCES) if dscp in assured), 0)


def claims() -> Iterator[Claim]:
    """Yield, for RED and WRED, a claim on certain drops and a claim on random drops."""
    for name, first in (("red", 1), ("wred", 3)):
        chances, dropped, _ = _played(Policy(name, STEPS[:first], weight=0.02))
        yield at_most(
            FAMILY,
            f"{name}, a step in the average: packets whose fate differs from the model",
            "virtual",
            int(np.sum(dropped != (chances >= 1))),
            0,
            "packets",
            "the average queue of figure 2 (Floyd and Jacobson 1993), packet by packet",
            details={"packets": PACKETS, "dropped": int(dropped.sum())},
        )
        chances, dropped, precedences = _played(Policy(name, SLOPES[:first], weight=0.01))
        heights = _heights(chances, dropped, precedences)
        yield at_most(
            FAMILY,
            f"{name}: packets from drop to drop",
            "virtual",
            ks_distance(heights, lambda height: np.clip(height, 0, 1)),
            ks_bound(len(heights), ALPHA),
            "KS",
            "uniform at a constant average, p_b / (1 - count p_b) at any; Dvoretzky, Kiefer and Wolfowitz",
            details={"drops": len(heights), "packets": PACKETS},
        )


def _offered() -> Packets:
    """Return Poisson arrivals of many sizes, with and without an assured forwarding class."""
    rng = np.random.default_rng(9)
    sizes = rng.integers(40, 1501, PACKETS)
    gaps = rng.exponential(wire_bytes(770) * BYTE_NS, PACKETS)
    at = np.cumsum(gaps / LOADS[0])
    # The second half of each phase is stretched, so that the same packets are a lower load.
    phase, within = np.divmod(at, PHASE_NS)
    stretch = LOADS[0] / LOADS[1]
    half = PHASE_NS / 2
    at = phase * half * (1 + stretch) + np.where(within < half, within, half + (within - half) * stretch)
    dscp = rng.choice([*sum(PRECEDENCES, ()), *OTHERS], PACKETS)
    return Packets.of(at.astype(np.int64), sizes, dscp=dscp)


def _played(policy: Policy) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.int64]]:
    """Return p_a, whether it was dropped, and the profile, for every packet."""
    packets = _offered()
    places = {"host.egress": [{"queue": {"drop": policy.drop}}]}
    fates = play(plain_fabric(rate_bps=RATE_BPS, places=places, seed=10), packets)
    dropped = np.zeros(PACKETS, dtype=np.bool_)
    dropped[fates.packet[fates.fate == "red"]] = True
    precedences = np.array([policy.precedence(int(dscp)) for dscp in packets.dscp])
    gateway = Gateway(policy.profiles, policy.weight)
    chances = np.empty(PACKETS)
    rows = zip(packets.at_ns.tolist(), packets.ip_bytes.tolist(), precedences.tolist(), strict=True)
    for number, (at_ns, ip_bytes, precedence) in enumerate(rows):
        chances[number] = gateway.chance(at_ns, precedence)
        gateway.happened(at_ns, precedence, wire_bytes(ip_bytes), dropped=bool(dropped[number]))
    return chances, dropped, precedences


def _heights(
    chances: NDArray[np.float64], dropped: NDArray[np.bool_], precedences: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return, for each drop, the cumulative probability of the number of packets since the previous drop.

    For the right distribution these values are uniform in 0 to 1. Within a step of the discrete distribution
    the value is drawn at random.
    """
    rng = np.random.default_rng(11)
    heights = []
    for precedence in np.unique(precedences):
        spared = 1.0  # The probability of no drop since the last one.
        mine = precedences == precedence
        for chance, drop in zip(chances[mine].tolist(), dropped[mine].tolist(), strict=True):
            if drop:
                heights.append(1 - spared * (1 - chance * rng.uniform()))
            spared = 1.0 if drop else spared * (1 - chance)
    return np.array(heights)
