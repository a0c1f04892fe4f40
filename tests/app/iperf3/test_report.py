"""Reports that iperf3 3.12 printed, between nodes under a policer of 20 Mbit/s and elsewhere."""

import json
from pathlib import Path

import pytest

from crosswind.app.client_server import OutputError, check_length
from crosswind.app.iperf3.report import error_of, parse_report

CAPTURED = Path(__file__).parent / "captured"


def captured(name: str) -> str:
    return (CAPTURED / f"{name}.json").read_text()


def test_streams_of_tcp_have_rates_retransmits_and_round_trips() -> None:
    report = parse_report(captured("tcp-four-streams"))
    assert report.version == "iperf 3.12"
    assert report.seconds == pytest.approx(2.014372)
    assert report.received_bps == pytest.approx(265_563_628)
    assert [round(stream.received_bps / 1e6) for stream in report.streams] == [137, 92, 24, 13]
    assert [stream.retransmits for stream in report.streams] == [9, 31, 116, 140]
    assert [stream.rtt_us[0] if stream.rtt_us else None for stream in report.streams] == [
        3289,
        5174,
        4534,
        8026,
    ]
    assert report.client_cpu == pytest.approx(0.01378, abs=1e-5)
    assert report.server_cpu == pytest.approx(0.07143, abs=1e-5)


def test_a_sending_server_tells_no_round_trips_and_no_zero_is_made_of_it() -> None:
    report = parse_report(captured("tcp-server-sends"))
    assert [stream.rtt_us for stream in report.streams] == [None, None]
    assert [stream.retransmits for stream in report.streams] == [87, 76]


@pytest.mark.parametrize("name", ["udp-policed", "udp-server-sends"])
def test_what_arrived_by_udp_is_not_what_was_sent(name: str) -> None:
    report = parse_report(captured(name))
    # Two streams of 20 Mbit/s into a policer of 20: half is lost, and more while the machine is busy. What
    # the streams say and what the sum says are counted differently by iperf3, and must still agree.
    assert sum(stream.received_bps for stream in report.streams) == pytest.approx(
        report.received_bps, rel=0.02
    )
    assert 10e6 < report.received_bps < 20e6
    assert all(0.45 < (stream.lost_share or 0) < 0.75 for stream in report.streams)
    assert all(stream.jitter_ms and stream.retransmits is None for stream in report.streams)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("refused", "unable to connect to server: Connection refused"),
        ("server-killed", "the server has terminated"),
    ],
)
def test_an_error_in_a_report_is_an_error_though_iperf3_exits_with_0(name: str, reason: str) -> None:
    with pytest.raises(OutputError, match=f"iperf3: {reason}"):
        parse_report(captured(name))
    assert error_of(captured(name)) == f"iperf3: {reason}"


def test_a_report_without_an_error_tells_of_none() -> None:
    assert error_of(captured("udp-policed")) is None
    assert error_of("") is None


@pytest.mark.parametrize("share", [0.1, 0.5, 0.999])
def test_a_report_that_is_cut_off_is_no_report(share: float) -> None:
    text = captured("tcp-four-streams").strip()
    with pytest.raises(OutputError, match="cut off"):
        parse_report(text[: int(len(text) * share)])


def test_no_report_and_another_report_are_told_apart() -> None:
    with pytest.raises(OutputError, match="no report"):
        parse_report("\n")
    with pytest.raises(OutputError, match="not a JSON object"):
        parse_report("[1]")
    with pytest.raises(OutputError, match="test_start"):
        parse_report('{"start": {}, "end": {}}')


def test_a_length_that_nobody_asked_for_is_refused() -> None:
    # The report of a killed server says 1231 s, which was the uptime of the machine.
    seconds = json.loads(captured("server-killed"))["end"]["sum_received"]["seconds"]
    with pytest.raises(OutputError, match=r"1231\.73 s; requested were 2 s"):
        check_length("iperf3", seconds, 2)
    check_length("iperf3", 2.014372, 2)
