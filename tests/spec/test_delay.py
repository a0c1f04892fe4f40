"""Delays that vary, from a file's words to what the agent reads."""

import statistics
from collections.abc import Callable
from typing import Any

import pytest

Reads = Callable[..., Any]
Refusal = Callable[[str], str]


def law(agent_reads: Reads, written: str) -> Any:
    return agent_reads(f"delay: {written}")["delay"]["random"]["law"]


def test_a_constant_delay_is_a_time_alone(agent_reads: Reads) -> None:
    assert agent_reads("delay: {time: 1ms, on: [h0]}") == {"delay": {"time_ns": 10**6, "on": ["h0"]}}


def test_everything_that_varies_is_written_out_and_times_are_not_scaled(agent_reads: Reads) -> None:
    written = "delay: {time: 10ms, jitter: 1ms, law: pareto-normal, depth: 4096, order: free, half_life: 5ms}"
    assert agent_reads(written, scale=0.1) == {
        "delay": {
            "time_ns": 10**7,
            "random": {
                "law": {"pareto_normal": {"jitter_ns": 10**6}},
                "depth": 4096,
                "order": "free",
                "half_life_ns": 5 * 10**6,
            },
        }
    }


def test_jitter_alone_is_uniform_exact_independent_and_in_order(agent_reads: Reads) -> None:
    assert agent_reads("delay: {time: 10ms, jitter: 1ms}")["delay"]["random"] == {
        "law": {"uniform": {"jitter_ns": 10**6}},
        "depth": None,
        "order": "keep",
        "half_life_ns": None,
    }


def test_a_lognormal_law_has_its_shape_apart_from_its_spread(agent_reads: Reads) -> None:
    assert law(agent_reads, "{time: 1ms, jitter: 100us, law: {lognormal: {sigma: 0.5}}}") == {
        "lognormal": {"jitter_ns": 10**5, "sigma_ppm": 500_000}
    }


def test_measured_delays_are_added_as_they_are(agent_reads: Reads) -> None:
    assert law(agent_reads, "{law: {samples: [3us, 1us, 2us]}}") == {
        "samples": {"samples_ns": [1000, 2000, 3000]}
    }
    bins = "[{low: 0ms, high: 1ms, count: 3}, {low: 2ms, high: 4ms, count: 1}]"
    assert law(agent_reads, f"{{law: {{histogram: {bins}}}}}") == {
        "histogram": {
            "bins": [
                {"low_ns": 0, "high_ns": 10**6, "count": 3},
                {"low_ns": 2 * 10**6, "high_ns": 4 * 10**6, "count": 1},
            ]
        }
    }


def test_of_measured_delays_a_jitter_keeps_only_the_shape(agent_reads: Reads) -> None:
    (samples,) = law(agent_reads, "{time: 5ms, jitter: 1ms, law: {samples: [1us, 2us, 6us]}}").values()
    assert statistics.fmean(samples["samples_ns"]) == pytest.approx(0, abs=1)
    assert statistics.pstdev(samples["samples_ns"]) == pytest.approx(10**6, abs=1)
    # One even bin 12 us wide has the standard deviation 12 / sqrt(12) us.
    bins = "[{low: 100us, high: 112us, count: 9}]"
    (histogram,) = law(agent_reads, f"{{time: 5ms, jitter: 1ms, law: {{histogram: {bins}}}}}").values()
    assert histogram["bins"] == [{"low_ns": -1_732_051, "high_ns": 1_732_051, "count": 9}]


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("{}", "delays nothing; write delay: 20ms, or give a jitter or a law"),
        ("{time: 1ms, order: free}", "has order but does not vary; give a jitter or a law"),
        ("{time: 1ms, half_life: 1ms}", "has half_life but does not vary"),
        ("{time: 1ms, law: normal}", "has a law without a spread; give a jitter"),
        ("{time: 1ms, law: {lognormal: {sigma: 1}}}", "has a law without a spread; give a jitter"),
        ("{time: 1ms, jitter: 1ms, law: gauss}", '"gauss"'),
        ("{time: 1ms, jitter: 0ms}", "is zero"),
        ("{time: 1ms, jitter: 1ms, depth: 1}", "is not a depth; write exact, or 2 to 65536 entries"),
        ("{law: {}}", "must have one law: lognormal, samples, dist or histogram"),
        ("{jitter: 1ms, law: {samples: [2ms, 2ms]}}", "has samples that do not vary; remove the jitter"),
        (
            "{law: {histogram: [{low: 2ms, high: 1ms, count: 1}]}}",
            "has a bin whose high is not above its low",
        ),
        (
            "{law: {histogram: [{low: 0ms, high: 2ms, count: 1}, {low: 1ms, high: 3ms, count: 1}]}}",
            "has bins that overlap or descend; sort them",
        ),
        ("{law: {histogram: [{low: 0ms, high: 2ms, count: 0}]}}", "has no delay in any bin"),
        (
            "{jitter: 1ns, law: {histogram: [{low: 0s, high: 1s, count: 1}, {low: 1s, high: 1h, count: 1}]}}",
            "narrower",
        ),
    ],
)
def test_a_delay_that_means_nothing_is_refused_with_a_remedy(
    written: str, message: str, refusal: Refusal
) -> None:
    assert message in refusal(f"delay: {written}")
