"""Find an application that can run; `crosswind.spec.applications` finds what it declares."""

from crosswind.app.base import Application
from crosswind.spec import installed


def find(name: str) -> type[Application]:
    """Return the installed application of that name.

    Raises:
        UnknownApplication: none is installed; the message names those that are.
        BrokenApplication: it cannot be imported, or is something else; the message names its package.
    """
    return installed.find(name, Application)  # type: ignore[type-abstract]
