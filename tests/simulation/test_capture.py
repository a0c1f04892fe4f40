"""`crosswind analyze CAPTURE`: one small conversation in every format, from the corpus of the fuzzers."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from crosswind.cli._main import group
from crosswind.errors import CrosswindError
from crosswind.simulation import is_capture
from crosswind.testbed import TestbedError, find_binary

CORPUS = Path(__file__).parents[2] / "fuzz" / "corpus" / "capture"
EVERY_FORMAT = [
    "pcap-ethernet-us",
    "pcap-raw-ns-big-endian",
    "pcap-cooked-1",
    "pcap-cooked-2",
    "pcap-ppp",
    "pcap-tagged-twice",
    "pcapng-big-endian",
]


@pytest.fixture(autouse=True)
def _simulate() -> None:
    try:
        find_binary("crosswind-simulate")
    except TestbedError as reason:
        pytest.skip(str(reason))


def analyze(*arguments: object) -> Result:
    return CliRunner().invoke(group, ["analyze", *map(str, arguments)], standalone_mode=False)


@pytest.mark.parametrize("name", EVERY_FORMAT)
def test_a_conversation_is_the_same_in_every_format(name: str) -> None:
    found = json.loads(analyze(CORPUS / name, "--json").output)
    asks, answers = found["flows"]
    assert (asks["source"], asks["destination"]) == ("10.77.0.1:40000", "10.77.0.2:5432")
    # The SYN is answered after 900 us, and its answer after 50; the first data after 1100. The second data
    # were sent twice and have no time but by timestamps, which tell the two sendings apart.
    assert (asks["handshake"]["p50"], answers["handshake"]["p50"]) == (900_000, 50_000)
    assert (asks["acknowledgement"]["count"], asks["acknowledgement"]["p50"]) == (1, 1_100_000)
    assert (asks["echo"]["min"], asks["echo"]["max"]) == (1_000_000, 1_100_000)
    # Sent again at 210 ms after 3 ms, and the shortest round trip was 0.9 ms.
    assert (asks["retransmissions"], asks["timeouts"], answers["retransmissions"]) == (1, 1, 0)
    assert [silence["silence_ns"] for silence in asks["silences"]] == [207_000_000]
    assert (found["packets"], found["left_out"], found["ended"]) == (8, {}, None)


def test_the_least_timeout_is_what_it_is_said_to_be() -> None:
    for rto, timeouts in (("206ms", 1), ("206.2ms", 0), ("1s", 0)):
        sum_ = json.loads(analyze(CORPUS / EVERY_FORMAT[0], "--rto", rto, "--json").output)["sum"]
        assert (sum_["timeouts"], sum_["retransmissions"]) == (timeouts, 1)


def test_in_captures_of_crosswind_a_flow_counts_where_it_is_sent() -> None:
    (asks,) = json.loads(analyze(CORPUS / "pcapng-own", "--json").output)["flows"]
    assert (asks["at"], asks["packets"], asks["timeouts"]) == ("a", 5, 1)
    said = analyze(CORPUS / "pcapng-own-loses").output
    assert "5 packets were lost at why, as the capture itself says." in said


def test_a_capture_that_was_cut_says_where_and_keeps_what_was_read(tmp_path: Path) -> None:
    cut = tmp_path / "cut.pcap"
    cut.write_bytes((CORPUS / "pcap-ethernet-us").read_bytes()[:-30])
    said = analyze(cut).output
    assert "is cut off at byte" in said
    assert "behind packet 7" in said
    assert "10.77.0.1:40000 -> 10.77.0.2:5432" in said
    cut.write_bytes((CORPUS / "pcap-ethernet-us").read_bytes()[:20])
    assert isinstance(analyze(cut).exception, CrosswindError)


def test_options_that_mean_nothing_for_the_file_are_refused(tmp_path: Path) -> None:
    capture, samples = CORPUS / EVERY_FORMAT[0], tmp_path / "x.csv"
    samples.write_text("ms\n1\n2\n")
    assert (is_capture(capture), is_capture(samples), is_capture(tmp_path / "none")) == (True, False, False)
    for arguments, words in (
        ((capture, "--by", "net"), "--by: has no meaning here"),
        ((samples, "--rto", "1s"), "--rto: has no meaning here"),
        ((capture, "--rto", "200"), "--rto: "),
    ):
        assert words in str(analyze(*arguments).exception)


def test_packets_of_a_link_that_is_not_read_are_left_out_and_said() -> None:
    found = json.loads(analyze(CORPUS / "pcapng-link-not-read", "--json").output)
    assert (found["packets"], found["left_out"], found["ended"]) == (8, {"link-not-read": 3}, None)
    assert "3 packets are of unsupported link types" in analyze(CORPUS / "pcapng-link-not-read").output


def test_a_capture_of_another_link_is_refused_by_number_and_name(tmp_path: Path) -> None:
    content = bytearray((CORPUS / "pcap-ethernet-us").read_bytes())
    content[20] = 127
    (tmp_path / "wireless.pcap").write_bytes(content)
    refused = analyze(tmp_path / "wireless.pcap").exception
    assert isinstance(refused, CrosswindError)
    assert "has packets of link type 127 (IEEE802_11_RADIOTAP)" in str(refused)
