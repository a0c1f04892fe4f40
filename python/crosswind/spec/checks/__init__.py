"""Check an experiment as a whole: rules that need more than one part of the file.

Every check reads what it needs from the plain values and skips values with errors, which are reported where
they are read.
"""

from __future__ import annotations

from collections.abc import Iterator

from crosswind.spec.checks.application import application_problems, misfit_problems
from crosswind.spec.checks.conditions import conditions_problems
from crosswind.spec.checks.document import setting_of
from crosswind.spec.checks.network import overlay_problems, testbed_problems, topology_problems
from crosswind.spec.checks.time import time_problems
from crosswind.spec.checks.trials import published_problems, trials_problems
from crosswind.spec.document import Document
from crosswind.spec.draft import items
from crosswind.spec.problems import Problem

__all__ = [
    "conditions_problems",
    "experiment_problems",
    "misfit_problems",
    "setting_of",
    "time_problems",
    "topology_problems",
]


def experiment_problems(document: Document) -> Iterator[Problem]:
    """Yield what is wrong with an experiment besides its single values."""
    yield from topology_problems(document)
    yield from testbed_problems(document)
    yield from overlay_problems(document)
    yield from time_problems(document)
    yield from conditions_problems(document, [path for path, _ in items(document.data, "conditions")])
    yield from application_problems(document)
    yield from trials_problems(document)
    yield from published_problems(document)
