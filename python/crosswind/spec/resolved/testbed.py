"""The machines of a resolved experiment."""

from __future__ import annotations

from typing import Literal

from crosswind.spec.resolved.part import Parameters, ResolvedFile, ResolvedPart, left_out_if_empty


class ResolvedMachine(ResolvedPart):
    """A machine that ssh reaches.

    Attributes:
        name: as ssh knows it.
        address: where packets of other machines arrive; None: what ssh connects to.
        port: UDP port for these packets; None: one that is free.
        interface: for raw Ethernet; None: that of the testbed.
        cores: that the experiment may use; None: unknown.
        host_name, ssh_port, user: what ssh connects to, where an inventory or a provider says so; None: as
            `~/.ssh/config`.
        identity, known_hosts: files with the private key and with the machine's own key, of a provider.
        labels: where it is, as a provider or an inventory says: `{"host": "rack1-3", "tenant": "blue"}`;
            equal labels mean the same place.
    """

    name: str
    address: str | None = left_out_if_empty(None)
    port: int | None = left_out_if_empty(None)
    interface: str | None = left_out_if_empty(None)
    cores: int | None = left_out_if_empty(None)
    host_name: str | None = left_out_if_empty(None)
    ssh_port: int | None = left_out_if_empty(None)
    user: str | None = left_out_if_empty(None)
    identity: str | None = left_out_if_empty(None)
    known_hosts: str | None = left_out_if_empty(None)
    labels: dict[str, str] = left_out_if_empty({})

    @property
    def ssh_options(self) -> tuple[str, ...]:
        """The words for ssh, in front of the name."""
        host_name = () if self.host_name is None else ("-o", f"HostName={self.host_name}")
        port = () if self.ssh_port is None else ("-p", str(self.ssh_port))
        user = () if self.user is None else ("-l", self.user)
        # Other keys of the user would be tried first, and sshd refuses the sixth.
        identity = () if self.identity is None else ("-i", self.identity, "-o", "IdentitiesOnly=yes")
        # The key of a machine that is new is unknown; the first one that it shows counts from then on.
        known = (
            ()
            if self.known_hosts is None
            else ("-o", f"UserKnownHostsFile={self.known_hosts}", "-o", "StrictHostKeyChecking=accept-new")
        )
        return (*host_name, *port, *user, *identity, *known)


class ResolvedProvider(ResolvedPart):
    """A provider that makes the machines before the first trial, and removes them after the last.

    Attributes:
        parameters: in base units, as its own model dumps them.
    """

    name: str
    parameters: Parameters


class ResolvedTestbed(ResolvedPart):
    """Machines that an experiment runs on, and what is on which.

    Attributes:
        provider: makes the machines; before that only names and cores are known. None: they exist.
        place: the machine of hosts and switches, as far as the file says.
        network: what carries packets between them; None: UDP.
        interface: for raw Ethernet; None: the one with a machine's address.
        delay_ns: between two machines, which 999 of 1000 packets do not exceed.
        clock_error_ns: by which the machines' clocks may differ.
        named: the file that the command line named, where it is not in the experiment's own.
        files: inventories.
    """

    machines: list[ResolvedMachine]
    provider: ResolvedProvider | None = left_out_if_empty(None)
    place: dict[str, str] = left_out_if_empty({})
    network: Literal["native"] | None = left_out_if_empty(None)
    interface: str | None = left_out_if_empty(None)
    delay_ns: int
    clock_error_ns: int
    named: str | None = left_out_if_empty(None)
    files: list[ResolvedFile] = left_out_if_empty([])

    def interface_of(self, machine: ResolvedMachine) -> str | None:
        """Return the interface of a machine for raw Ethernet; None: the one with its address."""
        return machine.interface or self.interface

    @property
    def shortest_cut_ns(self) -> int:
        """The least delay of a link between two machines.

        A packet is held at its destination until it is due, so the physical delay vanishes in the declared
        one. Half of that is left for what takes longer than usual.
        """
        return 2 * self.delay_ns + self.clock_error_ns
