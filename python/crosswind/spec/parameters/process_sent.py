"""Turn the keys of a capacity into the process that the agent runs (contracts.md, section 1)."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from pydantic import JsonValue

from crosswind.spec.ballani import law
from crosswind.spec.parameters.process_keys import BALLANI_HOLD_NS, MarkovState, RateProcess, log_of
from crosswind.spec.quantile_law import CERTAIN_PPB, RateCell, cells_of
from crosswind.spec.resolved import Parameters
from crosswind.spec.scale import scaled
from crosswind.spec.trace import OPPORTUNITY_IP_BYTES


def process_of(given: RateProcess, scale: float) -> Parameters:
    """Return the process of keys without errors. Rates and opportunities are scaled."""
    if given.steps is not None:
        steps = sorted(given.steps.items())
        return _levels(
            given, [at for at, _ in steps], [rate for _, rate in steps], _time(given.repeat), scale
        )
    if given.trace is not None:
        return _trace(given, scale)
    if given.log is not None:
        return _log(given, scale)
    if given.mahimahi is not None:
        return _opportunities(given, scale)
    if given.quantiles is not None:
        assert given.hold_ns is not None
        return _drawn(cells_of(sorted(given.quantiles.items())), 1, given.hold_ns, scale)
    if given.ballani is not None:
        cells, grid_bps = law(given.ballani, given.tails or "published")
        return _drawn(cells, grid_bps, given.hold_ns or BALLANI_HOLD_NS, scale)
    assert given.markov is not None  # Checked when the file was read.
    assert given.hold_ns is not None
    return {"markov": {"states": _states(given.markov, scale), "hold_ns": given.hold_ns}}


def scaled_level(rate_bps: int | None, scale: float) -> int | None:
    """Return a level times `scale`; a rate above zero stays above it, because 0 is an outage."""
    return rate_bps and max(1, scaled(rate_bps, scale))


def _levels(
    given: RateProcess,
    at_ns: Iterable[int],
    rates_bps: Iterable[int | None],
    repeat_ns: int | None,
    scale: float,
) -> Parameters:
    rates = list(rates_bps)
    if scale != 1:
        # A trace has up to a million points, so the fraction is computed once.
        times = Fraction(repr(scale))
        rates = [rate and max(1, rate * times.numerator // times.denominator) for rate in rates]
    if given.resample_ns is None:
        return {"levels": {"at_ns": list(at_ns), "rate_bps": list(rates), "repeat_ns": repeat_ns}}
    return {
        "resampled": {
            "at_ns": list(at_ns),
            "rate_bps": list(rates),
            "period_ns": repeat_ns,
            "block_ns": given.resample_ns,
        }
    }


def _trace(given: RateProcess, scale: float) -> Parameters:
    trace = given.trace.says if given.trace is not None else None
    assert trace is not None  # Files are read with the condition.
    repeat_ns = _time(given.repeat)
    if given.repeat is True or (given.repeat is None and given.resample_ns is not None):
        # Without a written end, the last level lasts as long as the one before it; a single one has no end.
        last_ns, previous_ns = trace.at_ns[-1], trace.at_ns[-2:][0]
        repeat_ns = trace.end_ns or (2 * last_ns - previous_ns) or None
    return _levels(given, trace.at_ns, trace.rate_bps, repeat_ns, scale)


def _log(given: RateProcess, scale: float) -> Parameters:
    log = None if given.log is None else log_of(given.log)
    assert log is not None  # Files are read with the condition.
    goes_up = getattr(given, "direction", None) == "up"
    rates, delays = (log.up_bps, log.up_delay_ns) if goes_up else (log.down_bps, log.down_delay_ns)
    last_ns, previous_ns = log.at_ns[-1], log.at_ns[-2:][0]
    repeat_ns = 2 * last_ns - previous_ns or None if given.repeat is True else _time(given.repeat)
    sent: Parameters = {"at_ns": list(log.at_ns), "repeat_ns": repeat_ns}
    if rates is not None:
        sent["rate_bps"] = [scaled_level(rate, scale) for rate in rates]
    if delays is not None:
        sent["delay_ns"] = list(delays)
    return {"log": sent}


def _opportunities(given: RateProcess, scale: float) -> Parameters:
    trace = given.mahimahi.says if given.mahimahi is not None else None
    assert trace is not None  # Files are read with the condition.
    ip_bytes: list[JsonValue] = [max(1, scaled(count * OPPORTUNITY_IP_BYTES, scale)) for count in trace.count]
    repeat_ns = None if given.repeat is False else trace.at_ns[-1]
    return {"opportunities": {"at_ns": list(trace.at_ns), "ip_bytes": ip_bytes, "repeat_ns": repeat_ns}}


def _drawn(cells: Iterable[RateCell], grid_bps: int, hold_ns: int, scale: float) -> Parameters:
    return {
        "drawn": {
            "cells": [
                {
                    "low_bps": scaled(cell.low_bps, scale),
                    "high_bps": scaled(cell.high_bps, scale),
                    "weight": cell.weight,
                }
                for cell in cells
            ],
            "grid_bps": max(1, scaled(grid_bps, scale)),
            "hold_ns": hold_ns,
        }
    }


def _states(markov: dict[str, MarkovState], scale: float) -> list[JsonValue]:
    states: list[JsonValue] = []
    for name, state in markov.items():
        stays_ppb = CERTAIN_PPB - sum(state.to.values())
        states.append(
            {
                "rate_bps": scaled_level(state.rate_bps, scale),
                "next_ppb": [stays_ppb if other == name else state.to.get(other, 0) for other in markov],
            }
        )
    return states


def _time(repeat: bool | int | None) -> int | None:
    return None if isinstance(repeat, bool) else repeat
