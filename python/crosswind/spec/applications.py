"""What a file may ask of the installed applications; they are plugins, imported only when a file names one.

An application's parameters are a pydantic model. Those that take time say so with `duration_ns` (measured)
and `warm_up_ns` (before it): the two that plans and limits are computed from.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict
from typing import Any

from crosswind.spec.base import SpecModel
from crosswind.spec.document import Path
from crosswind.spec.node_limits import NodeLimits
from crosswind.spec.restored import restored

# The key that takes an application's parameters from one of its sizes.
SIZE = "size"


def names() -> list[str]:
    """Return the names of the installed applications."""
    from crosswind import app

    return list(app.names())


def parameters_of(name: str) -> type[SpecModel]:
    """Return the model of an application's parameters; `name` is one of `names()`."""
    from crosswind import app

    return app.find(name).Parameters


def sizes(name: str) -> dict[str, dict[str, Any]]:
    """Return the sizes that an application may be given, each with its parameters as a file writes them."""
    from crosswind import app
    from crosswind.app.sizes import sizes_of

    return sizes_of(app.find(name))


def figures(name: str, parameters: SpecModel) -> list[dict[str, str]]:
    """Return what a report shows of each trial, as resolved.json has it."""
    from crosswind import app

    return [asdict(figure) for figure in app.find(name)(parameters).figures()]


def roles_missing(name: str, nodes: Collection[str]) -> list[str]:
    """Return the names of nodes that the application needs and that are not among `nodes`."""
    from crosswind import app

    return app.find(name).roles_missing(nodes)


def misfits(name: str, parameters: Any, nodes: Collection[str]) -> Iterator[tuple[Path, str]]:
    """Yield what does not fit between parameters and the nodes, each with its place in the parameters."""
    from crosswind import app

    yield from app.find(name).misfits(parameters, nodes)


def node_limits(name: str, parameters: Any) -> Mapping[str, NodeLimits]:
    """Return what the application's own files limit nodes to, by node."""
    from crosswind import app

    return app.find(name).node_limits(parameters)


def expected_s(name: str, values: dict[str, Any]) -> float | None:
    """Return how long a trial takes with parameters of resolved.json; None where nobody knows before."""
    from crosswind import app

    kind = app.find(name)
    load_s = kind(restored(kind.Parameters, values)).expected_load_s()
    return None if load_s is None else kind.overhead_s + load_s


def remarks(name: str, parameters: Any) -> list[str]:
    """Return what a reader of results with these parameters has to know."""
    from crosswind import app

    return app.find(name)(parameters).remarks()


def measured_ns(parameters: Any) -> int | None:
    """Return how long a trial is measured at most; None when the parameters do not say."""
    duration_ns = getattr(parameters, "duration_ns", None)
    return duration_ns if isinstance(duration_ns, int) else None


def busy_ns(parameters: Any) -> int | None:
    """Return how long a trial's load lasts at most, warm-up included; None when the parameters do not say."""
    duration_ns = measured_ns(parameters)
    return None if duration_ns is None else duration_ns + (getattr(parameters, "warm_up_ns", None) or 0)
