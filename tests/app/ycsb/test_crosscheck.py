"""The other side of the cross-check, read from what go-ycsb 1.0.1 printed against Redis 7.0.15."""

from pathlib import Path

import pytest

from bench.crosscheck import Reported, parse_go_ycsb

CAPTURED = Path(__file__).parent / "captured"


def test_the_rate_and_median_of_the_reads_are_taken_from_the_summary() -> None:
    printed = (CAPTURED / "go-ycsb-reads.txt").read_text()
    assert parse_go_ycsb(printed) == Reported(rate_per_s=7170.1, median_us=55)


def test_a_run_that_failed_altogether_is_refused_though_it_ended_with_0() -> None:
    printed = (CAPTURED / "go-ycsb-all-errors.txt").read_text()
    assert "SCAN_ERROR" in printed
    with pytest.raises(ValueError, match="go-ycsb"):
        parse_go_ycsb(printed)
    reads = (CAPTURED / "go-ycsb-reads.txt").read_text()
    with pytest.raises(ValueError, match="had errors"):
        parse_go_ycsb(reads + printed.splitlines()[-1])


@pytest.mark.parametrize("lines", [0, 5, -3])
def test_a_run_that_did_not_finish_is_refused(lines: int) -> None:
    printed = (CAPTURED / "go-ycsb-reads.txt").read_text()
    with pytest.raises(ValueError, match="did not finish"):
        parse_go_ycsb("\n".join(printed.splitlines()[:lines]))
    with pytest.raises(ValueError, match="did not finish"):
        parse_go_ycsb((CAPTURED / "go-ycsb-no-server.txt").read_text())
