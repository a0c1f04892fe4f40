"""What dnsperf 2.10.0 really printed, read."""

from pathlib import Path

import pytest

from crosswind.app.dns import dnsperf
from crosswind.testbed import TestbedError

CAPTURED = Path(__file__).parent / "captured"
HALF_S = 500_000_000


def lines(name: str) -> list[str]:
    return (CAPTURED / f"{name}.txt").read_text().splitlines(keepends=True)


@pytest.mark.parametrize(
    ("name", "answers", "in_span", "median_us", "max_us"),
    [
        # Counted and sorted by hand behind the fifth stamp, the first 0.5 s after the start; 60 a second.
        ("udp", 59, 54, 6361, 25014),
        ("tcp", 60, 54, (3375 + 3404) / 2, 17644),
    ],
)
def test_the_measured_phase_begins_at_the_first_stamp_behind_the_warm_up(
    name: str, answers: int, in_span: int, median_us: float, max_us: float
) -> None:
    measured = dnsperf.read(lines(name), HALF_S, HALF_S)
    assert (len(measured.latencies_ns), measured.in_span) == (answers, in_span)
    assert (measured.lost, measured.refusals.total()) == (0, 0)
    assert measured.quantile_ns(0.5) == pytest.approx(median_us * 1000)
    assert measured.quantile_ns(1) == max_us * 1000
    assert measured.in_span / measured.span_s == pytest.approx(60, rel=0.005)


def test_losses_of_the_warm_up_are_told_late_and_not_counted() -> None:
    measured = dnsperf.read(lines("lossy"), HALF_S, HALF_S)
    # A query is given up 0.5 s after it was sent. So of the 46 lines of lost queries the 12 up to 0.5 s into
    # the measured phase are the warm-up's: 26 answers and 34 losses are the 60 queries of one second.
    assert (len(measured.latencies_ns), measured.lost, measured.queries) == (26, 34, 60)


def test_answers_that_refuse_are_counted_by_their_code() -> None:
    with pytest.raises(
        TestbedError, match=r"no answer in the measured phase \(0 queries lost, \d+ REFUSED\)"
    ):
        dnsperf.read(lines("refused"), 0, HALF_S)
    mixed = [line.replace("REFUSED h890.", "NOERROR h890.") for line in lines("refused")]
    measured = dnsperf.read(mixed, 0, HALF_S)
    # 50 queries, 5 of them before the first stamp.
    assert (len(measured.latencies_ns), measured.refusals) == (1, {"REFUSED": 44})


def test_a_server_that_says_nothing_is_no_result() -> None:
    with pytest.raises(TestbedError, match="no answer in the measured phase"):
        dnsperf.read(lines("dead"), 200_000_000, HALF_S)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (lines("truncated"), "has no latency at its end"),
        (lines("truncated")[:-1], "is cut off"),
        (lines("udp")[:-13], "is cut off"),
        (
            [line for line in lines("udp") if "h4" not in line],
            r"reports 90 queries completed, but printed \d\d",
        ),
        ([], "is cut off"),
        (lines("udp"), "during the warm-up"),
    ],
)
def test_half_an_output_is_refused(text: list[str], said: str) -> None:
    warm_up_ns = 10 * HALF_S if said == "during the warm-up" else HALF_S
    with pytest.raises(TestbedError, match=said):
        dnsperf.read(text, warm_up_ns, HALF_S)


def test_every_truncation_before_the_last_total_is_refused() -> None:
    printed = "".join(lines("udp"))
    last_total = printed.index("0 (0.00%)")
    for length in range(last_total - 1000, last_total):
        with pytest.raises(TestbedError):
            dnsperf.read(printed[:length].splitlines(keepends=True), HALF_S, HALF_S)


def test_a_latency_that_is_none_names_its_line() -> None:
    broken = [line.replace(" A 0.", " A x.") for line in lines("udp")]
    with pytest.raises(TestbedError, match="has no latency at its end"):
        dnsperf.read(broken, HALF_S, HALF_S)


def test_an_open_loop_has_room_for_everything_that_may_be_lost() -> None:
    assert dnsperf.room_for(4000, 1_000_000_000) == 4001
    assert dnsperf.room_for(1e6, 1_000_000_000) == dnsperf.OUTSTANDING_MAX
