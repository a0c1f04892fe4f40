"""Measured delays, netem's distributions and recorded losses are read, or refused with their line."""

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crosswind.spec.measured import parse_delays, parse_dist, parse_losses, spread_dist
from crosswind.spec.text_lines import LineError

Reads = Callable[..., Any]
PARSERS = (parse_delays, parse_dist, parse_losses)


def test_delays_have_units_each_or_in_a_header() -> None:
    assert parse_delays(b"# ping\n1.25ms\n\n800us\n") == (1_250_000, 800_000)
    assert parse_delays(b"delay_ms\n1.25\n0.8000004\n") == (1_250_000, 800_000)


def test_a_distribution_is_numbers_in_lines_of_any_length() -> None:
    # The beginning of a table as iproute2's generators print them: eight a line, a space before each.
    assert parse_dist(b"# The distribution table for X.\n -1 0 8192\n 32767\n") == (
        -1,
        0,
        8192,
        32767,
    )


def test_losses_are_marks_in_lines_of_any_length() -> None:
    assert parse_losses(b"# 8 packets\n0010\n 1 1 0 0 \n") == "00101100"


def test_a_distribution_is_scaled_as_the_kernel_does() -> None:
    # tabledist: (sigma % 8192 * t +- 4096) / 8192 + sigma / 8192 * t, in C's integers: 12 288 is 1.5 x 8192.
    assert spread_dist((8192, -8192, 1, -1, 0), 12_288) == [12_288, -12_288, 2, -2, 0]


@pytest.mark.parametrize(
    ("parse", "content", "message"),
    [
        (parse_delays, b"", "has no delay"),
        (parse_delays, b"1ms\n\nnan\n", "line 3: .nan. is not a time"),
        (parse_delays, b"1ms\n5\n", "line 2: .5. has no unit; .* or name it once in a header: delay_ns"),
        (parse_delays, b"delay_us\n1\n-1\n", "line 3: .-1. is not a plain number"),
        (parse_delays, b"1ms\ndelay_us\n", "line 2:"),
        (parse_delays, b"1ms\n\xff\n", "line 2: is not UTF-8"),
        (parse_delays, b"delay_ns\n" + b"1\n" * 65_537, "line 65538: is one delay too many"),
        (parse_dist, b"# nothing\n", "has no entry"),
        (parse_dist, b"1 2\n3 4.5\n", "line 2: .4.5. is not a whole number"),
        (parse_dist, b"1\n32768\n", "line 2: .32768. is not a whole number"),
        (parse_dist, b"1 " * 16_385, "line 1: has one entry too many; netem reads at most 16384"),
        (parse_losses, b"01\n0x1\n", "line 2: .0x1. is not a row of marks"),
        (parse_losses, b"11\n11\n", "has no received packet"),
        (parse_losses, b"0" * 1_000_001, "line 1: has one mark too many"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_line(parse: Any, content: bytes, message: str) -> None:
    with pytest.raises(LineError, match=message):
        parse(content)


@given(st.sampled_from(PARSERS), st.binary(max_size=60))
def test_any_content_is_read_or_refused(parse: Any, content: bytes) -> None:
    with contextlib.suppress(LineError):
        assert len(parse(content)) > 0


def test_files_count_from_the_file_that_names_them(agent_reads: Reads, tmp_path: Path) -> None:
    (tmp_path / "rtt.csv").write_text("delay_us\n5\n3\n")
    assert agent_reads("delay: {law: {samples: rtt.csv}}")["delay"]["random"]["law"] == {
        "samples": {"samples_ns": [3000, 5000]}
    }
    (tmp_path / "my.dist").write_text("8192 -8192\n")
    assert agent_reads("delay: {time: 1ms, jitter: 10us, law: {dist: my.dist}}")["delay"]["random"][
        "law"
    ] == {"samples": {"samples_ns": [-10_000, 10_000]}}
    (tmp_path / "losses.txt").write_text("0001\n")
    assert agent_reads("lose: {trace: {file: losses.txt}}") == {
        "lose": {"law": {"trace": {"pattern": "0001"}}}
    }


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("delay: {law: {samples: nowhere.csv}}", '"nowhere.csv" cannot be read: no such file or directory'),
        (
            "delay: {time: 1ms, jitter: 1ms, law: {dist: bad.dist}}",
            '"bad.dist" line 1: "x" is not a whole',
        ),
        ("delay: {time: 1ms, law: {dist: bad.dist}}", '"bad.dist" line 1'),
        ("delay: {jitter: 1ms, law: {samples: even.csv}}", "has samples that do not vary"),
        ("lose: {trace: {}}", "must have either a pattern or a file"),
    ],
)
def test_files_that_do_not_do_are_refused(
    written: str, message: str, refusal: Callable[[str], str], tmp_path: Path
) -> None:
    (tmp_path / "bad.dist").write_text("x\n")
    (tmp_path / "even.csv").write_text("1ms\n1ms\n")
    assert message in refusal(written)
