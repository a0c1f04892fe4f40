"""Applications: what runs in the fabric, as plugins.

Each application is a folder here or an entry point of the group `crosswind.applications` that names a
subclass of `crosswind.app.base.Application`. The folder's name is the word in the experiment file.
"""

from crosswind.app.base import Application, Loaded, Missing, Stage
from crosswind.app.registry import find, names

__all__ = ["Application", "Loaded", "Missing", "Stage", "find", "names"]
