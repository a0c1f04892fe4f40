"""From what was measured to the simplest condition that gives it, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crosswind.cli._main import run
from crosswind.fingerprint.fit.fitted import NoFit
from crosswind.fingerprint.fit.fitted_condition import condition_from
from crosswind.fingerprint.fit.nearness import correlation_time, nearness
from crosswind.fingerprint.trace.delay_trace import is_delays, read_delays
from crosswind.fingerprint.trace.trace_file import TraceFileError
from crosswind.spec.document import parse_document
from crosswind.spec.quantities import RATE, TIME

RANDOM = np.random.default_rng(5)


def rates_csv(mbps, step_s: float = 1.0) -> bytes:
    rows = "".join(f"{number * step_s:.3f},{rate:.6f}\n" for number, rate in enumerate(mbps))
    return f"time_s,rate_mbps\n{rows}{len(mbps) * step_s:.3f},end\n".encode()


def autoregressive(share: float, count: int) -> np.ndarray:
    """Return a series of mean 0 and deviation 1 whose neighbours are correlated with `share`."""
    series = RANDOM.normal(size=count)
    for number in range(1, count):
        series[number] = share * series[number - 1] + np.sqrt(1 - share**2) * series[number]
    return series


def model_of(content: bytes) -> str:
    text = condition_from("measured.csv", content, "c").text
    return text.split("the model is `")[1].split("`")[0]


def element_of(content: bytes, place: str, kind: str) -> dict:
    text = condition_from("measured.csv", content, "c").text
    return parse_document(text.encode(), "made").data["c"][place][0][kind]


BUCKET = [100] * 20 + [55] + [10] * 30
RATES = {
    "constant": [100.0] * 60,
    "noise": RANDOM.normal(100, 5, 400),
    "bucket": np.array(BUCKET) * RANDOM.normal(1, 0.05, 51),
    "between-quantiles": np.repeat(RANDOM.uniform(50, 150, 200), 5),
    "correlated": 200 + 30 * autoregressive(0.9, 3000),
}


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("constant", "constant"),
        ("noise", "constant"),
        ("bucket", "bucket"),
        ("between-quantiles", "quantiles"),
        ("correlated", "empirical"),
    ],
)
def test_the_simplest_model_that_fits_is_taken(name: str, model: str) -> None:
    assert model_of(rates_csv(RATES[name])) == model


def test_a_draw_holds_as_long_as_it_did() -> None:
    capacity = element_of(rates_csv(RATES["between-quantiles"]), "link", "capacity")
    assert capacity["hold"] == "5s"
    # Even between 50 and 150: its quartiles in wire bits.
    assert RATE.read(capacity["quantiles"]["25%"]) == pytest.approx(75e6 * 1538 / 1500, rel=0.15)


def test_a_block_is_ten_correlation_times_and_the_whole_trace_is_kept() -> None:
    capacity = element_of(rates_csv(RATES["correlated"]), "link", "capacity")
    assert len(capacity["steps"]) == 3000
    # (1 + 0.9) / (1 - 0.9) samples are worth one of an autoregressive series.
    assert TIME.read(capacity["resample"]) / 1e9 == pytest.approx(190, rel=0.4)


def test_the_scores_of_the_others_are_told() -> None:
    remarks = condition_from("measured.csv", rates_csv(RATES["noise"]), "c").notes
    assert [remark.split(":")[0] for remark in remarks] == ["bucket", "quantiles", "empirical"]
    assert "KS" in remarks[-1]


def test_a_bad_fit_is_refused_with_the_reason_and_what_to_try() -> None:
    with pytest.raises(NoFit, match=r"give --as empirical\n  constant: .* autocorrelation .* is above"):
        condition_from("measured.csv", rates_csv(RATES["correlated"]), "c", model="constant")


def test_what_changes_for_good_fits_nothing_and_the_reasons_are_told() -> None:
    drifting = np.linspace(50, 150, 200) + RANDOM.normal(0, 3, 200)
    with pytest.raises(NoFit, match="cut the trace where the network changed") as refused:
        condition_from("measured.csv", rates_csv(drifting), "c")
    assert [line.split(":")[0].strip() for line in str(refused.value).splitlines()[1:]] == [
        "constant",
        "bucket",
        "quantiles",
        "empirical",
    ]


def test_an_unknown_model_is_answered_with_the_nearest(tmp_path: Path, capsys) -> None:
    file = tmp_path / "a.csv"
    file.write_bytes(rates_csv(RATES["constant"]))
    assert run(["conditions", "from", str(file), "--as", "constnat"]) == 2
    assert 'did you mean "constant"?' in capsys.readouterr().err


def test_independent_samples_are_worth_themselves_and_correlated_ones_less() -> None:
    assert correlation_time(RANDOM.normal(size=5000)) == pytest.approx(1, abs=0.2)
    assert correlation_time(autoregressive(0.8, 50_000)) == pytest.approx(9, rel=0.15)


def test_a_model_is_refused_for_its_law_and_for_its_correlation_apart() -> None:
    measured = autoregressive(0.7, 2000) + 20
    assert not nearness(measured, autoregressive(0.7, 20_000) + 20).refused
    law = nearness(measured, 2 * autoregressive(0.7, 20_000) + 20).refused
    assert [words.split()[0] for words in law] == ["KS", "Wasserstein"]
    (correlation,) = nearness(measured, RANDOM.normal(20, 1, 20_000)).refused
    assert correlation.startswith("autocorrelation")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"time_ms,delay_us\n", "has no rows"),
        (b"time_ms,delay_us\n0,1\n1\n", 'line 3: "1" is not a time and a delay'),
        (b"time_ms,delay_us\n1,1\n0,1\n", "line 3: .* is before the time above it"),
        (b"delay_us\n1\nx\n", "line 3"),
        (b"1ms\n2 parsecs\n", "line 2"),
    ],
)
def test_delays_that_cannot_be_meant_are_refused_with_their_line(content: bytes, words: str) -> None:
    assert is_delays(content)
    with pytest.raises(TraceFileError, match=words):
        read_delays("delays.csv", content)


@given(st.sampled_from([b"time_ms,delay_us\n0,1\n1,2.5\n", b"delay_us\n1\n2\n", b"1ms\n2us\n"]), st.data())
def test_damaged_delays_are_read_or_refused(content: bytes, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(content)))
    damaged = content[:at] + data.draw(st.binary(max_size=6)) + content[at + data.draw(st.integers(0, 4)) :]
    if not is_delays(damaged):
        return
    try:
        assert read_delays("any", damaged).delay_ns.size
    except TraceFileError:
        return


def test_few_delays_are_no_law() -> None:
    with pytest.raises(NoFit, match="3 delays are too few"):
        condition_from("d", b"delay_us\n100\n200\n300\n", "d")


def test_a_short_sample_weighs_as_much_as_it_lasts() -> None:
    # 100 Mbit/s for 20.5 s, then 10. In the last 0.2 s are 11 Mbit too much, half a percent of the volume and
    # 2.3 % of the sum of all rates.
    rates = np.array(BUCKET) * 1e6
    trace = [[second, second + 1, rate] for second, rate in enumerate(rates)]
    content = json.dumps({"trace": [*trace, [51, 51.2, 13e6]]}).encode()
    assert "the model is `bucket`" in condition_from("fingerprint.json", content, "c").text
