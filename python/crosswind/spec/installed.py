"""Which applications exist; one is imported only when it is asked for.

All are entry points, ours and other people's alike: `pyproject.toml` names ours.
"""

from importlib.metadata import EntryPoint, entry_points
from typing import TypeVar

from crosswind.errors import CrosswindError, Exit
from crosswind.spec.declared import DeclaredApplication

GROUP = "crosswind.applications"

Kind = TypeVar("Kind", bound=DeclaredApplication)


class UnknownApplication(CrosswindError):
    """No application of that name is installed."""


class BrokenApplication(CrosswindError):
    """An application is installed and cannot be loaded; the others are as good as before."""

    exit = Exit.PREFLIGHT


def names() -> list[str]:
    """Return the names of the installed applications, sorted."""
    return sorted({point.name for point in entry_points(group=GROUP)})


def find(name: str, kind: type[Kind]) -> type[Kind]:
    """Return the application of that name, which has to be of a kind.

    Raises:
        UnknownApplication: none is installed; the message names those that are.
        BrokenApplication: it cannot be imported, or is something else; the message names its package.
    """
    for point in entry_points(group=GROUP, name=name):
        return _loaded(point, kind)
    raise UnknownApplication(f'application "{name}": not installed; installed are {", ".join(names())}')


def _loaded(point: EntryPoint, kind: type[Kind]) -> type[Kind]:
    try:
        loaded = point.load()
    except Exception as error:  # Importing runs other people's code, which may raise whatever it likes.
        raise _broken(point, f"{type(error).__name__}: {error}") from error
    if not (isinstance(loaded, type) and issubclass(loaded, kind)):
        raise _broken(point, "it is no subclass of crosswind.app.Application")
    return loaded


def _broken(point: EntryPoint, why: str) -> BrokenApplication:
    package = "unknown" if point.dist is None else point.dist.name
    return BrokenApplication(
        f'application "{point.name}": {point.value} of the package {package} cannot be loaded ({why}); '
        f"repair that package, or uninstall it"
    )
