"""What one run of a case found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import crosswind
from bench.histories.cases import Case


@dataclass(frozen=True)
class Found:
    """What the check of one run found.

    Attributes:
        confirmed, refused, unknown: operations that took effect, that did not, and those of which no client
            knows.
        wrong, undecided: keys that no correct store can have answered so, and keys that were not checked to
            the end.
        lost: confirmed elements that were missing; 0 for registers.
        late: whether the trial is void, because packets were late.
    """

    confirmed: int
    refused: int
    unknown: int
    wrong: int
    undecided: int
    lost: int
    late: bool

    @property
    def verdict(self) -> Literal["ok", "violation", "unknown"]:
        if self.wrong:
            return "violation"
        return "unknown" if self.undecided else "ok"


def find(case: Case, folder: Path) -> Found:
    """Run a case in an empty folder, and return what was found.

    A trial is void where packets were late. What clients saw is checked all the same; so the last attempt
    counts, and is marked.

    Raises: RunNotWhole: no attempt has a verdict; names the reason.
    """
    with crosswind.run(case.experiment(), folder, quiet=True) as run:
        rows = run.metrics.filter("value is not null").select("trial, metric, statistic, value").fetchall()
        void = {trial for (trial,) in run.trials.filter("fidelity = 'void'").select("trial").fetchall()}
    # Attempts of a trial follow one another: b00-p00-faults, b00-p00-faults-a2.
    last = max(trial for trial, metric, _, _ in rows if metric == "violations")
    count = {(metric, statistic): int(value) for trial, metric, statistic, value in rows if trial == last}
    return Found(
        confirmed=count["outcomes", "confirmed"],
        refused=count["outcomes", "refused"],
        unknown=count["outcomes", "unknown"],
        wrong=count["violations", "count"],
        undecided=count["undecided", "count"],
        lost=count.get(("elements", "lost"), 0),
        late=last in void,
    )


def row(case: Case, found: Found | None) -> str:
    """Return a line of the table of its store; `None` stands for a trial that failed."""
    settings = []
    for name, value in case.settings.items():
        words = " ".join(str(part) for part in value.values()) if isinstance(value, Mapping) else value
        settings.append(f"`{name}: {words}`")
    faults = ", ".join(
        f"{at}: {kind} {where}" for at, step in case.faults.items() for kind, where in step.items()
    )
    asked = [
        case.workload,
        str(case.members),
        ", ".join(settings),
        faults.replace("|", "\\|"),
        f"{case.expected}: {case.because}",
    ]
    if found is None:
        return f"| {' | '.join([*asked, '**no verdict**', '', '', ''])} |"
    answers = [
        found.verdict if found.verdict == case.expected else f"**{found.verdict}**",
        str(found.wrong),
        str(found.lost),
        f"{found.confirmed} / {found.refused} / {found.unknown}{' (late)' if found.late else ''}",
    ]
    return f"| {' | '.join([*asked, *answers])} |"
