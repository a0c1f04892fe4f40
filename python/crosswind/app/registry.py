"""Which applications exist; one is imported only when it is asked for.

All are entry points, ours and other people's alike: `pyproject.toml` names ours.
"""

from importlib.metadata import entry_points

from crosswind.app.base import Application
from crosswind.errors import CrosswindError

GROUP = "crosswind.applications"


class UnknownApplication(CrosswindError):
    """No application of that name is installed."""


def names() -> list[str]:
    """Return the names of the installed applications, sorted."""
    return sorted({point.name for point in entry_points(group=GROUP)})


def find(name: str) -> type[Application]:
    """Return the application of that name.

    Raises: UnknownApplication: none is installed; the message names those that are.
    """
    for point in entry_points(group=GROUP, name=name):
        application: type[Application] = point.load()
        return application
    raise UnknownApplication(f'application "{name}": not installed; installed are {", ".join(names())}')
