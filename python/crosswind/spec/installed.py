"""Which applications and providers are installed; each is imported only when it is needed.

All are entry points, those of this project and of others: `pyproject.toml` names those of this project.
"""

import sys
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, EntryPoints, entry_points
from typing import TypeVar

from crosswind.errors import CrosswindError, Exit

Kind = TypeVar("Kind")


class UnknownPlugin(CrosswindError):
    """No application or provider of this name is installed."""


class BrokenPlugin(CrosswindError):
    """An installed application or provider cannot be loaded; the others still work."""

    exit = Exit.PREFLIGHT


@cache
def _installed(group: str, path: tuple[str, ...]) -> EntryPoints:
    """Return the entry points in these folders: to read them takes 5 ms, and a file asks 19 times."""
    return entry_points(group=group)


@dataclass(frozen=True)
class Plugins:
    """Plugins of one kind.

    Attributes:
        group: of their entry points.
        noun: what messages call one.
        base: the class that each is a subclass of.
    """

    group: str
    noun: str
    base: str

    def names(self) -> list[str]:
        """Return the names of those that are installed, sorted."""
        return sorted(_installed(self.group, tuple(sys.path)).names)

    def find(self, name: str, kind: type[Kind]) -> type[Kind]:
        """Return the plugin of this name, a subclass of `kind`.

        Raises:
            UnknownPlugin: none is installed; the message names those that are.
            BrokenPlugin: it cannot be imported, or is not a subclass; the message names its package.
        """
        for point in _installed(self.group, tuple(sys.path)).select(name=name):
            return self._loaded(point, kind)
        raise UnknownPlugin(
            f'{self.noun} "{name}": not installed; installed are {", ".join(self.names()) or "none"}'
        )

    def _loaded(self, point: EntryPoint, kind: type[Kind]) -> type[Kind]:
        try:
            loaded = point.load()
        except Exception as error:  # Importing runs code of others, which may raise anything.
            raise self._broken(point, f"{type(error).__name__}: {error}") from error
        if not (isinstance(loaded, type) and issubclass(loaded, kind)):
            raise self._broken(point, f"it is not a subclass of {self.base}")
        return loaded

    def _broken(self, point: EntryPoint, why: str) -> BrokenPlugin:
        package = "unknown" if point.dist is None else point.dist.name
        return BrokenPlugin(
            f'{self.noun} "{point.name}": {point.value} of the package {package} cannot be loaded ({why}); '
            f"repair that package, or uninstall it"
        )


APPLICATIONS = Plugins("crosswind.applications", "application", "crosswind.app.Application")
PROVIDERS = Plugins("crosswind.providers", "provider", "crosswind.testbed.providers.Provider")
