"""The fingerprints attached to the results of a run: of its network, before the trials and after them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from crosswind.analysis.network.comparison import FingerprintComparison, compare_fingerprints
from crosswind.analysis.network.document import FingerprintDocument, read_fingerprint
from crosswind.results.folder import SIDES, Side, fingerprint_file


def attached(folder: Path) -> dict[Side, FingerprintDocument]:
    """Return the documents that a results folder has.

    Raises: NotAFingerprint: a file is damaged.
    """
    files = {side: fingerprint_file(folder, side) for side in SIDES}
    return {side: read_fingerprint(file) for side, file in files.items() if file.exists()}


def before_and_after(found: Mapping[Side, FingerprintDocument]) -> FingerprintComparison | None:
    """Return how the network changed during a run; None where one of the two is missing."""
    return compare_fingerprints([found["before"]], [found["after"]]) if len(found) == len(SIDES) else None


def of_one_kind(base: Mapping[Side, FingerprintDocument], other: Mapping[Side, FingerprintDocument]) -> bool:
    """Return whether all fingerprints of two runs are of one condition, between nodes of the same names."""
    kinds = {(document.condition, *document.between) for side in (base, other) for document in side.values()}
    return len(kinds) == 1
