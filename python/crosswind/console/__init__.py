"""The live console: a page in the browser that shows a network while it runs, or a finished run again."""

from crosswind.console.console import Console
from crosswind.console.replay import Replay

__all__ = ["Console", "Replay"]
