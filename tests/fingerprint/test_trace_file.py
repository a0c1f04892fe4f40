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


def omitting(*spans: tuple[float, float, float, int, bool]) -> bytes:
    """Return a run of intervals of (start, end, seconds, bytes, omitted)."""
    keys = ("start", "end", "seconds", "bytes", "omitted")
    totals = [dict(zip(keys, span, strict=True)) for span in spans]
    start = {"tcp_mss_default": 1448, "test_start": {"protocol": "TCP"}}
    return json.dumps({"start": start, "intervals": [{"sum": total} for total in totals]}).encode()


# As iperf 3.9 writes them with `-O 3`: the third omitted interval is missing, the first that counts has a
# begin without its sign, two seconds, and the bytes of one.
OMITTED = [(0, 1.000113, 1.000113, 140_000, True), (1.000113, 2.000114, 1.000001, 217_000, True)]
COUNTED = [(1.000081, 2.000078, 0.999997, 242_000, False), (2.000078, 3.000351, 1.000273, 246_000, False)]


@pytest.mark.parametrize("start", [0.999986, 1.000078, 1.000081, 1.006])
def test_the_first_interval_after_omitted_ones_begins_when_iperf3_set_its_clock_to_0(start: float) -> None:
    run = omitting(*OMITTED, (start, 1.000081, 1.000081 + start, 242_000, False), *COUNTED)
    trace, complaint = read_trace("run.json", run)
    assert complaint is None
    assert trace.begin_s.tolist() == [0.0, 1.000081, 2.000078]
    assert trace.rate_bps[0] == pytest.approx(242_000 * 8 / 1.000081 * TCP)


def test_an_interval_whose_time_cannot_be_known_is_refused_with_its_neighbours() -> None:
    # The one after it begins 0.8 s after its end: one is missing between them, or this one was longer.
    run = omitting(*OMITTED, (0.999986, 0.2, 1.2, 242_000, False), *COUNTED)
    with pytest.raises(TraceFileError, match=r"interval 2: is from 0.999986 s to 0.2 s.*last 1.*remove this"):
        read_trace("run.json", run)


def test_an_interval_that_took_long_since_the_machine_stood_still_is_as_long_as_it_says() -> None:
    spans = [(0, 1, 1, 1448, False), (1, 2, 1, 1448, False), (2, 5.5, 3.5, 1448, False)]
    trace, _ = read_trace("run.json", omitting(*spans, (5.5, 6, 0.5, 1448, False)))
    assert trace.end_s.tolist() == [1, 2, 5.5, 6]


@pytest.mark.parametrize(
    ("name", "back", "begin_s", "mbps"),
    [
        # 3 MBytes of payload in half a second; the two omitted lines are not there.
        ("iperf3-omit.txt", False, [0.0, 0.5, 1.0, 1.5], [3 * 2**24 * TCP / 1e6] * 4),
        # [SUM] of two connections: 2.5 MBytes each way.
        ("iperf3-bidir-two.txt", False, [0.0, 0.5], [2.5 * 2**24 * TCP / 1e6] * 2),
        ("iperf3-bidir-two.txt", True, [0.0, 0.5], [2.5 * 2**24 * TCP / 1e6] * 2),
        # 10 and 9 datagrams with 28 bytes of headers each; 0.5 and 0.51 s.
        ("iperf3-udp.txt", False, [0.0, 0.5], [(2560 * 1.024 + 2.24) / 500, (2304 * 1.024 + 2.016) / 510]),
        # A server's 9.75 MBytes; the line of 256 KBytes in no time is left out.
        ("iperf3-four-server.txt", False, [0.0], [9.75 * 2**23 * TCP / 1e6]),
    ],
)
def test_iperf3s_text_is_read_as_its_json(
    name: str, back: bool, begin_s: list[float], mbps: list[float]
) -> None:
    trace = captured(name, back=back)
    assert trace.begin_s.tolist() == begin_s
    assert (trace.rate_bps / 1e6).tolist() == pytest.approx(mbps)


def test_text_has_the_first_interval_after_omitted_ones_too() -> None:
    lines = (CAPTURED / "iperf3-omit.txt").read_text().splitlines(keepends=True)
    # As 3.9 prints it: the line before is missing, begin and end are the same, the rate is of two intervals.
    lines[5] = lines[5].replace("0.00-0.50 ", "0.50-0.50 ").replace("50.3 Mbits", "25.2 Mbits")
    trace, _ = read_trace("run.txt", "".join(lines[:4] + lines[5:]).encode())
    assert trace.bits.tolist() == pytest.approx(captured("iperf3-omit.txt").bits.tolist())
    assert trace.begin_s.tolist() == [0.0, 0.5, 1.0, 1.5]


@pytest.mark.parametrize("before", ["^C", "Mon Nov 23 17:21:12 2026 "])
def test_what_a_terminal_or_an_option_puts_before_lines_is_passed_over(before: str) -> None:
    lines = (CAPTURED / "iperf3-omit.txt").read_text().splitlines()
    trace, _ = read_trace("run.txt", "\n".join(before + line for line in lines).encode())
    assert trace.bits.tolist() == captured("iperf3-omit.txt").bits.tolist()


def test_text_that_was_interrupted_is_read_as_far_as_it_went() -> None:
    text = (CAPTURED / "iperf3-omit.txt").read_text().partition("- - -")[0]
    trace, complaint = read_trace(
        "run.txt", (text + "iperf3: interrupt - the client has terminated\n").encode()
    )
    assert trace.bits.size == 4
    assert complaint == "iperf3 ended with an error (the client has terminated); read as far as it goes"


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
    assert complaint == "ends inside packet 3; it is truncated; read the 2 packets before that"


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
        (b"    0.0000 MB /   1.00 sec =    0.0000 Mbps     0 retrans\n", "carried nothing"),
        (osmef(), "0 transfers; is the file"),
        (osmef(None), "did nuttcp run"),
        (osmef(1.0, concurrent=5), "`concurrent` 5 and 1 transfers"),
        (b'{"intervals": []}{"intervals": []}', "another document"),
        (b'{"a":' * 100_000, "nested|cut off"),
        (pcap((0.0, 100), (0.1, 100)), "shorter --window"),
        (pcap(), "has no packet"),
        (pcap((0.0, 100)).replace(b"e\0\0\0", b"\x7f\0\0\0"), r"link type 127 \(IEEE802_11_RADIOTAP\)"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_its_place(content: bytes, words: str) -> None:
    with pytest.raises(TraceFileError, match=words):
        read_trace("run", content, window_s=1.0)


@pytest.mark.parametrize("file", [IPERF3 / "tcp-four-streams.json", CAPTURED / "iperf3-omit.txt"])
def test_one_way_has_no_way_back(file: Path) -> None:
    with pytest.raises(TraceFileError, match="leave --back out"):
        read_trace("run", file.read_bytes(), back=True)


@pytest.mark.parametrize(
    ("replaced", "by", "words"),
    [
        ("3.00 MBytes  50.3", "3.00 MBytes  5x.3", "line 4: .* is no interval of iperf3"),
        ("[  5]   0.50-1.00 ", "[  6]   0.50-1.00 ", r"several connections and no \[SUM\]"),
        ("[  5]   ", "-", "printed no intervals; measure without -i 0"),
        ("iperf Done.", "Accepted connection from 10.0.0.1, port 5", "line 15: another run begins"),
    ],
)
def test_text_that_cannot_be_meant_is_refused_with_its_place(replaced: str, by: str, words: str) -> None:
    text = (CAPTURED / "iperf3-omit.txt").read_text().replace(replaced, by)
    with pytest.raises(TraceFileError, match=words):
        read_trace("run", text.encode())


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
