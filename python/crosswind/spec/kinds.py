"""Check a file of any kind; its keys show which kind it is."""

from __future__ import annotations

from crosswind.spec import applications
from crosswind.spec.document import read_document
from crosswind.spec.load import Source, conditions_of, experiment_of
from crosswind.spec.scale import not_preserved
from crosswind.spec.setup import setup_of


def check_file(source: Source) -> tuple[str, list[str]]:
    """Check a file of any kind, and return its kind and notes on it.

    A file with a name, conditions, an application or trials is an experiment. A file with a topology only is
    a network for `crosswind up`. Any other file holds conditions.

    Raises: SpecErrors: all errors of the file, each with its place.
    """
    document = read_document(source)
    keys = set(document.data) if isinstance(document.data, dict) else {"application"}
    if keys & {"name", "application", "trials", "conditions"}:
        experiment = experiment_of(document)
        (name,) = experiment.application
        notes = applications.notes(name, experiment.parameters)
        return "experiment", [*not_preserved(experiment.scale), *notes]
    if "topology" in keys:
        return "network for `crosswind up`", not_preserved(setup_of(document).scale)
    conditions_of(document)
    return "file of conditions", []
