"""Names of a package whose modules are imported when the names are first used."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module


def lazily(package: dict[str, object], modules: dict[str, str]) -> Callable[[str], object]:
    """Return what a package assigns to its `__getattr__` (PEP 562).

    Args:
        package: its `globals()`.
        modules: by name, the module that has it.
    """

    def named(name: str) -> object:
        if name not in modules:
            raise AttributeError(f"module {package['__name__']!r} has no attribute {name!r}")
        value = package[name] = getattr(import_module(modules[name]), name)
        return value

    return named
