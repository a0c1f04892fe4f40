"""Credit buckets and pacers in a file: what is read, what the agent is told, and what is refused."""

from typing import Any

import pytest

from crosswind.spec import SpecErrors, resolve
from crosswind.spec.load import parse_experiment

EXPERIMENT = """\
name: shapers
topology:
  hosts: 2
  uplink: {rate: 10Gbit/s, delay: 2us, buffer: 512KiB}
  nodes: {server: h0, client: h1}
scale: 0.1
conditions:
  - shaped: {host.egress: [ELEMENT]}
application: {rpc: {duration: 3s}}
trials: {repeat: 1}
"""
RATES = "high: 10Gbit/s, low: 1Gbit/s, refill: 1Gbit/s, buffer: 1MB"


def resolved(element: str) -> dict[str, Any]:
    experiment = parse_experiment(EXPERIMENT.replace("ELEMENT", element).encode(), "shapers.yaml")
    element_of: dict[str, Any] = resolve(experiment).conditions[0].places["host.egress"][0]
    return element_of


def refusal(element: str) -> str:
    with pytest.raises(SpecErrors) as caught:
        resolved(element)
    (problem,) = caught.value.problems
    return problem.message


def test_a_credit_bucket_is_scaled_in_budget_and_rates_so_that_it_lasts_as_long() -> None:
    exact = {
        "budget_bits": 540 * 10**9,
        "initial_bits": 540 * 10**9,
        "high_bps": 10**9,
        "low_bps": 10**8,
        "refill_bps": 10**8,
        "buffer_bytes": 100_000,
    }
    assert resolved(f"credit: {{budget: 5400Gbit, {RATES}}}") == {"credit": exact}
    partly = exact | {"initial_bits": 10**9, "on": ["server"]}
    assert resolved(f"credit: {{budget: 5400Gbit, initial: 10Gbit, {RATES}, on: [server]}}") == {
        "credit": partly
    }
    assert resolved(f"credit: {{budget: 5400Gbit, {RATES}, loop: {{interval: 1s, reopen: 2Gbit}}}}") == {
        "credit": exact | {"loop": {"interval_ns": 10**9, "reopen_bits": 200 * 10**6}}
    }


def test_a_pacers_horizon_is_a_time_and_not_scaled() -> None:
    assert resolved("pace: {rate: 1Gbit/s}") == {"pace": {"rate_bps": 10**8, "horizon_ns": 2 * 10**9}}
    assert resolved("pace: {rate: unlimited, horizon: 5ms}") == {
        "pace": {"rate_bps": None, "horizon_ns": 5 * 10**6}
    }


@pytest.mark.parametrize(
    ("element", "message"),
    [
        (
            f"credit: {{budget: 100kbit, {RATES}}}",
            'budget "100kbit" (scaled by 0.1: 10000bit) is smaller than one packet of 1500B; write at least',
        ),
        (
            f"credit: {{budget: 10Gbit, initial: 11Gbit, {RATES}}}",
            'initial "11Gbit" is above budget "10Gbit"; give at most that',
        ),
        (
            f"credit: {{budget: 2Gbit, {RATES}, loop: {{interval: 1s, reopen: 2Gbit}}}}",
            'loop: reopen "2Gbit" can never be exceeded by budget "2Gbit"; give less than that',
        ),
        (
            "credit: {budget: 10Gbit, high: 1Gbit/s, low: 2Gbit/s, refill: 1Gbit/s, buffer: 1MB}",
            'low "2Gbit/s" is above high "1Gbit/s"; give at most that: the high rate is the faster one',
        ),
        (
            "credit: {budget: 10Gbit, high: 10Gbit/s, low: 1Gbit/s, refill: 2Gbit/s, buffer: 1MB}",
            'refill "2Gbit/s" is above low "1Gbit/s"; give at most that',
        ),
        (
            f"credit: {{budget: 5400Gbit/s, {RATES}}}",
            'budget "5400Gbit/s" has an unknown unit; write 5400Gbit',
        ),
        (
            f"credit: {{budget: 5400, {RATES}}}",
            'budget "5400" has no unit; write 5400Gbit (units: bit, kbit, Mbit, Gbit, Tbit)',
        ),
        ("pace: {rate: 1Gbit/s, horizon: 0s}", 'horizon "0s" is zero; write a time above zero'),
    ],
)
def test_what_a_shaper_could_not_mean_is_refused(element: str, message: str) -> None:
    assert message in refusal(element)
