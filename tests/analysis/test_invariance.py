"""Two dilations of one experiment: the same, different, or undecided; and the certificate of that."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from crosswind.analysis.invariance import agreements, pairs_of
from crosswind.analysis.summarise import summarise
from crosswind.certify.claim import Decision
from crosswind.certify.invariance import certificate_of
from crosswind.certify.text import print_certificate
from crosswind.errors import Exit
from crosswind.report.page import render
from crosswind.report.table import print_table
from crosswind.results.reading import Results
from crosswind.spec.resolved import Resolved


def slowed(folder: Path, **dilations: int | None) -> Path:
    """Give the conditions of a run their dilations: those named `..._10` the one of 10, and so on."""
    document = json.loads((folder / "resolved.json").read_text())
    for condition in document["conditions"]:
        dilation = condition["name"].partition("@")[2]
        if dilation != "real":
            condition["dilation"] = int(dilation)
    (folder / "resolved.json").write_text(json.dumps(document))
    return folder


def outcomes(folder: Path) -> dict[str, str]:
    summary = summarise(folder)
    return {found.pair.condition: found.outcome for found in agreements(summary, summary.measures)}


def resolved(*conditions: dict[str, Any]) -> Resolved:
    return Resolved.model_validate({"application": {"name": "rpc"}, "conditions": list(conditions)})


def test_a_change_beyond_the_margin_is_different_and_one_within_is_the_same(write_run: Any) -> None:
    # Both sides of a condition have the same seed, so that ratios within blocks have no spread.
    folder = write_run(
        "run",
        {
            "none@10": (1, 10, 6), "none@20": (1, 10.4, 6),
            "far@10": (2, 30, 6), "far@20": (2, 31.6, 6),
        },
    )  # fmt: skip
    assert outcomes(slowed(folder)) == {"none": "same", "far": "different"}


def test_spread_leaves_it_undecided_and_says_how_many_rounds_would_decide(write_run: Any) -> None:
    # Single ratios spread by 7 %, and an interval of six by 6 % to each side: more than the margin.
    folder = slowed(write_run("run", {"none@10": (1, 10, 6), "none@20": (2, 10, 6)}))
    summary = summarise(folder)
    (found,) = agreements(summary, summary.measures)
    assert found.outcome == "undecided"
    assert found.low is not None
    assert found.high is not None
    assert found.low < 1 / 1.05 or found.high > 1.05
    assert found.more_rounds is None or found.more_rounds > 0


def test_enough_rounds_decide(write_run: Any) -> None:
    folder = slowed(write_run("run", {"none@10": (1, 10, 60), "none@20": (2, 10, 60)}))
    assert outcomes(folder) == {"none": "same"}


def test_few_trials_never_hold_however_alike_they_are(write_run: Any) -> None:
    folder = slowed(write_run("run", {"none@10": (1, 10, 3), "none@20": (1, 10, 3)}))
    summary = summarise(folder)
    (found,) = agreements(summary, summary.measures)
    assert (found.outcome, found.low, found.more_rounds) == ("undecided", None, 1)
    assert found.reason == "3 of the 4 rounds that an interval needs"


def test_a_block_counts_where_both_trials_do(write_run: Any) -> None:
    folder = write_run("run", {"none@10": (1, 10, 8), "none@20": (1, 10, 8)}, failed={"none@20": 3})
    summary = summarise(slowed(folder))
    (found,) = agreements(summary, summary.measures)
    assert found.rounds == 5


def test_a_value_of_zero_has_no_ratio_and_holds_nothing(write_run: Any) -> None:
    folder = slowed(write_run("run", {"none@10": (1, 0, 6), "none@20": (1, 0, 6)}))
    assert outcomes(folder) == {"none": "undecided"}


def test_pairs_are_a_dilation_and_twice_that_and_the_null_run() -> None:
    found = pairs_of(
        resolved(
            *({"name": f"none@{d or 'real'}", "dilation": d} for d in (None, 1, 10, 20)),
            *({"name": f"far@{d or 'real'}", "dilation": d} for d in (None, 1, 10, 20)),
        )
    )
    assert [(pair.condition, pair.dilations) for pair in found] == [
        ("none", (None, 1)),
        ("none", (10, 20)),
        ("far", (None, 1)),
        ("far", (10, 20)),
    ]
    assert found[0].is_null


def test_conditions_that_differ_in_more_than_their_dilation_are_no_pair() -> None:
    far = {"places": {"link": [{"delay": {"time_ns": 1}}]}}
    assert not pairs_of(resolved({"name": "a", "dilation": 10}, {"name": "b", "dilation": 20} | far))
    # A factor of a design: its level is the dilation, and the other levels have to be the same.
    points = [
        {"name": f"n{n}-{k}", "dilation": k, "factors": {"k": k, "n": n}} for n in (10, 20) for k in (10, 20)
    ]
    assert [(pair.base.name, pair.slower.name) for pair in pairs_of(resolved(*points))] == [
        ("n10-10", "n10-20"),
        ("n20-10", "n20-20"),
    ]


def test_the_report_has_a_column_where_conditions_differ_in_their_dilation(write_run: Any) -> None:
    plain = write_run("plain", {"none": (1, 10, 6)})
    folder = slowed(write_run("run", {"none@10": (1, 10, 6), "none@20": (1, 12, 6)}))
    for run, has_it in ((plain, False), (folder, True)):
        console = Console(file=io.StringIO(), width=200)
        print_table(run, console)
        page = render(Results(run))
        assert isinstance(console.file, io.StringIO)
        assert (" different " in console.file.getvalue()) is has_it
        assert (">different</span>" in page) is has_it
        assert ("At twice the dilation" in page) is has_it
        assert ("10 and 20 times slower, by condition" in page) is has_it


@pytest.mark.parametrize(
    ("scale", "status", "answer"),
    [
        (1.02, Exit.DONE, "Certified: all 2 claims held"),
        (1.2, Exit.TRIALS, "NOT certified: 1 of 2 claims failed"),
    ],
)
def test_the_certificate_has_each_figure_and_what_was_not_slowed_down(
    write_run: Any, scale: float, status: Exit, answer: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = slowed(write_run("run", {"none@10": (1, 10, 6), "none@20": (1, 10 * scale, 6)}))
    clocks(folder, {"refused": [{"call": "io_uring_setup", "count": 2}]})
    certificate = certificate_of(folder, (10, 20), "declared 2 x 10 Gbit/s", 12.0)
    assert certificate.exit is status
    (of_clocks, figure) = certificate.claims
    assert of_clocks.decision is Decision.HELD
    assert of_clocks.remark == "calls refused: io_uring_setup (24)"
    assert figure.measured == pytest.approx(100 * (scale - 1), abs=0.01)
    print_certificate(certificate, Console(width=200))
    said = capsys.readouterr().out.replace("\u00a0", " ")
    assert answer in said
    assert "No null run: declared 2 x 10 Gbit/s." in said
    assert "10 and 20 times slower" in said
    assert ("job time under none: dilation 20 against 10: 20 % higher" in said) is (status is Exit.TRIALS)


def test_a_program_in_real_time_fails_the_certificate_by_name(write_run: Any) -> None:
    folder = slowed(write_run("run", {"none@10": (1, 10, 6), "none@20": (1, 10, 6)}))
    clocks(folder, {"undilated": [{"program": "/bin/odd", "count": 1}]})
    certificate = certificate_of(folder, (10, 20), "", 12.0)
    assert certificate.exit is Exit.TRIALS
    assert "/bin/odd (12)" in certificate.claims[0].remark


def test_a_program_that_reads_the_counter_is_named_by_the_certificate(write_run: Any) -> None:
    folder = slowed(write_run("run", {"none@10": (1, 10, 6), "none@20": (1, 10, 6)}))
    reads = {"program": "/bin/java", "file": "/lib/libticks.so", "reads": 100}
    clocks(folder, {"counters": [reads, {**reads, "file": reads["program"]}]})
    claim = certificate_of(folder, (10, 20), "", 12.0).claims[0]
    assert claim.decision is Decision.HELD
    assert claim.remark == (
        "read the time-stamp counter, which is not slowed down, this often or more: "
        "/bin/java in /lib/libticks.so (1200), /bin/java (1200)"
    )


def test_trials_without_a_measurement_leave_clocks_undecided(write_run: Any) -> None:
    folder = slowed(write_run("run", {"none@10": (1, 10, 6), "none@20": (1, 10, 6)}))
    certificate = certificate_of(folder, (10, 20), "", 12.0)
    assert certificate.exit is Exit.UNDECIDED
    assert "no trial was measured" in certificate.claims[0].remark


def clocks(folder: Path, of_node: dict[str, object]) -> None:
    """Write a measurement of every trial, with one node of whose clocks `of_node` says what is odd."""
    (folder / "monitors").mkdir()
    for name in ("none@10", "none@20"):
        for block in range(6):
            measured = {
                "window": {"started_ns": 0, "ended_ns": 10**9},
                "nodes": [{"node": "server", "dilation": of_node}],
            }
            (folder / "monitors" / f"b{block}-{name}.json").write_text(json.dumps(MEASURED | measured))


MEASURED: dict[str, object] = {
    "ledger": {
        "packets": 1000, "early": 0, "missed": 0, "bound_ns": 100_000,
        "error_ns": {"p50": 100, "p99": 200, "p999": 300, "max": 400},
        "ingress_clamped": 0, "ingress_clamp_ns_max": 0,
    },
    "conservation": {"holds": True},
    "host": {},
}  # fmt: skip
