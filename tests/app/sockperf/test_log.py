"""What sockperf 3.7 printed and logged, between nodes under a policer of 20 Mbit/s and over loopback."""

from pathlib import Path

import pytest

from crosswind.app.client_server import OutputError
from crosswind.app.sockperf import SockperfParameters
from crosswind.app.sockperf.application import write_operations
from crosswind.app.sockperf.log import RoundTrip, complaint_of, parse_log, parse_summary, plain

CAPTURED = Path(__file__).parent / "captured"


def captured(name: str) -> str:
    return (CAPTURED / name).read_text()


def test_unanswered_messages_are_counted() -> None:
    summary = parse_summary(captured("under-load-policed.txt"))
    assert (summary.sent, summary.dropped, summary.duplicated, summary.out_of_order) == (10193, 6541, 0, 0)
    assert summary.seconds == 3.017


def test_round_trips_are_exact_and_twice_what_sockperf_calls_latency() -> None:
    round_trips = parse_log(captured("ping-pong.csv").splitlines())
    assert len(round_trips) == parse_summary(captured("ping-pong.txt")).sent == 28
    assert round_trips[0] == RoundTrip(2_410_753_769, 2_410_810_443)
    assert (round_trips[0].received_ns - round_trips[0].sent_ns) / 2 == pytest.approx(28_337, abs=1)


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("nobody.txt", "sockperf: No messages were received from the server. Is the server down?"),
        ("unanswered.txt", "sockperf: No messages were received from the server. Is the server down?"),
        ("refused.txt", "sockperf: Can`t connect socket (errno=111 Connection refused)"),
    ],
)
def test_a_complaint_is_an_error_though_sockperf_exits_with_0(name: str, complaint: str) -> None:
    assert complaint_of(captured(name)) == complaint
    with pytest.raises(OutputError) as raised:
        parse_summary(captured(name))
    assert str(raised.value) == complaint


def test_what_is_cut_off_is_no_result() -> None:
    with pytest.raises(OutputError, match=r"last line: sockperf: Starting test\.\.\."):
        parse_summary(plain(captured("ping-pong.txt")).partition("sockperf: Test end")[0])
    with pytest.raises(OutputError, match="full log is cut off"):
        parse_log(captured("ping-pong.csv")[:1500].splitlines())
    with pytest.raises(OutputError, match="has no messages"):
        parse_log(captured("nobody.csv").splitlines())


def test_a_round_trip_is_a_row_and_the_warm_up_is_not_measured(tmp_path: Path) -> None:
    ms = 1_000_000
    # The log begins 400 ms after the start; measured is what is sent from 500 ms to 600 ms.
    round_trips = [
        RoundTrip(2_400 * ms, 2_401 * ms),
        RoundTrip(2_499 * ms, 2_505 * ms),
        RoundTrip(2_500 * ms, 2_502 * ms),
        RoundTrip(2_599 * ms, 2_650 * ms),
        RoundTrip(2_600 * ms, 2_601 * ms),
    ]
    asked = SockperfParameters.model_validate({"duration": "100ms", "warm_up": "500ms"})
    write_operations(round_trips, 10_000 * ms, asked, tmp_path / "samples.csv")
    rows = [line.split(",") for line in (tmp_path / "samples.csv").read_text().splitlines()]
    assert rows[0] == [
        "operation",
        "connection",
        "intended_ns",
        "started_ns",
        "finished_ns",
        "ok",
        "measured",
    ]
    assert rows[1] == ["message", "0", "12400000000", "12400000000", "12401000000", "1", "0"]
    assert [row[-1] for row in rows[1:]] == ["0", "0", "1", "1", "0"]


def test_a_warm_up_below_that_of_sockperf_is_refused() -> None:
    with pytest.raises(ValueError, match="write warm_up: 400ms"):
        SockperfParameters.model_validate({"duration": "1s", "warm_up": "100ms"})
