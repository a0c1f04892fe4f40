"""What a user should know about this machine before the first trial; none of it stops a run."""

import psutil

from crosswind.doctor import check_here
from crosswind.spec import Resolved

AGENT = "crosswind-agent"


def remarks(resolved: Resolved) -> list[str]:
    """Return what the calibration says of the experiment, and who would share the emulator's core."""
    found = check_here(resolved)
    agents = other_agents()
    if agents:
        pids = ", ".join(str(pid) for pid in agents)
        found.append(
            f"another emulator is running on this machine ({AGENT} {pids}): the two share one core, and "
            "packets of both are late; run one at a time"
        )
    return found


def other_agents() -> list[int]:
    """Return the process ids of agents that are serving somebody now."""
    # A node's init is the same program with a word behind it, and no agent.
    return sorted(
        process.pid
        for process in psutil.process_iter(["name", "cmdline"])
        if process.info["name"] == AGENT and len(process.info["cmdline"] or ()) == 1
    )
