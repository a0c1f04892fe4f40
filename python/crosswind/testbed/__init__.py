"""The client of `crosswind-agent`: finds the binaries, speaks the protocol, brings fabrics up and down.

It decides nothing about trials (see `crosswind.runner`) and knows no application (see `crosswind.app`).
"""

from crosswind.testbed.agent import Agent, Ended
from crosswind.testbed.binaries import find_binary
from crosswind.testbed.errors import AgentDied, AgentRefused, FabricFault, NotHere, TestbedError
from crosswind.testbed.fabric import Fabric, FabricFiles, Process
from crosswind.testbed.folders import WorkFolder
from crosswind.testbed.join import MachineAt, Native
from crosswind.testbed.replies import Hello, Node
from crosswind.testbed.running import RunningFabric
from crosswind.testbed.testbed import (
    OpenVSwitchHere,
    RunningTestbed,
    SeveralMachines,
    ThisMachine,
    TrafficControlHere,
)

__all__ = [
    "Agent",
    "AgentDied",
    "AgentRefused",
    "Ended",
    "Fabric",
    "FabricFault",
    "FabricFiles",
    "Hello",
    "MachineAt",
    "Native",
    "Node",
    "NotHere",
    "OpenVSwitchHere",
    "Process",
    "RunningFabric",
    "RunningTestbed",
    "SeveralMachines",
    "TestbedError",
    "ThisMachine",
    "TrafficControlHere",
    "WorkFolder",
    "find_binary",
]
