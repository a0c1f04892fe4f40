"""The client of `crosswind-agent`: find the binaries, speak the protocol, hold a fabric.

It decides nothing about trials (see `crosswind.runner`) and knows no application (see `crosswind.app`).
"""

from crosswind.testbed.agent import Agent, Ended, Hello
from crosswind.testbed.binaries import find_binary
from crosswind.testbed.errors import AgentDied, AgentRefused, FabricFault, NotHere, TestbedError
from crosswind.testbed.fabric import Files, Node, Process, RunningFabric
from crosswind.testbed.folders import WorkFolder

__all__ = [
    "Agent",
    "AgentDied",
    "AgentRefused",
    "Ended",
    "FabricFault",
    "Files",
    "Hello",
    "Node",
    "NotHere",
    "Process",
    "RunningFabric",
    "TestbedError",
    "WorkFolder",
    "find_binary",
]
