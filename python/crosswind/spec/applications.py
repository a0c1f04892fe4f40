"""What a file needs from the installed applications, which are imported only when a file names one."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from pydantic import JsonValue

from crosswind.spec.base import SpecModel
from crosswind.spec.declared import DeclaredApplication, ExpectedTrial, Figure, Tested, measured_ns
from crosswind.spec.document import Document, Path
from crosswind.spec.installed import APPLICATIONS
from crosswind.spec.node_limits import NodeLimits
from crosswind.spec.resolved import Parameters
from crosswind.spec.restored import restored
from crosswind.spec.sizes_file import Sizes, sizes_of


def names() -> list[str]:
    """Return the names of the installed applications."""
    return APPLICATIONS.names()


def parameters_of(name: str) -> type[SpecModel]:
    """Return the model of an application's parameters; `name` is one of `names()`."""
    return _find(name).Parameters


def sizes(name: str) -> Sizes:
    """Return the sizes of an application, each with its parameters as a file writes them."""
    return sizes_of(_find(name))


def figures(name: str, parameters: SpecModel) -> tuple[Figure, ...]:
    """Return what a report shows of each trial, the most important number first."""
    return _find(name)(parameters).figures()


def roles_missing(name: str, nodes: Collection[str]) -> list[str]:
    """Return the names of nodes that the application needs and `nodes` lacks."""
    return _find(name).roles_missing(nodes)


def misfits(name: str, parameters: SpecModel, nodes: Collection[str]) -> Iterator[tuple[Path, str]]:
    """Yield where parameters do not fit the nodes, each with its place in the parameters."""
    yield from _find(name).misfits(parameters, nodes)


def own_nodes(name: str, raw: JsonValue, document: Document) -> list[str]:
    """Return the nodes that parameters define by themselves; the parameters may have errors."""
    return _find(name).own_nodes(raw, document)


def brings_nodes(name: str) -> bool:
    """Return whether an application may define nodes by itself."""
    return _find(name).brings_nodes


def node_limits(name: str, parameters: SpecModel) -> Mapping[str, NodeLimits]:
    """Return the limits of nodes in the application's own files, by node."""
    return _find(name).node_limits(parameters)


def tested(name: str, parameters: SpecModel, nodes: Collection[str]) -> Tested:
    """Return what the rules of a condition need to know of the application."""
    return Tested(name, measured_ns(parameters), _find(name).faults_on(parameters, nodes))


def expected(name: str, values: Parameters) -> ExpectedTrial:
    """Return how long a trial takes with parameters of resolved.json."""
    kind = _find(name)
    application = kind(restored(kind.Parameters, values))
    return ExpectedTrial(
        load_s=application.expected_load_s(),
        load_may_end_sooner=application.load_may_end_sooner(),
        set_up_s=application.expected_set_up_s(),
    )


def uncounted(name: str) -> str:
    """Return what makes a run of the application longer and no plan can know; empty if there is nothing."""
    return _find(name).uncounted


def remarks(name: str, parameters: SpecModel) -> list[str]:
    """Return warnings for readers of results with these parameters."""
    return _find(name)(parameters).remarks()


def notes(name: str, parameters: SpecModel) -> list[str]:
    """Return notes for the author of these parameters."""
    return _find(name)(parameters).notes()


def _find(name: str) -> type[DeclaredApplication]:
    return APPLICATIONS.find(name, DeclaredApplication)  # type: ignore[type-abstract]
