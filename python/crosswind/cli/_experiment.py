"""An experiment named on the command line, resolved, with what has to be kept of its source."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from crosswind.spec import Experiment, find_experiment, load_experiment, resolve


@dataclass(frozen=True)
class NamedExperiment:
    """An experiment; `folder` is where its file lies, or the current one for one of the catalogue."""

    experiment: Experiment
    resolved: dict[str, Any]
    text: str
    folder: Path


def named_experiment(name: str) -> NamedExperiment:
    """Read the experiment that `name` means: a file, or an experiment of the catalogue.

    Raises: SpecErrors: there is none, or everything that is wrong with it.
    """
    source = find_experiment(name)
    experiment = load_experiment(source)
    readable = source if isinstance(source, Path | Traversable) else Path(source)
    folder = readable.resolve().parent if isinstance(readable, Path) else Path.cwd()
    return NamedExperiment(experiment, resolve(experiment), readable.read_text(encoding="utf-8"), folder)
