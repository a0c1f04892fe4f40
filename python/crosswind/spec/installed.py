"""Which applications are installed; each is imported only when it is needed.

All are entry points, those of this project and of others: `pyproject.toml` names those of this project.
"""

from importlib.metadata import EntryPoint, entry_points
from typing import TypeVar

from crosswind.errors import CrosswindError, Exit
from crosswind.spec.declared import DeclaredApplication

GROUP = "crosswind.applications"

Kind = TypeVar("Kind", bound=DeclaredApplication)


class UnknownApplication(CrosswindError):
    """No application of this name is installed."""


class BrokenApplication(CrosswindError):
    """An installed application cannot be loaded; the others still work."""

    exit = Exit.PREFLIGHT


def names() -> list[str]:
    """Return the names of the installed applications, sorted."""
    return sorted({point.name for point in entry_points(group=GROUP)})


def find(name: str, kind: type[Kind]) -> type[Kind]:
    """Return the application of this name, a subclass of `kind`.

    Raises:
        UnknownApplication: none is installed; the message names those that are.
        BrokenApplication: it cannot be imported, or is not a subclass; the message names its package.
    """
    for point in entry_points(group=GROUP, name=name):
        return _loaded(point, kind)
    raise UnknownApplication(f'application "{name}": not installed; installed are {", ".join(names())}')


def _loaded(point: EntryPoint, kind: type[Kind]) -> type[Kind]:
    try:
        loaded = point.load()
    except Exception as error:  # Importing runs code of others, which may raise anything.
        raise _broken(point, f"{type(error).__name__}: {error}") from error
    if not (isinstance(loaded, type) and issubclass(loaded, kind)):
        raise _broken(point, "it is not a subclass of crosswind.app.Application")
    return loaded


def _broken(point: EntryPoint, why: str) -> BrokenApplication:
    package = "unknown" if point.dist is None else point.dist.name
    return BrokenApplication(
        f'application "{point.name}": {point.value} of the package {package} cannot be loaded ({why}); '
        f"repair that package, or uninstall it"
    )
