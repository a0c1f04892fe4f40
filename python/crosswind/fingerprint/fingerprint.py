"""The fingerprint of a network between two nodes: what was measured, one after the other, as one document.

Each measurement has a fabric of its own, so that no bucket remembers the one before it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crosswind.certify.probe import probe_fabric
from crosswind.fingerprint.bulk import Bulk, bulk
from crosswind.fingerprint.duty_cycle import duty_cycle
from crosswind.fingerprint.token_bucket import TokenBucket, identify
from crosswind.fingerprint.traffic_trace import TrafficTrace
from crosswind.stats import quantile
from crosswind.store.provenance import provenance

SCHEMA = 1
PROBES, PROBES_PER_S = 400, 200
# More than TCP was given in its fastest moment, headers included.
OVERLOAD = 1.3
_QUANTILES = (0.0, 0.5, 0.9, 0.99, 1.0)
# Enough to tell a level in, however long the measurement.
SAMPLES = 200


@dataclass(frozen=True)
class Fingerprint:
    """What a network is between two of its nodes, from the first to the second.

    Attributes:
        delay_ns: one-way delays of small packets on an idle network, in the order of their arrival.
        lost: of these packets.
        offered_bps: IP bits per second that the trace's sender sent.
        trace: what arrived of them.
        provenance: of the machine, before.
    """

    between: tuple[str, str]
    condition: str
    delay_ns: NDArray[np.int64]
    lost: int
    bulk: Bulk
    offered_bps: float
    trace: TrafficTrace
    token_bucket: TokenBucket
    provenance: Mapping[str, Any]

    def delay_quantiles_ns(self) -> dict[str, float]:
        """Return quantiles of the one-way delay by their names."""
        return {f"p{100 * share:g}": quantile(self.delay_ns, share) for share in _QUANTILES}

    def as_dict(self) -> dict[str, Any]:
        """Return the document (docs/reference/contracts.md, section 9)."""
        samples = zip(self.trace.begin_s, self.trace.end_s, self.trace.bits, strict=True)
        return {
            "schema": SCHEMA,
            "between": list(self.between),
            "condition": self.condition,
            "delay": {
                "packets": self.delay_ns.size + self.lost,
                "lost": self.lost,
                "one_way_ns": self.delay_quantiles_ns(),
                "each_ns": self.delay_ns.tolist(),
            },
            "bulk": asdict(self.bulk),
            "token_bucket": {"offered_bps": self.offered_bps, **asdict(self.token_bucket)},
            "trace": [[round(begin, 9), round(end, 9), round(bits)] for begin, end, bits in samples],
            "provenance": dict(self.provenance),
        }


def measure(
    spec: Mapping[str, Any],
    between: tuple[str, str],
    full_speed_s: float,
    rest_s: float,
    say: Callable[[str], None] = lambda _: None,
) -> Fingerprint:
    """Measure a network.

    Args:
        spec: the fabric (docs/reference/contracts.md, section 1).
        between: the sending node and the receiving one.
        full_speed_s: how long a bucket has to be emptied in; the same again follows after a rest.
        rest_s: how long it has to refill in.
        say: is told what is under way.
    """
    hosts = {node["name"]: node["host"] for node in spec["nodes"]}
    two = {**spec, "nodes": [{"name": name, "host": hosts[name]} for name in between]}
    before = provenance(Path.cwd(), spec["seed"], {})
    say("delay of small packets")
    probes, _ = probe_fabric(two, PROBES_PER_S, PROBES)
    say("bulk transfer")
    transfer = bulk(two)
    say(f"full speed for {full_speed_s:g} s, a rest of {rest_s:g} s, and full speed again")
    offered_bps = OVERLOAD * transfer.fastest_bps
    trace = duty_cycle(two, offered_bps, [full_speed_s] * 2, rest_s, full_speed_s / SAMPLES)
    return Fingerprint(
        between=between,
        condition=spec["condition"]["name"],
        delay_ns=probes.delay_ns,
        lost=probes.lost,
        bulk=transfer,
        offered_bps=offered_bps,
        trace=trace,
        token_bucket=identify(trace),
        provenance=before,
    )
