"""Fingerprints of networks that do not exist: drawn from a seed, and written like measured ones."""

from __future__ import annotations

import copy
import json
from functools import cache
from typing import Any

import numpy as np

from crosswind.analysis.network.document import SCHEMA, FingerprintDocument
from crosswind.analysis.network.traffic_trace import TrafficTrace
from crosswind.fingerprint.bucket.token_bucket import identify
from crosswind.fingerprint.fingerprint import bucket_part, delay_part, samples_of

MACHINE = {"kernel": "6.1", "cpu": "x", "cores": 2, "clock_source": "tsc", "tools": {"crosswind": "1"}}
SAMPLE_S = 0.05


def fingerprint(seed: int, **network: Any) -> dict[str, Any]:
    """Return the document of a network as `_drawn` draws it, which the caller may change."""
    return copy.deepcopy(_drawn(seed, **network))


@cache
def _drawn(
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
        "delay": delay_part(
            np.rint(delay_ns * random.normal(1, 0.004, packets)).astype(np.int64), 0
        ).as_json(),
        "bulk": {
            "goodput_bps": goodput_bps,
            "each_bps": [goodput_bps / 4] * 4,
            "jain": 1.0,
            "retransmits": 3,
            "parts_bps": parts_bps.tolist(),
        },
        "token_bucket": bucket_part(1.3 * rate_bps, identify(trace)).as_json(),
        "trace": samples_of(trace),
        "provenance": MACHINE | machine,
    }


def document(content: dict[str, Any]) -> FingerprintDocument:
    """Return the document that a file has."""
    return FingerprintDocument.model_validate_json(json.dumps(content))


def spread(value: float) -> dict[str, float]:
    """Return median and range of repetitions that all gave one value."""
    return {"median": value, "least": value, "most": value}


def machines(sysctl: str = "4096", load: float = 0.25) -> dict[str, Any]:
    """Return one look at two nodes on one machine, as `measure/machines.py` has it."""
    state = {
        "load_average": [load, 0.2, 0.1],
        "memory_bytes": 8_000_000_000,
        "memory_available_bytes": 6_000_000_000,
        "swap_used_bytes": 0,
        "processes": 80,
        "uptime_s": 100.0 + load,
        "steal_s": load / 10,
        "interfaces_bps": {
            "lo": {"received": 0, "sent": 0},
            "eth0": {"received": 2_000_000, "sent": 1_000_000},
        },
    }
    facts = {"time": f"{load}", "host": "m", "cores": 2, "state": state, "sysctls": {"tcp_rmem": sysctl}}
    return {"near": facts, "far": facts, "here": facts}


def transfer(goodput_bps: float, *, jain: float = 1.0, cpu_s_per_gb: float = 2.0) -> dict[str, Any]:
    """Return a repetition of a bulk transfer; its receiver takes twice the sender's CPU time."""
    return {
        "goodput_bps": goodput_bps,
        "jain": jain,
        "parts_bps": [goodput_bps] * 5,
        "sender_cpu_s_per_gb": cpu_s_per_gb,
        "receiver_cpu_s_per_gb": 2 * cpu_s_per_gb,
    }
