"""Where the trials of an experiment run."""

from crosswind.spec import Resolved
from crosswind.testbed import RunningTestbed, ThisMachine


def testbed_of(resolved: Resolved) -> RunningTestbed:
    """Return this machine: `preflight` refuses an experiment that names others."""
    return ThisMachine()
