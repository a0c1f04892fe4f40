"""A testbed in a file of its own, which the command line names in place of the experiment's own."""

from __future__ import annotations

import os

from pydantic import TypeAdapter

from crosswind.spec.document import read_document
from crosswind.spec.load import read
from crosswind.spec.network import Network
from crosswind.spec.problems import Problem, SpecErrors
from crosswind.spec.resolve import resolve_testbed
from crosswind.spec.resolved import Resolved, ResolvedTestbed
from crosswind.spec.testbed import Provided, Testbed, TestbedEntry, testbed_findings
from crosswind.spec.translate import describe

_TESTBED: TypeAdapter[Testbed | Provided | str] = TypeAdapter(TestbedEntry)


def load_testbed(source: str | os.PathLike[str], network: Network | None = None) -> ResolvedTestbed | None:
    """Read a file with the content of `testbed:`; None: this machine.

    Args:
        network: of the experiment, whose parts the file may place on machines.

    Raises: SpecErrors: all errors of the file, each with its place.
    """
    document = read_document(source)
    problems: list[Problem] = []
    testbed = read(_TESTBED, document, problems)
    if isinstance(testbed, Testbed | Provided):
        problems += [
            document.problem(path, describe(path, message))
            for path, message in testbed_findings(testbed, network)
        ]
    if problems or testbed is None:
        raise SpecErrors(problems)
    resolved = resolve_testbed(testbed)
    # Its inventories are beside it, and not beside the experiment; what they list is stored in full.
    return resolved and resolved.model_copy(update={"named": os.fspath(source), "files": []})


def on_testbed(resolved: Resolved, source: str | os.PathLike[str] | None) -> Resolved:
    """Return an experiment on the testbed of a file, or on its own where there is none.

    Raises: SpecErrors: all errors of the file, each with its place.
    """
    if source is None:
        return resolved
    testbed = load_testbed(source, Network.of(resolved.topology))
    return resolved.model_copy(update={"testbed": testbed})
