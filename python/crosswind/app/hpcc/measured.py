"""The numbers in a summary of HPCC as metrics, in SI units, and the whole summary as facts."""

import math
from collections.abc import Mapping
from typing import NamedTuple

from crosswind.results.rows import Metric
from crosswind.testbed.errors import TestbedError

STATISTIC = "value"


class _Unit(NamedTuple):
    """A unit of the summary: the end of its keys, the metric's unit, and the factor between them.

    `drop` is whether the end is only a unit and not part of the name.
    """

    end: str
    unit: str
    scale: float
    drop: bool


# In HPCC, G is 10^9, also for bytes.
_UNITS = (
    _Unit("_Tflops", "flop/s", 1e12, drop=True),
    _Unit("_Gflops", "flop/s", 1e9, drop=True),
    _Unit("_GUPs", "1/s", 1e9, drop=True),
    _Unit("_GBs", "B/s", 1e9, drop=True),
    _Unit("_GBytes", "B/s", 1e9, drop=True),
    _Unit("_usec", "ns", 1e3, drop=True),
    *(_Unit(f"STREAM_{kernel}", "B/s", 1e9, drop=False) for kernel in ("Copy", "Scale", "Add", "Triad")),
    *(_Unit(f"_time{part}", "ns", 1e9, drop=False) for part in ("", *range(7))),
    _Unit("_CheckTime", "ns", 1e9, drop=False),
)


def metrics_of(summary: Mapping[str, str]) -> tuple[Metric, ...]:
    """Return the metrics of a summary: `HPL_Tflops=0.5` becomes `HPL`, 5e11 flop/s.

    Raises: TestbedError: a rate or a latency is not positive, or a time is negative.
    """
    metrics = []
    for key, text in summary.items():
        unit = next((unit for unit in _UNITS if key.endswith(unit.end)), None)
        if unit is not None:
            value = float(text)
            if not math.isfinite(value) or value < 0 or (value == 0 and unit.drop):
                raise TestbedError(
                    f"hpcc: {key}={text} is not a measured value; the test did not run, or n is too small"
                )
            name = key.removesuffix(unit.end) if unit.drop else key
            metrics.append(Metric(None, name, unit.unit, STATISTIC, value * unit.scale))
    return tuple(metrics)


def facts_of(summary: Mapping[str, str]) -> dict[str, int | float | str]:
    """Return the whole summary, with numbers as numbers."""
    return {key: _number(text) for key, text in summary.items()}


def _number(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
