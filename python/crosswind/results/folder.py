"""The results folder: its name, its parts, `latest`, and what may be resumed in it."""

import hashlib
import json
import os
from collections.abc import Mapping
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from crosswind.results.documents import WITHOUT_IT, Provenance, read_document, read_resolved
from crosswind.results.durable import sync_folder, write_text
from crosswind.results.journal import Journal
from crosswind.results.lock import only_writer
from crosswind.spec.resolved import Resolved

# Of a run: what is kept of the machine and the network comes from before its trials and from after them.
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
            files: what it names, by SHA-256; kept in `files`, so that the folder stands alone.
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
        # resolved.json comes before the journal: whoever finds a journal can also resume it.
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
        """Be the only process that writes this folder while the block runs.

        Raises: FolderInUse: another one does; names it.
        """
        return only_writer(self.path)

    def journal(self) -> Journal:
        """Open the journal."""
        return Journal(self.path / "journal.sqlite")

    def resolved(self) -> Resolved:
        """Return the resolved experiment of this run."""
        return read_resolved(self.path / "resolved.json")

    def kept_files(self) -> dict[str, Path]:
        """Return the copies of the files that this run's experiment names, by the names they have there."""
        return {named.file: self.path / "files" / named.sha256 for named in self.resolved().files()}

    def write_provenance(
        self, *, before: Mapping[str, Any] | None = None, after: Mapping[str, Any] | None = None
    ) -> None:
        """Write either side of provenance.json and keep the other."""
        both = self.provenance()
        if before is not None:
            both["before"] = dict(before)
        if after is not None:
            both["after"] = dict(after)
        write_text(self.path / "provenance.json", json.dumps(both, indent=2) + "\n")

    def provenance(self) -> dict[str, Any]:
        """Return provenance.json; a side that was not written yet is null."""
        path = self.path / "provenance.json"
        if not path.is_file():
            return {"before": None, "after": None}
        both = read_document(path, Provenance, WITHOUT_IT)
        return {"before": both.get("before"), "after": both.get("after")}

    def remove_partial_files(self) -> None:
        """Remove the half-written files of a process that was killed; they were never part of the results."""
        for partial in self.path.rglob(".*.part"):
            partial.unlink()


def fingerprint_file(folder: Path, side: Side) -> Path:
    """Return where a results folder keeps a fingerprint of the network, if it has one."""
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
    """Make a folder; two runs that start within one second get names of their own."""
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
