"""The live console: a page in the browser that shows a network or a run while it runs, or afterwards."""

from crosswind.console.console import Console
from crosswind.console.replay import Replay
from crosswind.console.run import RunConsole

__all__ = ["Console", "Replay", "RunConsole"]
