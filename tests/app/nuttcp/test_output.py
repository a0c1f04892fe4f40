"""What nuttcp 6.1.2 printed, between nodes under a policer of 20 Mbit/s and elsewhere."""

from pathlib import Path
from typing import Any

import pytest

from crosswind.app.client_server import OutputError
from crosswind.app.nuttcp import Nuttcp, NuttcpParameters
from crosswind.app.nuttcp.application import parse_all
from crosswind.app.nuttcp.output import MEBI, parse_transfer

CAPTURED = Path(__file__).parent / "captured"


def captured(name: str) -> str:
    return (CAPTURED / f"{name}.txt").read_text()


def test_every_transfer_is_read() -> None:
    transfers = parse_all(captured("tcp-policed"), 3, 3)
    assert transfers[0].received_bytes == pytest.approx(1.4928 * MEBI)
    assert transfers[0].seconds == pytest.approx(3.24, abs=0.01)
    assert [round(transfer.received_bps / 1e6, 4) for transfer in transfers] == [3.8616, 2.5525, 2.4646]
    assert [transfer.rtt_ms for transfer in transfers] == [0.55, 0.51, 0.56]


def test_udp_tells_losses_and_no_round_trip() -> None:
    (first, _) = parse_all(captured("udp-policed"), 2, 3)
    assert first.lost_share == pytest.approx(3659 / 5354)
    assert first.sender_cpu == 0.15
    assert first.rtt_ms is None


def test_a_sending_server_tells_no_round_trip() -> None:
    assert [transfer.rtt_ms for transfer in parse_all(captured("tcp-server-sends"), 2, 3)] == [None, None]


def test_fifty_streams_that_starve_each_other_are_all_read() -> None:
    transfers = parse_all(captured("fifty-policed"), 50, 4)
    # They sent for 4 s; half of them took a second more, until their buffers were empty.
    assert sorted(transfer.seconds for transfer in transfers)[25] > 4.9
    longest_s = max(transfer.seconds for transfer in transfers)
    total_bps = 8 * sum(transfer.received_bytes for transfer in transfers) / longest_s
    assert total_bps < 20e6 * 1448 / 1500
    assert sum(transfer.received_bps for transfer in transfers) > 1.2 * total_bps


@pytest.mark.parametrize("name", ["server-killed", "refused"])
def test_a_transfer_without_its_line_has_no_result(name: str) -> None:
    with pytest.raises(OutputError, match="printed no result"):
        parse_transfer(captured(name))


def test_output_that_is_cut_off_names_the_first_stream_without_a_result() -> None:
    text = captured("tcp-policed")
    with pytest.raises(OutputError, match="stream 1: nuttcp: printed no result"):
        parse_all(text[: text.index("megabytes=0.9375")], 3, 3)


@pytest.mark.parametrize("name", ["tcp-policed", "tcp-server-sends", "udp-policed"])
def test_every_truncation_is_refused(name: str) -> None:
    printed, streams = captured(name), captured(name).count("stream ")
    for length in range(len(printed)):
        with pytest.raises(OutputError, match="printed no result"):
            parse_all(printed[:length], streams, 3)


def test_retransmits_are_those_that_the_emulator_counted() -> None:
    def labels(**asked: Any) -> list[str]:
        parameters = NuttcpParameters.model_validate({"duration": "2s"} | asked)
        return [figure.label for figure in Nuttcp(parameters).figures()]

    assert labels() == labels(sender="server") == ["goodput", "retransmits", "fairness"]
    assert labels(protocol="udp", rate="1Mbit/s") == ["goodput", "lost", "fairness"]


def test_a_transfer_that_ended_too_early_is_no_measurement() -> None:
    with pytest.raises(OutputError, match=r"stream 0: nuttcp: ended after 3\.24 s of 10 s"):
        parse_all(captured("tcp-policed"), 3, 10)
