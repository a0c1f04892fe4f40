"""What nuttcp 6.1.2 printed, between nodes under a policer of 20 Mbit/s and elsewhere."""

from pathlib import Path

import pytest

from crosswind.app.client_server import OutputError
from crosswind.app.nuttcp.application import parse_all
from crosswind.app.nuttcp.output import MEBI, parse_transfer

CAPTURED = Path(__file__).parent / "captured"


def captured(name: str) -> str:
    return (CAPTURED / f"{name}.txt").read_text()


def test_every_transfer_is_read_and_its_warm_up_taken_off() -> None:
    transfers = parse_all(captured("tcp-policed"), 3, 1)
    # Stream 0: 1.4928 MiB in 3.24 s, of which 0.25 MiB in the first second.
    assert transfers[0].received_bytes == pytest.approx((1.4928 - 0.25) * MEBI)
    assert transfers[0].seconds == pytest.approx(2.243, abs=0.003)
    assert [round(transfer.received_bps / 1e6, 1) for transfer in transfers] == [4.6, 3.5, 2.6]
    assert [transfer.rtt_ms for transfer in transfers] == [0.55, 0.51, 0.56]


def test_without_a_warm_up_the_rate_is_the_one_printed() -> None:
    transfers = parse_all(captured("tcp-policed"), 3, 0)
    assert [round(transfer.received_bps / 1e6, 4) for transfer in transfers] == [3.8616, 2.5525, 2.4646]


def test_losses_of_the_warm_up_are_taken_off_too() -> None:
    (first, _) = parse_all(captured("udp-policed"), 2, 1)
    assert first.lost_share == pytest.approx((3659 - 982) / (5354 - 1759))
    assert first.sender_cpu == 0.15
    assert first.rtt_ms is None


def test_a_sending_server_tells_no_round_trip() -> None:
    assert [transfer.rtt_ms for transfer in parse_all(captured("tcp-server-sends"), 2, 1)] == [None, None]


@pytest.mark.parametrize(("name", "seconds"), [("server-killed", 1), ("refused", 0)])
def test_a_transfer_without_its_last_line_has_no_result(name: str, seconds: int) -> None:
    with pytest.raises(OutputError, match=f"printed {seconds} seconds of the transfer and no result"):
        parse_transfer(captured(name), 1)


def test_output_that_is_cut_off_names_the_first_stream_without_a_result() -> None:
    text = captured("tcp-policed")
    with pytest.raises(OutputError, match="stream 1: nuttcp: printed 1 seconds"):
        parse_all(text[: text.index("megabytes=0.3125")], 3, 1)


def test_a_transfer_that_ended_in_its_warm_up_is_no_measurement() -> None:
    with pytest.raises(OutputError, match="printed 2 seconds of the transfer, and the warm-up alone has 3"):
        parse_all(captured("tcp-policed"), 3, 3)
