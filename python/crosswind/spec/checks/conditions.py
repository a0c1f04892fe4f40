"""Rules of the conditions of a file."""

from __future__ import annotations

from collections.abc import Iterator

from crosswind import catalog
from crosswind.spec.checks.document import catalogue_condition, problem_at, setting_of
from crosswind.spec.design import CONDITIONS_MAX
from crosswind.spec.document import Document, Path
from crosswind.spec.draft import only_key, value_at
from crosswind.spec.problems import Problem
from crosswind.spec.quantities import shown
from crosswind.spec.rules import condition_findings
from crosswind.spec.setting import Setting
from crosswind.spec.translate import describe
from crosswind.text.nearest import did_you_mean


def conditions_problems(document: Document, paths: list[Path]) -> Iterator[Problem]:
    """Yield what is wrong with the conditions at `paths`, each a name or `name: condition`."""
    setting = setting_of(document)
    names: list[str] = []
    for path in paths[:CONDITIONS_MAX]:  # Reading refuses more.
        entry = value_at(document.data, *path)
        if isinstance(entry, str):
            name, place = entry, path
            yield from _catalogue_problems(document, path, entry, setting)
        elif (inline := only_key(entry)) is not None:
            name, place = inline, (*path, inline)
            for inner, message in condition_findings(value_at(entry, name), setting):
                yield problem_at(document, (*place, *inner), message)
        else:
            continue
        if name in names:
            yield problem_at(
                document,
                place,
                f"{shown(name)} is given twice; give each condition its own name",
                at_key=True,
            )
        names.append(name)


def _catalogue_problems(document: Document, path: Path, name: str, setting: Setting) -> Iterator[Problem]:
    known = catalog.condition_names()
    if name not in known:
        meant = did_you_mean(name, known, count=3)
        remedy = (
            f"{meant} (`crosswind conditions` lists all)" if meant else "`crosswind conditions` lists them"
        )
        yield problem_at(document, path, f"{shown(name)} is not a condition of the catalogue; {remedy}")
        return
    for inner, message in condition_findings(catalogue_condition(name), setting):
        yield document.problem(path, f"condition {name}: {describe(inner, message)}")
