"""The results folder: its name, its parts, and the link `latest`."""

import hashlib
import json
import os
from collections.abc import Mapping
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from crosswind.results.documents import WITHOUT_IT, read_document, read_resolved
from crosswind.results.durable import sync_folder, write_text
from crosswind.results.journal import Journal
from crosswind.results.lock import only_writer
from crosswind.results.provenance import MachineFacts, Provenance
from crosswind.spec.resolved import Resolved

# The machine and the network of a run are recorded before its trials and after them.
Side = Literal["before", "after"]
SIDES: tuple[Side, Side] = ("before", "after")


class ResultsFolder:
    """One run of one experiment."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def create(
        cls,
        results: Path,
        resolved: Resolved,
        source_text: str,
        files: Mapping[str, bytes] = MappingProxyType({}),
    ) -> "ResultsFolder":
        """Make `<results>/<experiment>/<UTC start>-<short hash of resolved>/` and point `latest` at it.

        Args:
            results: the folder of all results.
            resolved: the resolved experiment.
            source_text: the experiment file as the user wrote it.
            files: those that it names, by SHA-256; copied to `files`, so that the folder is complete.
        """
        started = datetime.now(UTC)
        parent = results / resolved.name
        parent.mkdir(parents=True, exist_ok=True)
        path = _fresh(parent, f"{started:%Y%m%dT%H%M%SZ}-{short_hash(resolved)}")
        for part in ("samples", "monitors", "logs"):
            (path / part).mkdir()
        if files:
            (path / "files").mkdir()
        for sha256, content in files.items():
            (path / "files" / sha256).write_bytes(content)
        write_text(path / "experiment.yaml", source_text)
        write_text(path / "resolved.json", json.dumps(resolved.as_json(), indent=2) + "\n")
        # resolved.json comes before the journal: a run that has a journal can be resumed.
        with Journal(path / "journal.sqlite"):
            pass
        _point_latest(path)
        return cls(path)

    @classmethod
    def open(cls, path: Path) -> "ResultsFolder":
        """Open an existing results folder.

        Raises: FileNotFoundError: the folder has no journal or no resolved experiment; says what is missing.
        """
        path = path.resolve()
        for part in ("journal.sqlite", "resolved.json", "experiment.yaml"):
            if not (path / part).is_file():
                raise FileNotFoundError(f"{path}: no {part} in it, so it is not the folder of a run")
        return cls(path)

    def writing(self) -> AbstractContextManager[None]:
        """Keep other processes from writing this folder while the block runs.

        Raises: FolderInUse: another process writes it; names that process.
        """
        return only_writer(self.path)

    def journal(self) -> Journal:
        """Open the journal."""
        return Journal(self.path / "journal.sqlite")

    def resolved(self) -> Resolved:
        """Return the resolved experiment of this run."""
        return read_resolved(self.path / "resolved.json")

    def kept_files(self) -> dict[str, Path]:
        """Return the copies of the files that this run's experiment names, by their names in it."""
        return {named.file: self.path / "files" / named.sha256 for named in self.resolved().files()}

    def write_provenance(
        self, *, before: MachineFacts | None = None, after: MachineFacts | None = None
    ) -> None:
        """Write one side of provenance.json, or both; a side that is not given stays as it is."""
        was = self.provenance()
        sides = {"before": before or was.before, "after": after or was.after}
        written = {side: None if facts is None else facts.as_json() for side, facts in sides.items()}
        write_text(self.path / "provenance.json", json.dumps(written, indent=2) + "\n")

    def provenance(self) -> Provenance:
        """Return provenance.json; a side that was not written yet is None."""
        path = self.path / "provenance.json"
        return read_document(path, Provenance, WITHOUT_IT) if path.is_file() else Provenance()

    def remove_partial_files(self) -> None:
        """Remove the half-written files of a process that was killed; they are not part of the results."""
        for partial in self.path.rglob(".*.part"):
            partial.unlink()


def fingerprint_file(folder: Path, side: Side) -> Path:
    """Return the path of a fingerprint of the network in a results folder."""
    return folder / f"fingerprint-{side}.json"


def short_hash(resolved: Resolved) -> str:
    """Return eight hexadecimal digits that identify a resolved experiment."""
    canonical = json.dumps(resolved.as_json(), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:8]


def latest_folder(results: Path) -> Path:
    """Return the newest run below a folder of results, or below that of one experiment.

    Raises: FileNotFoundError: there is none.
    """
    links = [
        link
        for link in (results / "latest", *results.glob("*/latest"))
        if (link / "journal.sqlite").is_file()
    ]
    if not links:
        raise FileNotFoundError(
            f"{results}: no run in it; name a run's folder, or start one with `crosswind run`"
        )
    return max((link.resolve() for link in links), key=lambda path: path.name)


def _fresh(parent: Path, name: str) -> Path:
    """Make a folder; of two runs that start within one second, the second has a number in its name."""
    for number in range(1, 1000):
        path = parent / (name if number == 1 else f"{name}-{number}")
        try:
            path.mkdir()
        except FileExistsError:
            continue
        return path.resolve()
    raise FileExistsError(f"{parent / name}: a thousand runs started within one second")


def _point_latest(path: Path) -> None:
    temporary = path.parent / f".latest.{os.getpid()}.part"
    temporary.unlink(missing_ok=True)
    temporary.symlink_to(path.name)
    temporary.replace(path.parent / "latest")
    sync_folder(path.parent)
