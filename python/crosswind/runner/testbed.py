"""Where the trials of an experiment run."""

from crosswind.spec import Resolved
from crosswind.testbed import Testbed, ThisMachine


def testbed_of(resolved: Resolved) -> Testbed:
    """Return the machine, or machines, of an experiment."""
    return ThisMachine()
