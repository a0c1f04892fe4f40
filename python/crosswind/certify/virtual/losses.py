"""Losses have the share, and come in runs of the lengths, that their law says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crosswind.certify.claim import Claim, at_most
from crosswind.certify.table import Packets, play
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
class Law:
    """A law of loss whose runs of losses are geometric.

    Attributes:
        share: of packets lost in the long run.
        ends: chance that a run ends with a packet; the mean run is 1 / ends.
        inflation: how much more the share varies than that of independent losses.
    """

    name: str
    law: Mapping[str, Any]
    share: float
    ends: float
    inflation: float


def _ppb(**shares: float) -> dict[str, int]:
    return {f"{name}_ppb": round(share * PPB) for name, share in shares.items()}


def _gilbert(name: str, law: Mapping[str, Any], p: float, r: float) -> Law:
    # Neighbours are correlated by 1 - p - r, which sums to (2 - p - r) / (p + r).
    return Law(name, law, p / (p + r), r, (2 - p - r) / (p + r))


LAWS = (
    Law("bernoulli 1 %", {"bernoulli": _ppb(share=0.01)}, 0.01, 0.99, 1.0),
    Law("bernoulli 30 %", {"bernoulli": _ppb(share=0.3)}, 0.3, 0.7, 1.0),
    _gilbert("gilbert-elliott, runs of 4", {"gilbert_elliott": _ppb(p=0.01, r=0.25, h=0, k=1)}, 0.01, 0.25),
    _gilbert(
        "four-state, runs of 5",
        {"four_state": _ppb(p13=0.02, p31=0.2, p32=0, p23=0, p14=0)},
        0.02,
        0.2,
    ),
)


def claims() -> Iterator[Claim]:
    """Yield the share and the lengths of runs for each law, and a recorded pattern mark by mark."""
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
            "the law's share, with the correlation of its chain",
            details={"share": float(lost.mean()), "packets": PACKETS},
        )
        runs = run_lengths(lost)
        ends = law.ends
        yield at_most(
            FAMILY,
            f"{law.name}: lengths of runs",
            "virtual",
            ks_distance(runs, lambda n, ends=ends: 1 - (1 - ends) ** n, step=1),  # type: ignore[misc]
            ks_bound(len(runs), ALPHA),
            "KS",
            f"geometric; Dvoretzky, Kiefer and Wolfowitz, one false alarm in {1 / ALPHA:.0e}",
            details={"runs": len(runs), "mean_packets": float(runs.mean())},
        )
    marks = np.array([mark == "1" for mark in PATTERN])
    lost = _lost({"trace": {"pattern": PATTERN}}, 1000)
    yield at_most(
        FAMILY,
        "trace: packets lost or spared against the pattern",
        "virtual",
        int(np.sum(lost != np.resize(marks, len(lost)))),
        0,
        "packets",
        "the recorded pattern, again and again",
    )


def _lost(law: Mapping[str, Any], packets: int) -> NDArray[np.bool_]:
    fabric = plain_fabric(places={"host.ingress": [{"lose": {"law": dict(law)}}]}, seed=8)
    return np.isinf(play(fabric, Packets.of(np.arange(packets) * GAP_NS)).departed_ns)
