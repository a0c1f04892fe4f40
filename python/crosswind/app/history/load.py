"""The clients while they run, and the verdict on what they saw."""

import subprocess
from pathlib import Path

from crosswind.app.base import Load, LoadOutcome
from crosswind.app.history.parameters import HistoryParameters
from crosswind.app.load import NS_PER_S, OperationsLoad, seconds
from crosswind.app.load_summary import LoadSummary
from crosswind.results.measurement import CheckedHistory
from crosswind.results.rows import Metric
from crosswind.testbed.binaries import LOAD, find_binary
from crosswind.testbed.errors import TestbedError

# After the load every key is read once, for at most 20 s.
LAST_READS_S = 20.0
# The check looks at its limit now and then; reading a history of a million lines takes seconds.
CHECK_SPARE_S = 60.0


class HistoryFacts(LoadSummary):
    """What the clients did, and what the check found.

    Attributes:
        checked: its instants count from the begin of the measured phase.
    """

    checked: CheckedHistory


class HistoryLoad(Load):
    """Concurrent clients that write what they saw."""

    def __init__(self, offered: OperationsLoad, lines: Path, edn: Path, asked: HistoryParameters) -> None:
        self.process = offered.process
        self.live = offered.live
        self.longest_s = offered.longest_s + LAST_READS_S
        self._offered = offered
        self._lines = lines
        self._edn = edn
        self._asked = asked

    def await_measured_phase(self) -> None:
        self._offered.await_measured_phase()

    def outcome(self) -> LoadOutcome:
        measured = self._offered.outcome()
        lines, edn = self.process.wrote(self._lines), self.process.wrote(self._edn)
        checked = check_history(lines, self._asked.workload, self._asked.check_limit_ns)
        checked = checked.since(self._asked.warm_up_ns)
        summary = dict(self._offered.summary())
        return LoadOutcome(
            measured.operations,
            tuple(metrics_of(checked)),
            HistoryFacts.model_validate({**summary, "checked": checked}),
            files={"history.jsonl": lines, "history.edn": edn},
            may_fail=True,
        )

    def first_error(self) -> str | None:
        return self._offered.first_error()


def check_history(lines: Path, workload: str, limit_ns: int) -> CheckedHistory:
    """Return what the check of a history found; its instants count from the start of the load.

    Args:
        lines: the history, a line of JSON for each event.
        limit_ns: a key that is not checked by then is undecided.
    Raises: TestbedError: it is no history.
    """
    arguments = ["--workload", workload, "--history", str(lines), "--time-limit", seconds(limit_ns)]
    done = subprocess.run(
        [find_binary(LOAD), "history-check", *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=limit_ns / NS_PER_S + CHECK_SPARE_S,
    )
    if done.returncode != 0:
        raise TestbedError(f"history-check: {done.stderr.strip() or done.returncode}")
    return CheckedHistory.model_validate_json(done.stdout)


def metrics_of(checked: CheckedHistory) -> list[Metric]:
    """Return the numbers of a checked history."""
    outcomes = ("confirmed", "refused", "unknown")
    elements = () if checked.workload == "register" else ("lost", "stale", "unexpected", "repeated")
    return [
        Metric(None, "violations", "count", "count", len(checked.wrong_keys)),
        Metric(None, "undecided", "count", "count", len(checked.undecided_keys)),
        *(Metric(None, "outcomes", "count", name, getattr(checked, name)) for name in outcomes),
        *(Metric(None, "elements", "count", name, getattr(checked.elements, name)) for name in elements),
    ]
