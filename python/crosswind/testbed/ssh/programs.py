"""The agents that can be copied to other machines: static programs, one for each kind of CPU."""

import hashlib
import os
import platform
from dataclasses import dataclass
from pathlib import Path

from crosswind.testbed.binaries import AGENT, find_binary

# As `uname -m` prints them. `make agents` puts the programs here, and the wheel has them.
PROCESSORS = ("x86_64", "aarch64")
FOLDER = Path(__file__).parent / "agents"


@dataclass(frozen=True)
class AgentProgram:
    """An agent for machines with one kind of CPU.

    Attributes:
        sha256: of the file; names its folder on the other machine.
        static: runs on any Linux. Otherwise it needs the C library of this machine, or a newer one.
    """

    path: Path
    sha256: str
    size_bytes: int
    static: bool

    @classmethod
    def of(cls, path: Path, static: bool) -> "AgentProgram":
        """Return the program in a file."""
        content = path.read_bytes()
        return cls(path, hashlib.sha256(content).hexdigest(), len(content), static)


def note_on_programs() -> str | None:
    """Return what to know about the agents that are copied; None where each runs on any Linux."""
    own = [processor for processor, program in agent_programs().items() if not program.static]
    if not own:
        return None
    return (
        f"the agent for {', '.join(own)} is this machine's own, which does not start where the C library is "
        "older; `make agents` builds one that runs on any Linux, and released wheels have it"
    )


def agent_programs() -> dict[str, AgentProgram]:
    """Return the agents that this installation can copy, by `uname -m`.

    `CROSSWIND_AGENT` takes the place of the static one for machines like this one, so that a developer can
    try a new build. Where there is no static one, it is the agent of this machine.

    Raises: NotHere: there is no agent at all.
    """
    found = {
        processor: AgentProgram.of(path, static=True)
        for processor in PROCESSORS
        if (path := FOLDER / processor / AGENT).exists()
    }
    own = platform.machine()
    if own not in found or os.environ.get("CROSSWIND_AGENT"):
        found[own] = AgentProgram.of(find_binary(AGENT), static=False)
    return found
