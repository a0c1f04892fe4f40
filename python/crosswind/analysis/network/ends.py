"""What the two ends of a network were: machine, load, settings, interface, connection.

Each is as `fingerprint/measure/end_facts.py` reports it at the end itself. None where the kernel does not
report it.
"""

from __future__ import annotations

from pydantic import Field

from crosswind.analysis.network.part import FingerprintPart
from crosswind.results.provenance import MachineActivity


class Interface(FingerprintPart):
    """The interface through which an end reaches the other one; name None where there is no route.

    Attributes:
        offloads: by their names in ethtool.
        queues, rings: sizes by `rx`, `tx` and `combined`.
    """

    name: str | None = None
    address: str | None = None
    mtu_bytes: int | None = None
    path_mtu_bytes: int | None = None
    driver: str | None = None
    offloads: dict[str, bool | None] = Field(default_factory=dict)
    speed_mbps: int | None = None
    queues: dict[str, int] | None = None
    rings: dict[str, int] | None = None


class Connection(FingerprintPart):
    """Settings of a fresh TCP connection; `routers` as in `Way`."""

    congestion_control: str
    rto_us: int
    mss_bytes: int
    path_mtu_bytes: int
    handshake_rtt_us: int
    routers: int | None = None


class Cloud(FingerprintPart):
    """The provider of a machine, and its names for the machine's type and place."""

    provider: str
    type: str
    place: str


class EndFacts(FingerprintPart):
    """One end at one instant.

    Attributes:
        time: date and time in UTC.
        boot: differs for each boot of each machine.
        cores: that a process may use.
        connection: None where none was made.
        cloud: None where no cloud answered, or was not asked.
    """

    time: str
    host: str
    boot: str | None = None
    kernel: str | None = None
    cpu: str | None = None
    cores: int
    clock_source: str | None = None
    governor: str | None = None
    virtualisation: str | None = None
    state: MachineActivity
    sysctls: dict[str, str | None] = Field(default_factory=dict)
    interface: Interface = Interface()
    connection: Connection | None = None
    cloud: Cloud | None = None


class EndMachines(FingerprintPart):
    """Both ends, and the machine under both where they are nodes on this one."""

    near: EndFacts
    far: EndFacts
    here: EndFacts | None = None

    @property
    def places(self) -> list[EndFacts]:
        """The machines, each once."""
        # A node has the load and memory of its machine, but interfaces of its own.
        return [self.near, self.far] if self.here is None else [self.here]


class Looks(FingerprintPart):
    """The ends before the measurement and after it; None where they were not inspected."""

    before: EndMachines | None = None
    after: EndMachines | None = None
