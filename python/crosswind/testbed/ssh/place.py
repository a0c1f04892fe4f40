"""A machine of a testbed as its agent is started, and as the other machines reach it."""

from __future__ import annotations

from crosswind.spec.resolved import ResolvedMachine, ResolvedTestbed
from crosswind.testbed.join import MachineAt, Native
from crosswind.testbed.ssh.transport import SshTransport


def place_of(machine: ResolvedMachine, testbed: ResolvedTestbed) -> MachineAt:
    """Return how a machine is reached, and what carries packets to it.

    Raises: NotHere: ssh knows no address of it; the message names it.
    """
    transport = SshTransport.of(machine)
    return MachineAt(
        machine.name,
        transport,
        machine.address or transport.address(),
        machine.port,
        None if testbed.network is None else Native(testbed.interface_of(machine)),
    )
