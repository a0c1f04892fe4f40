"""Find an application that can run; `crosswind.spec.installed` finds what it declares."""

from crosswind.app.base import Application
from crosswind.spec import Resolved
from crosswind.spec.installed import APPLICATIONS
from crosswind.spec.restored import restored


def names() -> list[str]:
    """Return the names of the installed applications, sorted."""
    return APPLICATIONS.names()


def find(name: str) -> type[Application]:
    """Return the installed application of that name.

    Raises:
        UnknownPlugin: no such application is installed; the message lists those that are.
        BrokenPlugin: it cannot be imported, or is no application; the message names its package.
    """
    return APPLICATIONS.find(name, Application)  # type: ignore[type-abstract]


def application_of(resolved: Resolved) -> Application:
    """Return the application of a resolved experiment with its parameters."""
    kind = find(resolved.application.name)
    return kind(restored(kind.Parameters, resolved.application.parameters))
