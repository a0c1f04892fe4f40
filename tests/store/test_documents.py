"""Damaged files of a results folder are refused by name, with what is wrong and what helps."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from crosswind.results import Journal, MachineFacts, ResultsFolder
from crosswind.results.documents import Damaged, EarlierVersion
from crosswind.runner.budgets import Budgets
from crosswind.spec import Resolved

RESOLVED = {"schema": 2, "name": "x", "application": {"name": "rpc"}, "conditions": [{"name": "none"}]}


@pytest.fixture
def folder(tmp_path: Path) -> ResultsFolder:
    made = ResultsFolder.create(tmp_path, Resolved.model_validate(RESOLVED), "name: x\n")
    made.write_provenance(before=MachineFacts(cores=2))
    return made


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("", "it is no JSON"),
        ('{"name": "x", "appl', "it is no JSON"),
        ("[" * 100_000, "it is no JSON"),
        ("[]", "the document: Input should be a valid dictionary"),
        (json.dumps({"name": "x", "conditions": []}), "application: Field required"),
        (
            json.dumps(RESOLVED | {"conditions": [{"name": "a"}, {"places": {}}]}),
            "conditions.1.name: Field required",
        ),
        (
            json.dumps(RESOLVED | {"trials": {"rest_s": "long"}}),
            "trials.rest_s: Input should be a valid number",
        ),
    ],
    ids=["empty", "cut off", "100,000 deep", "a list", "no application", "no name", "no number"],
)
def test_a_damaged_document_says_where_and_what_helps(folder: ResultsFolder, content: str, why: str) -> None:
    path = folder.path / "resolved.json"
    path.write_text(content)
    with pytest.raises(Damaged) as refused:
        folder.resolved()
    said = str(refused.value)
    assert said.startswith(f"{path}: is damaged ({why}")
    assert said.endswith("; restore it from a copy of the folder, or run the experiment again")


def test_bytes_that_are_no_text_are_told_as_well(folder: ResultsFolder) -> None:
    (folder.path / "provenance.json").write_bytes(b'{"before": "\xff"}')
    with pytest.raises(Damaged, match=r"provenance\.json: is damaged .*utf-8.* or remove it"):
        folder.provenance()


def test_what_older_versions_did_not_write_is_no_damage(folder: ResultsFolder) -> None:
    (folder.path / "provenance.json").write_text('{"before": {}, "later": 1}')
    assert folder.provenance().before == MachineFacts()
    assert folder.provenance().after is None
    assert folder.resolved().as_json() == RESOLVED


def test_the_results_of_an_earlier_version_are_refused_with_one_reason(folder: ResultsFolder) -> None:
    path = folder.path / "resolved.json"
    path.write_text(json.dumps(RESOLVED | {"schema": 1}))
    with pytest.raises(EarlierVersion, match="has schema 1, and this version reads schema 2") as refused:
        folder.resolved()
    assert str(refused.value).startswith(str(path))


def _other_rows(path: Path) -> None:
    with Journal(path) as journal:
        journal.write("t0", 0, "planned", {"row": {"trial": "t0"}})


@pytest.mark.parametrize(
    "damage",
    [lambda path: path.write_bytes(b"no database" * 99), _other_rows],
    ids=["other bytes", "other rows"],
)
def test_a_damaged_journal_is_named(folder: ResultsFolder, damage: Callable[[Path], Any]) -> None:
    path = folder.path / "journal.sqlite"
    damage(path)
    with pytest.raises(Damaged, match=r"journal\.sqlite: is damaged"), folder.journal() as journal:
        journal.planned()


def test_damaged_budgets_are_named(tmp_path: Path) -> None:
    path = tmp_path / "budgets.json"
    path.write_text('{"none": {"db0": {"budget_bits": 1}}}')
    with pytest.raises(Damaged, match=r"budgets\.json: is damaged"):
        Budgets(path)
