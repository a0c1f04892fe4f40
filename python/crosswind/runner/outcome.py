"""How a run ended."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from crosswind.errors import Exit
from crosswind.results import TrialRow
from crosswind.stats import StoppingLook

GUIDE = "docs/guides/degraded.md"


@dataclass(frozen=True)
class RunOutcome:
    """How a run ended; `remarks` are sentences for the user, the most important first.

    `stopped` says whether it ended before its last trial.
    """

    folder: Path
    exit: Exit
    remarks: list[str]
    stopped: bool = False


def judge_run(
    folder: Path,
    attempts: dict[str, list[TrialRow]],
    *,
    accept_void: bool,
    stopped: str | None,
    unsettled: Mapping[str, StoppingLook],
) -> RunOutcome:
    """Return the outcome of a run from its trials.

    Args:
        attempts: the ended attempts of every planned trial.
        accept_void: the experiment accepts void trials.
        stopped: why the run ended before its last trial, if it did.
        unsettled: conditions that need more trials, by the stopping rule.
    """
    last = [rows[-1] for rows in attempts.values() if rows]
    failed = [row for row in last if row.status == "failed"]
    void = [row for row in last if row.fidelity == "void"]
    doubtful = any(row.fidelity in ("degraded", "void") for row in last)
    broken = bool(failed) or (bool(void) and not accept_void)
    # An interrupted trial still has to run.
    pending = sum(not rows or rows[-1].status == "interrupted" for rows in attempts.values())
    remarks = []
    if stopped:
        remarks.append(stopped)
    if failed:
        # Not in the reason: trials that fail alike have the same one, and each has logs of its own.
        logs = folder / "logs" / failed[0].trial
        printed = f" (output of its programs: {logs})" if logs.is_dir() else ""
        remarks.append(f"{_trials(len(failed))} failed: {failed[0].trial}: {failed[0].reason}{printed}")
    if void:
        remarks.append(f"{_trials(len(void))} void: {void[0].trial}: {void[0].fidelity_reason}")
    if pending:
        remarks.append(f"{_trials(pending)} pending; continue with: crosswind resume {folder}")
    elif broken:
        remarks.append(f"remove the cause, then run failed and void trials again: crosswind resume {folder}")
    for name, look in unsettled.items():
        remedy = "remove the cause" if look.guard.refused or look.modes else "raise `at most`"
        remarks.append(f"undecided under {name} after {look.n} trials: {look.waiting_for}; {remedy}")
    if doubtful:
        remarks.append(f"why trials are degraded or void, and what you may quote: {GUIDE}")
    status = Exit.UNDECIDED if pending or unsettled else Exit.DONE
    if broken or stopped:
        status = Exit.TRIALS
    return RunOutcome(folder, status, remarks, stopped is not None)


def _trials(count: int) -> str:
    return f"{count} trial" if count == 1 else f"{count} trials"
