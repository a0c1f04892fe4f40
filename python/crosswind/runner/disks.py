"""Whether a machine can give nodes disks that become full or slow, where an experiment has such faults."""

from __future__ import annotations

from crosswind.spec import Resolved, disk_nodes
from crosswind.testbed import Agent
from crosswind.testbed.replies import Reply


def check_disks(resolved: Resolved, agent: Agent) -> None:
    """Check that the machine of an agent can.

    Raises: AgentRefused: it cannot; the message has the reason and the remedy.
    """
    disks = disk_nodes(resolved)
    if disks:
        agent.request("disks", Reply, {"rate": any(disks.values())})
