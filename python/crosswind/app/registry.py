"""Which applications exist; one is imported only when it is asked for."""

from importlib import import_module
from importlib.metadata import entry_points

from crosswind.app.base import Application
from crosswind.errors import CrosswindError

GROUP = "crosswind.applications"
_BUILT_IN = {"rpc": "crosswind.app.rpc:Rpc", "ycsb": "crosswind.app.ycsb:Ycsb"}


class UnknownApplication(CrosswindError):
    """No application of that name is installed."""


def names() -> list[str]:
    """Return the names of the installed applications, built-in ones and plugins, sorted."""
    return sorted({*_BUILT_IN, *(point.name for point in entry_points(group=GROUP))})


def find(name: str) -> type[Application]:
    """Return the application of that name.

    Raises: UnknownApplication: none is installed; the message names those that are.
    """
    if name in _BUILT_IN:
        module, _, attribute = _BUILT_IN[name].partition(":")
        built_in: type[Application] = getattr(import_module(module), attribute)
        return built_in
    for point in entry_points(group=GROUP, name=name):
        plugin: type[Application] = point.load()
        return plugin
    raise UnknownApplication(f'application "{name}": not installed; installed are {", ".join(names())}')
