"""Parts of the runner that need no machine: draws, growth, the outcome, signals, what is said."""

import json
import math
import os
import signal
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import BaseModel, ValidationError

from crosswind.app.requirements import GoProgram
from crosswind.errors import CrosswindError, Exit
from crosswind.fingerprint.measure.machines import Busy
from crosswind.results import Journal, Metric, TrialRow
from crosswind.results.provenance import InterfaceRates, MachineOfTestbed
from crosswind.runner.growth import can_settle, forecast, unsettled
from crosswind.runner.interference import check_iperf3, draws
from crosswind.runner.interruption import Interrupted, Interruption
from crosswind.runner.machines import busy
from crosswind.runner.outcome import judge_run
from crosswind.runner.reason import exception_text
from crosswind.spec import Resolved, ResolvedInterference
from crosswind.stats import StoppingLook


def pair(
    rate: dict[str, Any], between: tuple[str, str] = ("h0", "h1"), hold_ns: int = 5_000_000_000
) -> ResolvedInterference:
    return ResolvedInterference.model_validate(
        {
            "between": list(between), "by": "iperf3", "rate": rate, "hold_ns": hold_ns, "pacing_ns": 10**6,
            "packet_ip_bytes": 1500,
        }
    )  # fmt: skip


NORMAL = {"normal": {"mean_bps": 5_000_000, "sd_bps": 2_000_000, "low_bps": 0, "high_bps": 10_000_000}}


def test_the_same_seed_draws_the_same_rates_and_pairs_differ() -> None:
    first, again, other = (
        list(islice(draws(pair(NORMAL, between), 7), 20))
        for between in (("h0", "h1"), ("h0", "h1"), ("h2", "h3"))
    )
    assert first == again
    assert first != other
    assert first != list(islice(draws(pair(NORMAL), 8), 20))


def test_draws_follow_the_clipped_law() -> None:
    rates = np.array(list(islice(draws(pair(NORMAL), 7), 20_000)))
    assert rates.min() >= 0
    assert rates.max() <= 10_000_000
    # A normal law clipped at 2.5 sd on both sides keeps its mean and has sd 1.977 of 2; 20 000 draws give the
    # mean within 4 * 1.977 / sqrt(20 000) = 0.056.
    assert rates.mean() == pytest.approx(5_000_000, abs=56_000)
    assert rates.std() == pytest.approx(1_977_000, rel=0.02)
    # P(draw <= 0) is 0.62 %.
    assert 0.004 < (rates == 0).mean() < 0.009


def test_a_constant_law_is_constant() -> None:
    assert list(islice(draws(pair({"constant_bps": 5}), 1), 3)) == [5, 5, 5]


def test_iperf3_refuses_a_hold_that_it_cannot_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crosswind.runner.interference.IPERF3", GoProgram("sh", "v1.0.0", "sh", "sh"))
    with pytest.raises(CrosswindError, match=r"hold 2\.5s is not a whole number"):
        check_iperf3([pair(NORMAL, hold_ns=2_500_000_000)])


def test_a_missing_iperf3_is_a_preflight_error_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "crosswind.runner.interference.IPERF3", GoProgram("no-such-iperf3", "v1.0.0", "iperf3", "iperf3")
    )
    with pytest.raises(CrosswindError, match="crosswind apps install iperf3") as refused:
        check_iperf3([pair(NORMAL)])
    assert refused.value.exit is Exit.PREFLIGHT
    check_iperf3([])


def trial(name: str, position: int = 0, **changes: Any) -> TrialRow:
    fields: dict[str, Any] = {
        "trial": name, "block": position, "position": position, "condition": "a", "application": "rpc",
        "status": "done", "reason": None, "fidelity": "faithful", "fidelity_reason": None, "started": None,
        "duration_s": 1.0, "attempt": 1, "seed": 7,
    }  # fmt: skip
    return TrialRow(**fields | changes)


JOB_TIME = {"metric": "job.time", "statistic": "value", "unit": "ns", "label": "job time", "better": "lower"}
MEDIAN = {"metric": "latency", "statistic": "p50", "unit": "ns", "label": "P50", "better": "lower"}


def grown(
    tmp_path: Path,
    values_ns: list[float | None],
    within: float,
    at_most: int = 60,
    **trials: object,
) -> dict[str, StoppingLook]:
    until = {"quantile": 0.5, "within": within, "confidence": 0.95}
    tmp_path.mkdir(exist_ok=True)
    with Journal(tmp_path / "journal.sqlite") as journal:
        for position, value in enumerate(values_ns):
            name = f"t{position}"
            journal.plan([trial(name, position, status="pending")])
            if value is None:
                journal.failed(name, trial(name, position, status="failed", fidelity=None))
            else:
                metrics = [Metric("client", "latency", "ns", "p50", value)]
                journal.stored(name, trial(name, position), metrics)
        resolved = Resolved.model_validate(
            {
                "trials": {"repeat": {"at_least": 2, "at_most": at_most, "until": until}, **trials},
                "conditions": [{"name": "a"}],
                "application": {"name": "spark", "figures": [JOB_TIME, MEDIAN]},
            }
        )
        return unsettled(resolved, journal, tmp_path)


def test_five_trials_are_too_few_for_any_median_interval(tmp_path: Path) -> None:
    look = grown(tmp_path, [100.0] * 5, within=0.5)["a"]
    assert look.waiting_for == "no interval yet, which needs 6 trials that end"
    assert look.forecast == 8


def test_equal_trials_are_narrow_at_the_third_look(tmp_path: Path) -> None:
    # Six are the fewest for a median, so the looks in a row are at 6, 7 and 8.
    looks = grown(tmp_path / "six", [100.0] * 6, within=0.01)
    assert "1 of 3 looks" in looks["a"].waiting_for
    assert forecast(looks) == (
        "a after 6: narrow enough (0.00%) at 1 of 3 looks in a row; about 8 trials of each"
    )
    assert grown(tmp_path / "eight", [100.0] * 8, within=0.01) == {}


def test_six_spread_trials_are_wide(tmp_path: Path) -> None:
    # The interval of six is [smallest, largest]: half its width is 25, half of the median is 50.
    assert grown(tmp_path, [75.0, 90.0, 100.0, 100.0, 110.0, 125.0], within=0.1)["a"].achieved == 0.25


def test_a_kept_bucket_that_drains_leaves_nothing_to_wait_for(tmp_path: Path) -> None:
    (tmp_path / "monitors").mkdir()
    for position in range(8):
        credit = {"budget_bits": 80, "refill_bps": 1, "first_bits": 80 - 10 * position, "left_bits": 0}
        measured = {
            "window": {"started_ns": 0, "ended_ns": 1, "realtime_minus_monotonic_ns": 0},
            "ledger": {"packets": 0, "early": 0, "missed": 0, "bound_ns": 0},
            "conservation": {"holds": True},
            "host": {},
            "elements": [{"element": "client/host.egress/0:credit", "credit": credit}],
        }
        (tmp_path / "monitors" / f"t{position}.json").write_text(json.dumps(measured))
    fresh = grown(tmp_path / "fresh", [100.0] * 8, within=0.01)
    kept = grown(tmp_path, [100.0] * 8, within=0.01, budgets="kept", rest_s=0.0)
    assert fresh == {}
    assert kept["a"].guard.leak == "bucket"
    assert not can_settle(kept)
    assert can_settle(grown(tmp_path / "five", [100.0] * 5, within=0.5))


def test_a_failed_trial_keeps_an_experiment_growing(tmp_path: Path) -> None:
    assert grown(tmp_path, [100.0] * 5 + [None], within=0.5)["a"].achieved == math.inf


def judged(
    *rows: list[TrialRow], accept_void: bool = False, stopped: str | None = None
) -> tuple[Exit, list[str]]:
    attempts = {f"t{number}": attempts for number, attempts in enumerate(rows)}
    outcome = judge_run(Path("results/x"), attempts, accept_void=accept_void, stopped=stopped, unsettled={})
    return outcome.exit, outcome.remarks


def test_a_run_without_blemish_is_done() -> None:
    assert judged([trial("t0")], [trial("t1")]) == (Exit.DONE, [])


def test_a_void_trial_that_succeeded_when_repeated_does_not_count() -> None:
    assert judged([trial("t0", fidelity="void"), trial("t0-a2")]) == (Exit.DONE, [])


def test_a_failed_trial_names_the_folder_with_the_output_of_its_programs(tmp_path: Path) -> None:
    rows = {"t0": [trial("t0", status="failed", reason="no operation succeeded; see its log")]}

    def remark() -> str:
        # The way on follows.
        found, *_ = judge_run(tmp_path, rows, accept_void=False, stopped=None, unsettled={}).remarks
        return found

    assert remark() == "1 trial failed: t0: no operation succeeded; see its log"
    (tmp_path / "logs" / "t0").mkdir(parents=True)
    assert remark().endswith(f"; see its log (output of its programs: {tmp_path}/logs/t0)")


def test_void_trials_exit_4_unless_declared_acceptable() -> None:
    void = trial("t0", fidelity="void", fidelity_reason="1 packets left early")
    assert judged([void])[0] is Exit.TRIALS
    status, remarks = judged([void], accept_void=True)
    assert status is Exit.DONE
    assert "left early" in remarks[0]
    assert not any("crosswind resume" in remark for remark in remarks)


def test_a_run_with_void_trials_names_one_way_on_and_the_guide() -> None:
    """The last lines, the exit status and the guide send a reader to the same verb."""
    void = trial("t0", fidelity="void", fidelity_reason="the emulator's core stalled")
    _, remarks = judged([void], [trial("t1")])
    assert remarks[1:] == [
        "remove the cause, then run failed and void trials again: crosswind resume results/x",
        "why trials are degraded or void, and what you may quote: docs/guides/degraded.md",
    ]
    assert (Path(__file__).parents[2] / "docs/guides/degraded.md").is_file()


def test_a_degraded_trial_counts_and_the_guide_says_how_much() -> None:
    status, remarks = judged([trial("t0", fidelity="degraded", fidelity_reason="late")])
    assert status is Exit.DONE
    assert remarks == ["why trials are degraded or void, and what you may quote: docs/guides/degraded.md"]


def test_a_failed_trial_exits_4_and_says_why() -> None:
    status, remarks = judged([trial("t0", status="failed", reason="postgres on db0: killed by signal 9")])
    assert status is Exit.TRIALS
    assert "signal 9" in remarks[0]


def test_an_interrupted_run_tells_how_to_continue() -> None:
    status, remarks = judged([trial("t0")], [], stopped="interrupted by SIGINT")
    assert status is Exit.TRIALS
    assert remarks == ["interrupted by SIGINT", "1 trial pending; continue with: crosswind resume results/x"]


def test_a_signal_outside_of_the_allowed_part_waits_for_the_next_check() -> None:
    interruption = Interruption()
    with interruption.handling():
        os.kill(os.getpid(), signal.SIGTERM)
        with pytest.raises(Interrupted, match="SIGTERM"):
            interruption.check()


def wait_for_a_signal(interruption: Interruption) -> None:
    with interruption.allowed():
        os.kill(os.getpid(), signal.SIGINT)
        signal.pause()


def test_a_signal_inside_of_the_allowed_part_is_raised_once() -> None:
    interruption = Interruption()
    with interruption.handling():
        with pytest.raises(Interrupted, match="SIGINT"):
            wait_for_a_signal(interruption)
        # The undoing that follows must not be cut short by an impatient second one.
        os.kill(os.getpid(), signal.SIGINT)


def test_the_handlers_are_given_back() -> None:
    before = signal.getsignal(signal.SIGINT)
    with Interruption().handling():
        assert signal.getsignal(signal.SIGINT) != before
    assert signal.getsignal(signal.SIGINT) == before


def test_a_document_with_errors_is_a_reason_of_one_line() -> None:
    class Answer(BaseModel):
        operations: int
        errors: int

    for text, reason in (
        ('{"operations": 1', "Invalid JSON: EOF while parsing an object at line 1 column 16"),
        (
            '{"operations": "many"}',
            "operations: Input should be a valid integer, unable to parse string as an ",
        ),
    ):
        with pytest.raises(ValidationError) as refused:
            Answer.model_validate_json(text)
        found = exception_text(refused.value)
        assert found.startswith(reason)
        assert "\n" not in found
    assert found.endswith(", and 1 more errors")
    assert exception_text(ValueError("too long")) == "ValueError: too long"


def test_what_a_machine_of_a_testbed_does_besides_is_known() -> None:
    machine = MachineOfTestbed(
        name="m1",
        load_average=3.0,
        cores=2,
        memory_bytes=100,
        memory_available_bytes=25,
        interfaces_bps={"eth0": InterfaceRates(received=1_000, sent=2_000)},
    )
    assert busy(machine) == Busy("m1", 1.5, 0.75, {"eth0": 2_000})
    assert busy(MachineOfTestbed(name="m2")) == Busy("m2", None, None, None)
