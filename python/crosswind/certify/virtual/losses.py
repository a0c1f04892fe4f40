"""Claims: losses have the share and the run lengths of their model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from crosswind.certify.claim import Claim, at_most
from crosswind.certify.table import Packets, play
from crosswind.spec.resolved import Parameters
from crosswind.stats import ks_bound, ks_distance, run_lengths
from crosswind.testbed.plain import plain_fabric

FAMILY = "losses"
PACKETS = 200_000
GAP_NS = 1000
# One false alarm in a million certificates; with a fixed seed there is none.
ALPHA = 1e-6
STANDARD_ERRORS_MAX = 5.0
PPB = 1_000_000_000
PATTERN = "0010111000"


@dataclass(frozen=True)
class LossModel:
    """A loss model as a Markov chain with n states; each state loses a share of its packets.

    Attributes:
        law: as the element has it.
        steps: shape (n, n), transition probabilities per packet, from a state (row) to a state (column).
        loses: shape (n,), share of packets lost in each state.
    """

    name: str
    law: Parameters
    steps: NDArray[np.float64]
    loses: NDArray[np.float64]

    @cached_property
    def _visits(self) -> NDArray[np.float64]:
        """The stationary probability of each state."""
        states = len(self.loses)
        equations = np.vstack([self.steps.T - np.eye(states), np.ones(states)])
        shares: NDArray[np.float64] = np.linalg.lstsq(equations, np.append(np.zeros(states), 1))[0]
        return shares

    @property
    def share(self) -> float:
        """The share of packets that is lost in the long run."""
        return float(self._visits @ self.loses)

    @property
    def inflation(self) -> float:
        """The variance of the share, divided by that of independent losses.

        Source: Kemeny and Snell, Finite Markov Chains, 1960, section 4.3: the fundamental matrix sums the
        covariances of states over all distances.
        """
        states = np.eye(len(self.loses))
        fundamental = np.linalg.inv(states - self.steps + self._visits)
        common = (self._visits * self.loses) @ (fundamental - states) @ self.loses
        return float(1 + 2 * common / (self.share * (1 - self.share)))

    def runs(self, longest: int) -> NDArray[np.float64]:
        """Return the probability that a run of losses has at most 0, 1, ... `longest` packets."""
        begins = (self._visits * (1 - self.loses)) @ self.steps
        longer = []
        for _ in range(longest + 1):
            longer.append(float(begins @ self.loses))
            begins = (begins * self.loses) @ self.steps
        return 1 - np.array(longer) / longer[0]


def _ppb(**shares: float) -> Parameters:
    return {f"{name}_ppb": round(share * PPB) for name, share in shares.items()}


def _bernoulli(share: float) -> LossModel:
    law: Parameters = {"bernoulli": _ppb(share=share)}
    return LossModel(f"bernoulli {100 * share:g} %", law, np.ones((1, 1)), np.array([share]))


def _gilbert_elliott(name: str, p: float, r: float, h: float, k: float) -> LossModel:
    law: Parameters = {"gilbert_elliott": _ppb(p=p, r=r, h=h, k=k)}
    return LossModel(name, law, np.array([[1 - p, p], [r, 1 - r]]), np.array([1 - k, 1 - h]))


def _four_state(name: str, p13: float, p31: float, p32: float, p23: float, p14: float) -> LossModel:
    law: Parameters = {"four_state": _ppb(p13=p13, p31=p31, p32=p32, p23=p23, p14=p14)}
    steps = np.array(
        [[1 - p13 - p14, 0, p13, p14], [0, 1 - p23, p23, 0], [p31, p32, 1 - p31 - p32, 0], [1, 0, 0, 0]]
    )
    return LossModel(name, law, steps, np.array([0.0, 0.0, 1.0, 1.0]))


LAWS = (
    _bernoulli(0.01),
    _bernoulli(0.3),
    _gilbert_elliott("gilbert-elliott, runs of 4", p=0.01, r=0.25, h=0, k=1),
    _gilbert_elliott("gilbert-elliott, losses in both states", p=0.02, r=0.2, h=0.4, k=0.99),
    # State 2 is never entered; its transition to state 3 keeps the stationary distribution unique.
    _four_state("four-state, runs of 5", p13=0.02, p31=0.2, p32=0, p23=1, p14=0),
    _four_state("four-state, all steps", p13=0.02, p31=0.2, p32=0.1, p23=0.3, p14=0.01),
)


def claims() -> Iterator[Claim]:
    """Yield claims on the share and the run lengths of each model, and on a recorded pattern."""
    for law in LAWS:
        lost = _lost(law.law, PACKETS)
        error = np.sqrt(law.share * (1 - law.share) * law.inflation / PACKETS)
        yield at_most(
            FAMILY,
            f"{law.name}: share lost",
            "virtual",
            abs(float(lost.mean()) - law.share) / error,
            STANDARD_ERRORS_MAX,
            "standard errors",
            "the share of the model, with the correlation of its chain",
            details={"share": float(lost.mean()), "packets": PACKETS},
        )
        runs = run_lengths(lost)
        # Runs of a general chain are slightly dependent; the bound is wide enough for that.
        upto = law.runs(int(runs.max()))
        yield at_most(
            FAMILY,
            f"{law.name}: run lengths",
            "virtual",
            ks_distance(runs, lambda n, upto=upto: upto[n.astype(np.int64)], step=1),  # type: ignore[misc]
            ks_bound(len(runs), ALPHA),
            "KS",
            f"the model; Dvoretzky, Kiefer and Wolfowitz, one false alarm in {1 / ALPHA:.0e}",
            details={"runs": len(runs), "mean_packets": float(runs.mean())},
        )
    marks = np.array([mark == "1" for mark in PATTERN])
    lost = _lost({"trace": {"pattern": PATTERN}}, 1000)
    yield at_most(
        FAMILY,
        "trace: packets whose fate differs from the pattern",
        "virtual",
        int(np.sum(lost != np.resize(marks, len(lost)))),
        0,
        "packets",
        "the recorded pattern, repeated",
    )


def _lost(law: Parameters, packets: int) -> NDArray[np.bool_]:
    fabric = plain_fabric(places={"host.ingress": [{"lose": {"law": law}}]}, seed=8)
    return np.isinf(play(fabric, Packets.of(np.arange(packets) * GAP_NS)).departed_ns)
