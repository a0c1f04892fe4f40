"""Fingerprints attached to runs: what the report says of them, and when two runs are not compared."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from documents import document, fingerprint

from crosswind.analysis.comparable import Sameness, sameness
from crosswind.analysis.network.document import text_of
from crosswind.report.network_section import NetworkSection, network_section
from crosswind.results import Provenance
from crosswind.results.folder import fingerprint_file
from crosswind.spec import Resolved

Documents = dict[str, dict[str, Any]]


def run_folder(path: Path, documents: Documents) -> Path:
    path.mkdir()
    for side, content in documents.items():
        fingerprint_file(path, side).write_text(text_of(document(content)))  # type: ignore[arg-type]
    return path


def compared(tmp_path: Path, base: Documents, other: Documents) -> Sameness:
    folders = [run_folder(tmp_path / name, side) for name, side in (("base", base), ("other", other))]
    return sameness(
        *(
            SimpleNamespace(folder=folder, provenance=Provenance(), resolved=Resolved.unknown())
            for folder in folders
        )
    )  # type: ignore[arg-type]


def reported(folder: Path, provenance: dict[str, Any]) -> NetworkSection:
    stored = Provenance.model_validate(provenance)
    return network_section(SimpleNamespace(path=folder, provenance=stored))  # type: ignore[arg-type]


def test_runs_of_one_network_may_be_compared(tmp_path: Path) -> None:
    sides = [{"before": fingerprint(seed), "after": fingerprint(seed + 1)} for seed in (1, 3)]
    found = compared(tmp_path, *sides)
    assert not found.hindrances
    assert not [note for note in found.notes if note.startswith("network")]


def test_runs_of_different_networks_are_not_and_the_figures_are_named(tmp_path: Path) -> None:
    slower = {"before": fingerprint(3, delay_ns=2e6), "after": fingerprint(4, delay_ns=2e6)}
    found = compared(tmp_path, {"before": fingerprint(1), "after": fingerprint(2)}, slower)
    assert found.hindrances[0].startswith("network, one-way delay (median): ")


def test_a_network_that_changed_within_a_run_hinders_no_comparison_with_either_state(tmp_path: Path) -> None:
    changed = {"before": fingerprint(3), "after": fingerprint(4, delay_ns=2e6)}
    found = compared(tmp_path, {"before": fingerprint(1), "after": fingerprint(2)}, changed)
    assert not found.hindrances
    assert any("undecided whether the same in one-way delay (median)" in note for note in found.notes)


@pytest.mark.parametrize(
    ("other", "note"),
    [
        ({}, "no fingerprint in other"),
        ({"before": fingerprint(3) | {"condition": "slow"}}, "of different conditions or nodes"),
    ],
)
def test_what_cannot_be_set_side_by_side_is_a_note(tmp_path: Path, other: Documents, note: str) -> None:
    found = compared(tmp_path, {"before": fingerprint(1), "after": fingerprint(2)}, other)
    assert not found.hindrances
    assert note in found.notes[-1]


def test_the_report_says_what_became_of_the_network(tmp_path: Path) -> None:
    folder = run_folder(tmp_path / "run", {"before": fingerprint(1), "after": fingerprint(2, low_bps=15e6)})
    found = reported(folder, {})
    assert found.about == "from a to b under drawn"
    assert "rate with an empty bucket" in found.answer
    verdicts = {row.title: row.verdict for row in found.rows}
    assert verdicts["one-way delay (median)"] == "same"
    assert verdicts["rate with an empty bucket"] == "different"


def test_the_report_says_why_there_is_no_fingerprint(tmp_path: Path) -> None:
    folder = run_folder(tmp_path / "run", {})
    assert reported(folder, {}).left_out == "the run is older than this feature"
    short = {"before": {"fingerprint": {"left_out": "all nodes are on one host"}}}
    assert reported(folder, short).left_out == "all nodes are on one host"
    ended = {"before": {"fingerprint": {"left_out": None}}}
    assert reported(folder, ended).left_out == "the run has no fingerprint from before or after it"
