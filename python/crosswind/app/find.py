"""Find an application that can run; `crosswind.spec.installed` finds what it declares."""

from crosswind.app.base import Application
from crosswind.spec import Resolved, installed
from crosswind.spec.restored import restored


def find(name: str) -> type[Application]:
    """Return the installed application of that name.

    Raises:
        UnknownApplication: no such application is installed; the message lists those that are.
        BrokenApplication: it cannot be imported, or is no application; the message names its package.
    """
    return installed.find(name, Application)  # type: ignore[type-abstract]


def application_of(resolved: Resolved) -> Application:
    """Return the application of a resolved experiment with its parameters."""
    kind = find(resolved.application.name)
    return kind(restored(kind.Parameters, resolved.application.parameters))
