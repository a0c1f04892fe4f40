"""Fingerprints of networks that were never there: drawn from a seed, and told as the tool tells others."""

from __future__ import annotations

from typing import Any

import numpy as np

from crosswind.fingerprint.bucket.token_bucket import identify
from crosswind.fingerprint.fingerprint import SCHEMA, bucket_parts, delay_part
from crosswind.fingerprint.trace.traffic_trace import TrafficTrace

MACHINE = {"kernel": "6.1", "cpu": "x", "cores": 2, "clock_source": "tsc", "tools": {"crosswind": "1"}}
SAMPLE_S = 0.05


def fingerprint(
    seed: int,
    *,
    delay_ns: float = 1e6,
    packets: int = 400,
    rate_bps: float = 100e6,
    budget_bits: float | None = 90e6,
    low_bps: float = 10e6,
    on_s: float = 3.0,
    **machine: Any,
) -> dict[str, Any]:
    """Return the document of a network; its bucket is empty after `budget / (rate - low)`, if it has one."""
    random = np.random.default_rng(seed)
    at_s = np.arange(0, on_s, SAMPLE_S)
    full_s = on_s if budget_bits is None else budget_bits / (rate_bps - low_bps)

    def phase(begin_s: float, high_s: float) -> tuple[Any, Any, Any]:
        high = np.clip((high_s - at_s) / SAMPLE_S, 0, 1)
        rates = high * rate_bps + (1 - high) * low_bps
        bits = rates * SAMPLE_S * random.normal(1, 0.003, at_s.size)
        return begin_s + at_s, begin_s + at_s + SAMPLE_S, bits

    # The rest gives back what a third of the first phase took.
    again_s = 2 * on_s if budget_bits is None else on_s + full_s * (rate_bps - low_bps) / (3 * low_bps)
    phases = [phase(0.0, full_s), phase(again_s, on_s if budget_bits is None else full_s / 3)]
    trace = TrafficTrace.of(*(np.concatenate(column) for column in zip(*phases, strict=True)))
    parts_bps = rate_bps * 0.95 * random.normal(1, 0.004, 20)
    goodput_bps = float(parts_bps.mean())
    return {
        "schema": SCHEMA,
        "between": ["a", "b"],
        "condition": "drawn",
        "delay": delay_part(np.rint(delay_ns * random.normal(1, 0.004, packets)).astype(np.int64), 0),
        "bulk": {
            "goodput_bps": goodput_bps,
            "each_bps": [goodput_bps / 4] * 4,
            "jain": 1.0,
            "retransmits": 3,
            "parts_bps": parts_bps.tolist(),
        },
        **bucket_parts(1.3 * rate_bps, identify(trace), trace),
        "provenance": MACHINE | machine,
    }
