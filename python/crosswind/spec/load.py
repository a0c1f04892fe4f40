"""Read an experiment or a condition, or raise all errors of the file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from importlib.resources.abc import Traversable
from pathlib import Path as FilePath
from types import MappingProxyType
from typing import TypeVar

from pydantic import JsonValue, TypeAdapter, ValidationError

from crosswind import catalog
from crosswind.spec import applications
from crosswind.spec.base import ReadingContext, SpecModel
from crosswind.spec.catalogue_condition import read_catalogue_condition
from crosswind.spec.checks import experiment_problems, misfit_problems
from crosswind.spec.condition import Condition
from crosswind.spec.document import Document, Path, parse_document, read_document
from crosswind.spec.draft import items
from crosswind.spec.expand import expanded
from crosswind.spec.experiment import ConditionName, Experiment
from crosswind.spec.own_nodes import with_own_nodes
from crosswind.spec.problems import Problem, SpecErrors
from crosswind.spec.rules import condition_findings
from crosswind.spec.setting import Setting
from crosswind.spec.sizes import with_size
from crosswind.spec.translate import describe, problems_of
from crosswind.text.nearest import did_you_mean

Source = str | os.PathLike[str] | Traversable

_Value = TypeVar("_Value")

_NAMED_CONDITIONS: TypeAdapter[dict[str, Condition]] = TypeAdapter(dict[ConditionName, Condition])


def load_experiment(source: Source, kept: Mapping[str, FilePath] = MappingProxyType({})) -> Experiment:
    """Read an experiment file.

    Args:
        kept: copies of files that the experiment names, where the files are no longer beside it.

    Raises: SpecErrors: all errors of the file, each with its place.
    """
    return experiment_of(read_document(source, kept))


def parse_experiment(content: bytes, name: str) -> Experiment:
    """Read an experiment from bytes; `name` is the file that errors show.

    Raises: SpecErrors: all errors of the file, each with its place.
    """
    return experiment_of(parse_document(content, name))


def experiment_of(document: Document) -> Experiment:
    """Read an experiment from a parsed file.

    Raises: SpecErrors: all errors of the file, each with its place.
    """
    found: list[Problem] = []  # Refers to conditions as the file has them, before they are written out.
    document, size = with_size(document, found)
    document = with_own_nodes(document)
    written_out = expanded(document, found)
    document = written_out.document
    problems: list[Problem] = []
    experiment = read(TypeAdapter(Experiment), document, problems)
    parameters = _read_parameters(document, problems)
    problems.extend(experiment_problems(document))
    if parameters is not None:
        problems.extend(misfit_problems(document, parameters))
    if found or problems or experiment is None or parameters is None:
        raise SpecErrors([*found, *map(written_out.as_written, problems)])
    return experiment.with_parameters(parameters, size).with_points(written_out.points)


def load_condition_file(source: Source) -> dict[str, Condition]:
    """Read a file of `name: condition`. Rules that need a topology are checked when it is used in one.

    Raises: SpecErrors: all errors of the file, each with its place.
    """
    return conditions_of(read_document(source))


def conditions_of(document: Document) -> dict[str, Condition]:
    """As `load_condition_file`, for a document that has been read."""
    problems: list[Problem] = []
    conditions = read(_NAMED_CONDITIONS, document, problems)
    for path, data in items(document.data):
        for inner, message in condition_findings(data, Setting()):
            whole = (*path, *inner)
            problems.append(document.problem(whole, describe(whole, message)))
    if conditions == {}:
        problems.append(document.problem((), "has no condition; write `name: {...}`"))
    if problems or conditions is None:
        raise SpecErrors(problems)
    return conditions


@cache
def load_catalogue_condition(name: str) -> Condition:
    """Return a condition of the catalogue, which is read once.

    Raises: SpecErrors: the catalogue has no condition of this name; names the nearest.
    """
    if name not in catalog.condition_names():
        meant = did_you_mean(name, catalog.condition_names(), count=3)
        remedy = meant or "`crosswind conditions` lists them"
        raise SpecErrors([Problem(name, 0, 0, f"is not a condition of the catalogue; {remedy}")])
    ((_, condition),) = conditions_of(read_catalogue_condition(name)).items()
    return condition


def find_experiment(text: str) -> Source:
    """Return the file of `text`: a path, or the name of an experiment of the catalogue.

    Raises: SpecErrors: it is neither; names the nearest of the catalogue.
    """
    if text in catalog.experiment_names() and not FilePath(text).is_file():
        return catalog.experiment_file(text)
    if not FilePath(text).exists() and os.sep not in text and not text.endswith(catalog.SUFFIX):
        known = catalog.experiment_names()
        remedy = did_you_mean(text, known) or f"the catalogue has {', '.join(known)}"
        raise SpecErrors(
            [Problem(text, 0, 0, f"is neither a file nor an experiment of the catalogue; {remedy}")]
        )
    return FilePath(text)


def read(adapter: TypeAdapter[_Value], document: Document, problems: list[Problem]) -> _Value | None:
    """Return the document read by `adapter`; None where it has errors, which are added to `problems`."""
    reading = ReadingContext(document.named_file, document.files_below)
    try:
        return adapter.validate_python(document.data, context=reading)
    except ValidationError as error:
        problems.extend(problems_of(error, document, (), reading.models))
        return None


def _read_parameters(document: Document, problems: list[Problem]) -> SpecModel | None:
    """Return the application's parameters; None where they have errors, which are added to `problems`."""
    read_well = None
    for path, raw in items(document.data, "application"):
        if path[-1] in applications.names():
            read_well = _parameters_of(document, path, raw, problems)
    return read_well


def _parameters_of(
    document: Document, path: Path, raw: JsonValue, problems: list[Problem]
) -> SpecModel | None:
    model = applications.parameters_of(str(path[-1]))
    reading = ReadingContext(document.named_file, document.files_below, {id(raw): model})
    try:
        return model.model_validate(raw, context=reading)
    except ValidationError as error:
        problems.extend(problems_of(error, document, path, reading.models))
        return None
