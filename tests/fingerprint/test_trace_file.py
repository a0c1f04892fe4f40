"""What other tools wrote is read as they meant it, or refused with its place."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crosswind.fingerprint.trace.trace_file import TraceFileError, read_trace

HERE = Path(__file__).parent
CAPTURED = HERE / "captured"
IPERF3 = HERE.parent / "app" / "iperf3" / "captured"
NUTTCP = HERE.parent / "app" / "nuttcp" / "captured"
TCP = 1500 / 1448


def captured(name: str, **options: object):
    return read_trace(name, (CAPTURED / name).read_bytes(), **options)[0]


def test_iperf3_both_ways_has_two_traces() -> None:
    forth, back = (captured("iperf3-bidir.json", back=back) for back in (False, True))
    assert forth.bits[0] == pytest.approx(8 * 5_102_544 * TCP)
    assert back.bits[0] == pytest.approx(8 * 3_048_096 * TCP)
    assert forth.end_s.tolist() == back.end_s.tolist()


def test_two_sums_of_one_name_are_the_two_ways_as_iperf3_wrote_until_3_10() -> None:
    text = (CAPTURED / "iperf3-bidir.json").read_text().replace("sum_bidir_reverse", "sum").encode()
    trace, _ = read_trace("old", text, back=True)
    assert trace.bits.tolist() == captured("iperf3-bidir.json", back=True).bits.tolist()


def test_iperf3_3_1_is_read_without_what_was_to_be_omitted() -> None:
    def interval(start: float, end: float, omitted: bool) -> dict:
        total = {"start": start, "end": end, "bytes": 1448, "omitted": omitted}
        return {"streams": [{**total, "socket": 4}], "sum": total}

    start = {"version": "iperf 3.1.3", "tcp_mss_default": 1448, "test_start": {"protocol": "TCP"}}
    # Time begins again behind what is omitted.
    run = {"start": start, "intervals": [interval(0, 1, True), interval(0, 1, False), interval(1, 2, False)]}
    trace, _ = read_trace("run.json", json.dumps(run).encode())
    assert trace.bits.tolist() == [12_000.0, 12_000.0]


def test_a_server_that_was_killed_is_the_reason_why_nothing_can_be_read() -> None:
    with pytest.raises(TraceFileError, match="the server has terminated"):
        read_trace("run", (IPERF3 / "server-killed.json").read_bytes())


@pytest.mark.parametrize(("name", "samples"), [("nuttcp-tcp.txt", 3), ("nuttcp-tcp-parse.txt", 3)])
def test_nuttcp_is_read_with_the_precision_of_its_rates(name: str, samples: int) -> None:
    # A bucket of 50 Mbit/s on a path whose packets have 14 bytes of Ethernet that nuttcp does not see.
    trace = captured(name)
    assert trace.bits.size == samples
    assert np.median(trace.rate_bps) == pytest.approx(50e6 * 1500 / 1514, rel=0.01)
    assert trace.end_s[-1] == pytest.approx(3.0 if name == "nuttcp-tcp.txt" else 1.5, rel=0.01)


@pytest.mark.parametrize("name", ["nuttcp-udp.txt", "nuttcp-udp-parse.txt"])
def test_nuttcp_says_how_many_packets_of_udp_there_were(name: str) -> None:
    # 5 Mbit/s of payload in packets of 1024 bytes, and 28 bytes of headers with each.
    assert captured(name).rate_bps.mean() == pytest.approx(5e6 * 1052 / 1024, rel=0.01)


def test_a_transfer_of_nuttcp_without_intervals_is_refused_with_the_option_that_tells_them() -> None:
    with pytest.raises(TraceFileError, match="print with -i1"):
        read_trace("run", b"".join((NUTTCP / "tcp-policed.txt").read_bytes().splitlines(True)[1:]))


def osmef(*megabytes: float | None, concurrent: int | None = None) -> bytes:
    transfers = {
        f"conn_{number}": {"rx": {}}
        if carried is None
        else {"rx": {"megabytes": str(carried), "real_seconds": f"{360 + number}"}, "tx": {"mss": "1448"}}
        for number, carried in enumerate(megabytes)
    }
    return json.dumps({"btc": transfers, "concurrent": concurrent or len(megabytes)}).encode()


def test_transfers_of_osmef_are_a_rate_over_the_longest_of_them() -> None:
    trace, complaint = read_trace("BTC.json", osmef(10.0, 20.0))
    assert complaint is None
    assert trace.rate_bps.tolist() == pytest.approx([30 * 8 * 2**20 * TCP / 361])


def test_a_transfer_of_osmef_without_result_is_named_and_the_others_are_read() -> None:
    trace, complaint = read_trace("BTC.json", osmef(10.0, None))
    assert trace.rate_bps.tolist() == pytest.approx([10 * 8 * 2**20 * TCP / 360])
    assert complaint == "no result of conn_1; read the others"


def pcap(*packets: tuple[float, int]) -> bytes:
    rows = [
        struct.pack("<IIII", int(at), round(at % 1 * 1e6), 20, size)
        + struct.pack(">BBH", 0x45, 0, size)
        + bytes(16)
        for at, size in packets
    ]
    return struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101) + b"".join(rows)


def test_a_capture_is_a_rate_over_windows_and_a_silent_window_is_a_rest() -> None:
    trace, complaint = read_trace(
        "c.pcap", pcap((5.0, 100), (5.5, 200), (6.1, 300), (8.9, 400), (9.2, 500)), window_s=1.0
    )
    # The packet at 4.2 s lies in a window that the capture does not fill.
    assert (trace.begin_s.tolist(), trace.bits.tolist()) == ([0.0, 1.0, 3.0], [2400.0, 2400.0, 3200.0])
    assert complaint is None


def test_a_capture_that_was_cut_keeps_what_comes_before() -> None:
    whole = pcap((0.0, 100), (1.1, 200), (2.2, 300))
    trace, complaint = read_trace("c.pcap", whole[:-5], window_s=1.0)
    assert trace.bits.tolist() == [800.0]
    assert complaint == "ends inside packet 3; it was cut off; read the 2 packets before that"


def test_a_mahimahi_trace_is_what_it_could_carry_and_a_window_without_is_an_outage() -> None:
    trace, _ = read_trace("cell.up", b"1\n1\n100\n250\n", window_s=0.1)
    assert trace.begin_s.tolist() == pytest.approx([0.0, 0.1, 0.2])
    assert trace.end_s.tolist() == pytest.approx([0.1, 0.2, 0.25])
    assert trace.bits.tolist() == [36_000.0, 0.0, 12_000.0]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"1\n2\n2.5\n", "line 3"),
        (b"1\n999999999999\n", "longer --window"),
        (b"nuttcp-t: v6.1.2: Error: connect failed\n", "connect failed"),
        (b"    1.0000 MB /   1.00 sec =    8.3886 Mbps     0 retrans\nboo\n", "line 2"),
        (b"    0.0000 MB /   1.00 sec =    0.0000 Mbps     0 retrans\n", "nothing was carried"),
        (osmef(), "has 0 transfers"),
        (osmef(None), "did nuttcp run"),
        (osmef(1.0, concurrent=5), "says 5 at once"),
        (b'{"intervals": []}{"intervals": []}', "another document"),
        (b'{"a":' * 100_000, "nested|cut off"),
        (pcap((0.0, 100), (0.1, 100)), "shorter --window"),
        (pcap(), "has no packet"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_its_place(content: bytes, words: str) -> None:
    with pytest.raises(TraceFileError, match=words):
        read_trace("run", content, window_s=1.0)


def test_one_way_has_no_way_back() -> None:
    with pytest.raises(TraceFileError, match="leave --back out"):
        read_trace("run", (IPERF3 / "tcp-four-streams.json").read_bytes(), back=True)


FILES = [
    *(file.read_bytes() for file in sorted(CAPTURED.iterdir())),
    osmef(10.0, 20.0),
    pcap((0.0, 100), (1.1, 200), (2.2, 300)),
    *(file.read_bytes() for file in sorted((HERE.parent / "spec" / "captures").iterdir())),
    b"1\n2\n2\n300\n",
    b"time_s,rate_mbps\n0,1\n1,2\n2,end\n",
]


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(FILES), st.data(), st.booleans())
def test_a_damaged_file_is_read_or_refused(content: bytes, data: st.DataObject, back: bool) -> None:
    at = data.draw(st.integers(0, len(content)))
    cut = data.draw(st.integers(at, min(at + 8, len(content))))
    damaged = content[:at] + data.draw(st.binary(max_size=8)) + content[cut:]
    try:
        trace, _ = read_trace("any", damaged, window_s=0.01, back=back)
    except TraceFileError:
        return
    assert trace.bits.any()
