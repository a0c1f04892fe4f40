"""The console: a page in the browser that shows a network, a run or a fingerprint, live or afterwards."""

from crosswind.console.console import Console
from crosswind.console.fingerprint import FingerprintConsole
from crosswind.console.replay import Replay
from crosswind.console.run import RunConsole

__all__ = ["Console", "FingerprintConsole", "Replay", "RunConsole"]
