"""Ways to a running agent: as a child of this process here, over ssh in `crosswind.testbed.ssh`."""

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from crosswind.testbed.binaries import AGENT, find_binary

# Without a request for this long, the agent undoes everything. It is long enough for a machine that swaps,
# and short enough that a stopped (not killed) command line does not hold a fabric for ever.
LEASE_S = 60


class Transport(Protocol):
    """A machine, and how an agent is started on it with its standard streams in the hands of this process."""

    @property
    def title(self) -> str:
        """What messages call the agent: `agent`, or `agent on NAME`."""

    @property
    def is_here(self) -> bool:
        """Whether that machine is this one, with the same files."""

    @property
    def lease_s(self) -> int:
        """After how many seconds without a request the agent undoes everything."""

    def start(self) -> subprocess.Popen[bytes]:
        """Start the agent; requests go to the process's standard input, answers come from its output.

        Raises: NotHere: there can be none on that machine.
        """

    def explained(self, status: int | None, printed: Sequence[str]) -> str | None:
        """Return why the process ended where the way to the machine is the reason, with a remedy.

        Args:
            status: its `returncode`; None where it closed its output and still runs.
            printed: the last lines of its standard error.
        """


@dataclass(frozen=True)
class LocalChild:
    """An agent of this machine."""

    title: str = "agent"
    lease_s: int = LEASE_S
    is_here: bool = True

    def start(self) -> subprocess.Popen[bytes]:
        # In a separate session, Ctrl-C in the terminal does not reach the agent before it reaches this
        # process.
        return subprocess.Popen(
            [str(find_binary(AGENT))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )

    def explained(self, status: int | None, printed: Sequence[str]) -> str | None:
        return None
