"""Conditions, experiments, tables of regions and published figures that come with Crosswind, as YAML files.

A name is the path below `conditions`, `experiments`, `regions` or `published`, without the suffix. The header
of a file has what it models, its source, and the differences from it. A new file is a new entry.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

SUFFIX = ".yaml"


def condition_names() -> list[str]:
    """Return the names of all conditions, sorted."""
    return sorted(_entries("conditions"))


def condition_file(name: str) -> Traversable:
    """Return the file of a condition.

    Raises: KeyError: `name` is not one of `condition_names()`.
    """
    return _entries("conditions")[name]


def experiment_names() -> list[str]:
    """Return the names of all experiments, sorted."""
    return sorted(_entries("experiments"))


def experiment_file(name: str) -> Traversable:
    """Return the file of an experiment.

    Raises: KeyError: `name` is not one of `experiment_names()`.
    """
    return _entries("experiments")[name]


def region_table_names() -> list[str]:
    """Return the names of all tables of delays between regions, sorted."""
    return sorted(_entries("regions"))


def region_table_file(name: str) -> Traversable:
    """Return the file of a table of delays between regions.

    Raises: KeyError: `name` is not one of `region_table_names()`.
    """
    return _entries("regions")[name]


def published_names() -> list[str]:
    """Return the names of all sets of published figures, sorted."""
    return sorted(_entries("published"))


def published_file(name: str) -> Traversable:
    """Return the file of a set of published figures.

    Raises: KeyError: `name` is not one of `published_names()`.
    """
    return _entries("published")[name]


def example_file() -> Traversable:
    """Return the commented experiment that `crosswind init` writes."""
    return files(__name__) / f"example{SUFFIX}"


def header(file: Traversable) -> str:
    """Return the comment at the top of a catalogue file, without its hashes."""
    lines = []
    for line in file.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            break
        lines.append(line.removeprefix("#").removeprefix(" "))
    return "\n".join(lines)


@cache
def _entries(folder: str) -> dict[str, Traversable]:
    return dict(_walk(files(__name__) / folder, ""))


def _walk(folder: Traversable, prefix: str) -> Iterator[tuple[str, Traversable]]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _walk(entry, f"{prefix}{entry.name}/")
        elif entry.name.endswith(SUFFIX):
            yield prefix + entry.name.removesuffix(SUFFIX), entry
