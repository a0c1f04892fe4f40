"""The output of HPCC, as it printed it here: Debian's hpcc 1.5.0-3 and Open MPI 4.1.4 on two nodes.

`passed.txt`: N=1000 on 1 x 2. `failed.txt`: N=200 with a residual threshold that nothing passes.
`truncated.txt`: ended by force in the ring bandwidth, behind 20 Mbit/s. `unasked.txt`: asked for 2 x 2 on two
ranks.
"""

from pathlib import Path

import pytest

from crosswind.app.hpcc.measured import facts_of, metrics_of
from crosswind.app.hpcc.output_file import check_asked, read_report
from crosswind.app.hpcc.parameters import Grid
from crosswind.testbed import TestbedError

ASKED = {"nb": 80, "ranks": 2}


def captured(name: str) -> str:
    return (Path(__file__).parent / "captured" / f"{name}.txt").read_text()


def test_every_measured_key_is_a_metric_in_si_units() -> None:
    summary = read_report(captured("passed")).summary
    found = {metric.metric: metric for metric in metrics_of(summary)}
    # The right-hand sides stand in the file: HPL_Tflops=0.00225095, PTRANS_GBs=0.0842847 and so on.
    expected = {
        "HPL": (2.25095e9, "flop/s"),
        "PTRANS": (84.2847e6, "B/s"),
        "MPIRandomAccess": (345941, "1/s"),
        "MPIFFT": (225.917e6, "flop/s"),
        "SingleDGEMM": (1.3049e9, "flop/s"),
        "RandomlyOrderedRingBandwidth": (410.227e6, "B/s"),
        "RandomlyOrderedRingLatency": (42_638.4, "ns"),
    }
    for name, (value, unit) in expected.items():
        assert (found[name].value, found[name].unit) == (pytest.approx(value), unit)
    assert found["StarSTREAM_Triad"].unit == "B/s"
    assert found["HPL_time"].value == pytest.approx(float(summary["HPL_time"]) * 1e9)
    assert {metric.node for metric in found.values()} == {None}


def test_what_is_no_metric_is_a_fact() -> None:
    facts = facts_of(read_report(captured("passed")).summary)
    assert (facts["CommWorldProcs"], facts["MPIRandomAccess_TimeBound"]) == (2, 60)
    assert facts["VersionRelease"] == "f"
    assert isinstance(facts["HPL_RnormI"], float)


def test_the_time_of_each_test_is_that_between_its_clocks() -> None:
    sections = read_report(captured("passed")).sections_s
    # From 1795294165 to 1795294172, and from 1795294182 to 1795294193.
    assert sections["MPIRandomAccess"] == 7
    assert sections["LatencyBandwidth"] == 11
    assert "Summary" not in sections


def test_a_failed_test_fails_the_trial_though_hpcc_ends_with_0() -> None:
    with pytest.raises(TestbedError, match=r"failed tests: 1 \(Success=0\); HPL: 1 tests completed"):
        read_report(captured("failed"))


def test_an_output_that_ends_early_says_where() -> None:
    with pytest.raises(TestbedError, match="ends in the section LatencyBandwidth, without a summary"):
        read_report(captured("truncated"))


@pytest.mark.parametrize("length", [0, 100, 8_000, 19_000])
def test_no_cut_passes(length: int) -> None:
    with pytest.raises(TestbedError, match="without a summary"):
        read_report(captured("passed")[:length])


def test_a_run_that_did_something_else_is_refused_though_it_calls_itself_a_success() -> None:
    report = read_report(captured("unasked"))
    assert report.summary["Success"] == "1"
    with pytest.raises(TestbedError, match="HPL_N=3520 instead of 200, HPL_nprow=1 instead of 2"):
        check_asked(report.summary, n=200, grid=Grid(p=2, q=2), **ASKED)
    check_asked(read_report(captured("passed")).summary, n=1000, grid=Grid(p=1, q=2), **ASKED)


def test_a_rate_that_does_not_fit_its_time_is_refused() -> None:
    summary = read_report(captured("passed")).summary
    for wrong in ({"HPL_Tflops": "0.00425095"}, {"HPL_time": "nan"}):
        with pytest.raises(TestbedError, match="its summary is wrong"):
            check_asked(summary | wrong, n=1000, grid=Grid(p=1, q=2), **ASKED)


@pytest.mark.parametrize("value", ["0", "-1", "nan"])
def test_a_rate_that_nothing_measured_is_refused(value: str) -> None:
    summary = read_report(captured("passed")).summary | {"PTRANS_GBs": value}
    with pytest.raises(TestbedError, match=f"PTRANS_GBs={value} is not a measured value"):
        metrics_of(summary)
