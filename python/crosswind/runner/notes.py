"""Notes on this machine that a user should know before the first trial; none of them stops a run."""

import psutil

from crosswind.doctor import check_here
from crosswind.spec import Resolved

AGENT = "crosswind-agent"


def machine_notes(resolved: Resolved) -> list[str]:
    """Return the notes of the calibration on an experiment, and the other agents that run on this machine."""
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
    """Return the process ids of agents that are in use now."""
    # A node's init is the same program with an argument, and is not an agent.
    return sorted(
        process.pid
        for process in psutil.process_iter(["name", "cmdline"])
        if process.info["name"] == AGENT and len(process.info["cmdline"] or ()) == 1
    )
