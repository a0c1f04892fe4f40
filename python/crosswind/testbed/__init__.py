"""The client of `crosswind-agent`: finds the binaries, speaks the protocol, brings fabrics up and down.

It decides nothing about trials (see `crosswind.runner`) and knows no application (see `crosswind.app`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosswind.lazily import lazily

if TYPE_CHECKING:
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

# Imported when they are first named: `crosswind exec` needs a socket and the path of the agent alone.
__getattr__ = lazily(
    globals(),
    {
        "Agent": "crosswind.testbed.agent",
        "AgentDied": "crosswind.testbed.errors",
        "AgentRefused": "crosswind.testbed.errors",
        "Ended": "crosswind.testbed.agent",
        "Fabric": "crosswind.testbed.fabric",
        "FabricFault": "crosswind.testbed.errors",
        "FabricFiles": "crosswind.testbed.fabric",
        "Hello": "crosswind.testbed.replies",
        "MachineAt": "crosswind.testbed.join",
        "Native": "crosswind.testbed.join",
        "Node": "crosswind.testbed.replies",
        "NotHere": "crosswind.testbed.errors",
        "OpenVSwitchHere": "crosswind.testbed.testbed",
        "Process": "crosswind.testbed.fabric",
        "RunningFabric": "crosswind.testbed.running",
        "RunningTestbed": "crosswind.testbed.testbed",
        "SeveralMachines": "crosswind.testbed.testbed",
        "TestbedError": "crosswind.testbed.errors",
        "ThisMachine": "crosswind.testbed.testbed",
        "TrafficControlHere": "crosswind.testbed.testbed",
        "WorkFolder": "crosswind.testbed.folders",
        "find_binary": "crosswind.testbed.binaries",
    },
)
