"""An experiment by its file, name or content, resolved, with the text and folder of its source."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from pathlib import Path

from crosswind.spec.document import document_of
from crosswind.spec.experiment import Experiment
from crosswind.spec.load import experiment_of, find_experiment, load_experiment
from crosswind.spec.resolve import resolve
from crosswind.spec.resolved import Resolved


@dataclass(frozen=True)
class NamedExperiment:
    """An experiment; `folder` has its file, and is the current folder where it has no file."""

    experiment: Experiment
    resolved: Resolved
    text: str
    folder: Path


def named_experiment(source: str | os.PathLike[str] | Mapping[str, object]) -> NamedExperiment:
    """Read the experiment of `source`: a file, a name of the catalogue, or its content.

    Raises: SpecErrors: it does not exist, or all errors of it.
    """
    if isinstance(source, Mapping):
        document = document_of(source, "experiment")
        experiment = experiment_of(document)
        return NamedExperiment(experiment, resolve(experiment), document.text, Path.cwd())
    found = find_experiment(os.fspath(source))
    experiment = load_experiment(found)
    readable = found if isinstance(found, Path | Traversable) else Path(found)
    folder = readable.resolve().parent if isinstance(readable, Path) else Path.cwd()
    return NamedExperiment(experiment, resolve(experiment), readable.read_text(encoding="utf-8"), folder)
