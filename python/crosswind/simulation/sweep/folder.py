"""The folder of a sweep: which experiment it is, and the metrics of its trials as Parquet.

```
resolved.json    the resolved experiment, as in the folder of a run
sweep.json       version of Crosswind, and the properties of the machine that TCP depends on
trials/*.parquet a row for each metric of each trial; all files have the same columns, and are one table
writer.lock      of the process that writes
```

One process writes, and a file is written whole and then renamed. So a trial is in the folder once or not at
all, however its workers or the writer end.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from crosswind.errors import CrosswindError
from crosswind.machine.provenance import tool_version
from crosswind.results.documents import RESTORE, blaming, read_document, read_resolved
from crosswind.results.durable import write_text
from crosswind.results.lock import only_writer
from crosswind.results.query import literal, query, write_rows
from crosswind.results.tables import factor_columns
from crosswind.simulation.sweep.part import SweptTrial
from crosswind.simulation.trial_plan import SimulatedMachine, this_machine
from crosswind.spec import Resolved

_COLUMNS = {
    "trial": "VARCHAR",
    "block": "INTEGER",
    "position": "INTEGER",
    "condition": "VARCHAR",
    "seed": "BIGINT",
    "refused": "VARCHAR",
    "node": "VARCHAR",
    "metric": "VARCHAR",
    "unit": "VARCHAR",
    "statistic": "VARCHAR",
    "value": "DOUBLE",
}
_AGAIN = "or simulate into another folder"
_REMEDY = f"{RESTORE}, {_AGAIN}"


class SweepFacts(BaseModel):
    """sweep.json."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    crosswind: str
    machine: SimulatedMachine


class SweepFolder:
    """The simulated trials of one experiment."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def made_for(cls, path: Path, resolved: Resolved) -> SweepFolder:
        """Return a folder that has this experiment: a new one, or one whose sweep goes on.

        An experiment may have more repetitions than the folder was made for.

        Raises: CrosswindError: the folder has another experiment, another version's trials, or other files.
        """
        folder = cls(path)
        if not path.exists() or not any(path.iterdir()):
            folder._trials.mkdir(parents=True)
            facts = SweepFacts(crosswind=tool_version(), machine=this_machine())
            write_text(path / "sweep.json", facts.model_dump_json(indent=2) + "\n")
            folder._write_resolved(resolved)
            return folder
        folder.check(resolved)
        version = folder.facts().crosswind
        if version != tool_version():
            raise CrosswindError(
                f"{path}: its trials were simulated by Crosswind {version}, and this is {tool_version()}; "
                f"go on with that version, {_AGAIN}"
            )
        if resolved.trials.repeat.at_least > folder.resolved().trials.repeat.at_least:
            folder._write_resolved(resolved)
        return folder

    def check(self, resolved: Resolved) -> None:
        """Check that the folder has trials of this experiment.

        Raises: CrosswindError: it has another, or is not the folder of a sweep.
        """
        if not (self.path / "sweep.json").is_file():
            raise CrosswindError(
                f"{self.path}: has no sweep.json, so it is not the folder of a sweep; "
                "name an empty or a new folder"
            )
        other = self.resolved()
        for part in ("topology", "tcp", "application", "conditions"):
            if getattr(other, part) != getattr(resolved, part):
                raise CrosswindError(
                    f"{self.path}: has trials of an experiment whose {part} differ from this one's; "
                    f"simulate the experiment it was made for, {_AGAIN}"
                )
        if other.trials.seed != resolved.trials.seed:
            raise CrosswindError(
                f"{self.path}: has trials of seed {other.trials.seed}, and this experiment has "
                f"{resolved.trials.seed}; use that seed, {_AGAIN}"
            )

    def facts(self) -> SweepFacts:
        """Return sweep.json."""
        return read_document(self.path / "sweep.json", SweepFacts, _REMEDY)

    def resolved(self) -> Resolved:
        """Return the experiment."""
        return read_resolved(self.path / "resolved.json")

    def writing(self) -> AbstractContextManager[None]:
        """Keep other processes from writing this folder while the block runs.

        Raises: FolderInUse: another process writes it; names that process.
        """
        return only_writer(self.path)

    def trials(self) -> set[str]:
        """Return the trials that are stored.

        Raises: Damaged: a file is no table.
        """
        found: set[str] = set()
        for file in self.files():
            with query() as connection, blaming(file, "remove it: its trials are then simulated again"):
                rows = connection.execute(f"SELECT DISTINCT trial FROM {literal(file)}").fetchall()
            found.update(trial for (trial,) in rows)
        return found

    def files(self) -> list[Path]:
        """Return the tables, in the order in which they were written."""
        return sorted(self._trials.glob("*.parquet"))

    def next_file(self) -> int:
        """Return the number of the first file that is not there yet."""
        last = self.files()[-1:]
        return 1 + int(last[0].stem) if last else 1

    def store(self, file: int, trials: Sequence[SweptTrial], resolved: Resolved) -> None:
        """Write trials as a file; they are in the folder when this returns.

        Args:
            file: its number. Written again with the same trials, it is the same file, so that a writer who
                was interrupted need not know how far it came.
            resolved: the experiment, for the factors of its conditions.
        """
        columns = factor_columns(resolved)
        types = {
            columns[name]: "VARCHAR" if factor.unit is None else "DOUBLE"
            for name, factor in resolved.factors.items()
        }
        levels = {
            condition.name: {columns[name]: level for name, level in condition.factors.items()}
            for condition in resolved.conditions
        }
        rows = [
            {
                **swept.trial.as_dict(),
                "trial": swept.trial.id,
                **levels[swept.trial.condition],
                "refused": swept.refused,
                **metric,
            }
            for swept in trials
            for metric in [each._asdict() for each in swept.metrics] or [{}]
        ]
        write_rows(self._trials / f"{file:06}.parquet", _COLUMNS | types, rows)

    @property
    def _trials(self) -> Path:
        return self.path / "trials"

    def _write_resolved(self, resolved: Resolved) -> None:
        write_text(self.path / "resolved.json", json.dumps(resolved.as_json(), indent=2) + "\n")
