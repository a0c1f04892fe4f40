"""The folder of a measurement of all pairs: a document, a fingerprint for each ordered pair, and matrices.

The matrices are what `topology.zones` reads, and `topology.yaml` is a topology that reads them.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue

from crosswind.analysis.network.document import text_of
from crosswind.analysis.network.transfers import SentPart
from crosswind.errors import CrosswindError
from crosswind.fingerprint.between.direction import Direction
from crosswind.fingerprint.between.document import (
    FILE,
    SCHEMA,
    BetweenDocument,
    BetweenMachine,
    PairFigures,
    complete_names,
    figures_of,
)
from crosswind.fingerprint.measure.sent_bytes import SentBytes
from crosswind.results.durable import write_text
from crosswind.spec.topology.names import as_name

PAIRS = "pairs"


@dataclass(frozen=True)
class MatrixColumn:
    """A matrix of the folder.

    Attributes:
        key: of `zones`, where it is one.
        cell: the number of a pair, in the unit.
    """

    name: str
    unit: str
    cell: Callable[[PairFigures], float | None]
    key: str | None = None


def _scaled(value: float | None, by: float) -> float | None:
    return None if value is None else value * by


MATRICES = (
    MatrixColumn("delay", "us", lambda it: _scaled(it.delay_ns, 1e-3), "delay"),
    MatrixColumn("delay-bound", "us", lambda it: _scaled(it.bound_ns, 1e-3)),
    MatrixColumn("round-trip", "us", lambda it: _scaled(it.round_trip_ns, 1e-3)),
    MatrixColumn("jitter", "us", lambda it: _scaled(it.jitter_ns, 1e-3), "jitter"),
    MatrixColumn("loss", "%", lambda it: _scaled(it.loss, 100), "loss"),
    MatrixColumn("rate", "Mbit/s", lambda it: _scaled(it.wire_bps, 1e-6), "rate"),
)


def make_folder(folder: Path, machines: Sequence[str]) -> None:
    """Make the folder, or take an empty one.

    Raises: CrosswindError: it has something else, or cannot be made, or two machines would be one zone.
    """
    zones: dict[str, str] = {}
    for name in machines:
        if zones.setdefault(as_name(name), name) != name:
            raise CrosswindError(
                f"machines {zones[as_name(name)]} and {name}: both would be the zone {as_name(name)}; give "
                "one another name"
            )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise CrosswindError(f"{folder}: is not empty; name a new folder with --out")
        (folder / PAIRS).mkdir()
    except OSError as error:
        raise CrosswindError(
            f"{folder}: {error.strerror or error}; name a folder that you may write with --out"
        ) from None


def write_direction(folder: Path, found: Direction, provenance: dict[str, JsonValue]) -> PairFigures:
    """Write the fingerprint of one direction, and return its figures."""
    file = f"{PAIRS}/{file_name(found.source)}-to-{file_name(found.target)}.json"
    document = found.document(provenance)
    write_text(folder / file, text_of(document))
    return figures_of(found, document, file)


def write_between(
    folder: Path,
    machines: Sequence[BetweenMachine],
    rounds: int,
    pairs: Sequence[PairFigures],
    sent: SentBytes,
    provenance: dict[str, JsonValue],
) -> BetweenDocument:
    """Write the document and the matrices of what has been measured so far, and return the document."""
    names = [machine.name for machine in machines]
    whole = complete_names(names, pairs)
    document = BetweenDocument(
        schema_version=SCHEMA,
        machines=list(machines),
        rounds=rounds,
        pairs=list(pairs),
        left_out=[name for name in names if name not in whole],
        sent=SentPart(sent_bytes=sent.sent_bytes, most_bytes=sent.most_bytes),
        provenance=provenance,
    )
    if whole:
        keys = []
        for matrix in MATRICES:
            if (text := matrix_text(document, whole, matrix)) is not None:
                write_text(folder / f"{matrix.name}.csv", text)
                keys += [] if matrix.key is None else [matrix]
        write_text(folder / "topology.yaml", topology_text(whole, keys))
    write_text(folder / FILE, document_text(document))
    return document


def document_text(document: BetweenDocument) -> str:
    """Return the document as it is stored, one pair on a line."""
    rest = document.as_json()
    rest.pop("pairs")
    pairs = ",\n    ".join(json.dumps(pair.as_json(), ensure_ascii=False) for pair in document.pairs)
    return f'{json.dumps(rest, indent=2, ensure_ascii=False)[:-2]},\n  "pairs": [\n    {pairs}\n  ]\n}}\n'


def matrix_text(document: BetweenDocument, names: Sequence[str], matrix: MatrixColumn) -> str | None:
    """Return a matrix as CSV; None where a pair has no value."""
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow([f"{matrix.name} in {matrix.unit}, from the row to the column", *map(as_name, names)])
    for source in names:
        cells = []
        for target in names:
            pair = document.pair(source, target) if source != target else None
            value = None if pair is None else matrix.cell(pair)
            if source != target and value is None:
                return None
            cells.append("" if value is None else f"{value:.6g}")
        rows.writerow([as_name(source), *cells])
    return out.getvalue()


def topology_text(names: Sequence[str], matrices: Sequence[MatrixColumn]) -> str:
    """Return a topology of the machines as zones, with a node in each."""
    lines = ["# As measured by `crosswind fingerprint --testbed`.", "topology:", "  zones:"]
    for matrix in matrices:
        value = ", value: one-way" if matrix.key == "delay" else ""
        lines.append(f'    {matrix.key}: {{matrix: {matrix.name}.csv, unit: "{matrix.unit}"{value}}}')
    lines.append("  nodes:")
    lines += [f"    n{number}: {as_name(name)}" for number, name in enumerate(names)]
    return "\n".join(lines) + "\n"


def file_name(machine: str) -> str:
    """Return the name of a machine as a part of a file's."""
    return as_name(machine) or "machine"
