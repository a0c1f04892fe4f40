"""Where the trials of an experiment run."""

from crosswind.spec import Resolved
from crosswind.testbed import RunningTestbed, ThisMachine


def testbed_of(resolved: Resolved) -> RunningTestbed:
    """Return the machine, or machines, of an experiment."""
    return ThisMachine()
