"""The client of `crosswind-agent`: find the binaries, speak the protocol, hold a fabric.

It decides nothing about trials (see `crosswind.runner`) and knows no application (see `crosswind.app`).
"""

from crosswind.testbed.agent import Agent, Ended, Hello
from crosswind.testbed.binaries import find_binary
from crosswind.testbed.errors import AgentDied, AgentRefused, FabricFault, NotHere, TestbedError
from crosswind.testbed.fabric import Fabric, Files, Node, Process
from crosswind.testbed.folders import WorkFolder

__all__ = [
    "Agent",
    "AgentDied",
    "AgentRefused",
    "Ended",
    "Fabric",
    "FabricFault",
    "Files",
    "Hello",
    "Node",
    "NotHere",
    "Process",
    "TestbedError",
    "WorkFolder",
    "find_binary",
]
