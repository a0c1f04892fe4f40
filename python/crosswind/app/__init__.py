"""Applications: what runs in the fabric, as plugins.

Each is an entry point of the group `crosswind.applications` that names a subclass of
`crosswind.app.base.Application`. Experiment files use the name of the entry point. Crosswind's own
applications have a folder here.
"""

from crosswind.app.base import Application, Load, LoadOutcome, Missing, Stage
from crosswind.app.demand import Demand
from crosswind.app.find import find, names
from crosswind.app.written import Facts
from crosswind.spec.declared import Figure
from crosswind.spec.installed import BrokenPlugin

__all__ = [
    "Application",
    "BrokenPlugin",
    "Demand",
    "Facts",
    "Figure",
    "Load",
    "LoadOutcome",
    "Missing",
    "Stage",
    "find",
    "names",
]
