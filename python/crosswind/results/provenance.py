"""What results depend on besides the experiment: provenance.json (docs/reference/contracts.md, section 5)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, Strict

from crosswind.results.measurement import Decided, TrafficCheck
from crosswind.results.part import StoredPart
from crosswind.spec.resolved.part import left_out_if_empty


class GitState(StoredPart):
    """The commit of the folder of the experiment file; `clean` where no tracked file differs from it."""

    commit: str
    clean: bool


class InterfaceRates(StoredPart):
    """Rates through an interface, in bit/s."""

    received: int
    sent: int

    @property
    def larger(self) -> int:
        """The rate of the busier direction."""
        return max(self.received, self.sent)


class MachineActivity(StoredPart):
    """What a machine did at an instant, besides the measurement.

    Attributes:
        load_average: of 1, 5 and 15 minutes.
        steal_s: CPU time taken by the hypervisor since boot, of all CPUs together.
        interfaces_bps: by name.
    """

    load_average: list[float]
    memory_bytes: int
    memory_available_bytes: int
    swap_used_bytes: int
    processes: int
    uptime_s: float
    steal_s: float
    interfaces_bps: dict[str, InterfaceRates]

    @property
    def memory_used_bytes(self) -> int:
        """Memory that is not available."""
        return self.memory_bytes - self.memory_available_bytes


class PlannedFingerprint(StoredPart):
    """The short fingerprint that a run takes of its network after the first block and after the last.

    Attributes:
        length_s: about how long it takes, each time.
        condition: the experiment's first.
        between: its first node, and the first one on another host.
        left_out: why none is taken; None where one is.
    """

    length_s: float | None = None
    condition: str | None = None
    between: Annotated[tuple[str, str], Strict(False)] | None = None
    left_out: str | None = None


class MachineOfTestbed(StoredPart):
    """A machine that carries a part of the network; None where it does not report it.

    Attributes:
        name: as ssh knows it.
        address: where packets of the other machines arrive.
        processor, cpu: the instruction set, and what the kernel calls it.
        load_average: of one minute, when the run began.
        interfaces_bps: rates through its interfaces then, by name.
        agent: its version.
        rootless: whether it made the nodes without root.
        labels: where a provider put it.
    """

    name: str
    address: str | None = None
    kernel: str | None = None
    processor: str | None = None
    cpu: str | None = None
    cores: int | None = None
    memory_bytes: int | None = None
    memory_available_bytes: int | None = None
    clock_source: str | None = None
    governor: str | None = None
    load_average: float | None = None
    interfaces_bps: dict[str, InterfaceRates] | None = None
    agent: str | None = None
    rootless: bool | None = None
    labels: dict[str, str] | None = None


class BackendFacts(StoredPart):
    """A backend in the place of the emulator.

    Attributes:
        name: `ovs` or `tc`.
        version: of its programs.
        decided: by condition, which part of it decides what.
        checks: by condition, what probe traffic showed before the first trial.
    """

    name: str
    version: str
    decided: dict[str, list[Decided]]
    checks: dict[str, list[TrafficCheck]]


class MachineFacts(StoredPart):
    """A machine and its tools at an instant; None where the system, or an older version, does not report it.

    Attributes:
        cores: CPUs that this process may use.
        steal_s: CPU time taken by the hypervisor since boot, of all CPUs together.
        load_average: of 1, 5 and 15 minutes.
        sysctls: by name, as the kernel prints them.
        tools: versions and checksums by name.
        seed: of the experiment.
        domains: those that the agent was given in trials: how many, or the switches and hosts of each.
        state: what the machine did besides.
        machines: those of the testbed, where it is not this machine.
        remarks: notes for the reader of the results; of a run's beginning alone, as are the next two.
        bounds: what it was allowed to do besides, by name; None without a bound.
        backend: in the place of the emulator, of a run's beginning; None where there is none.
    """

    time: str | None = None
    kernel: str | None = None
    kernel_build: str | None = None
    cpu: str | None = None
    cores: int | None = None
    clock_source: str | None = None
    governor: str | None = None
    virtualisation: str | None = None
    steal_s: float | None = None
    load_average: list[float] = Field(default_factory=list)
    memory_bytes: int | None = None
    memory_available_bytes: int | None = None
    offloads: str | None = None
    sysctls: dict[str, str | int | None] = Field(default_factory=dict)
    tools: dict[str, str] = Field(default_factory=dict)
    git: GitState | None = None
    seed: int | None = None
    root: bool | None = None
    rootless: bool | None = None
    domains: int | list[list[str]] = 1
    state: MachineActivity | None = None
    machines: list[MachineOfTestbed] = left_out_if_empty([])
    remarks: list[str] = Field(default_factory=list)
    bounds: dict[str, int | float | None] = Field(default_factory=dict)
    fingerprint: PlannedFingerprint | None = None
    backend: BackendFacts | None = left_out_if_empty(None)

    def with_changes(self, **changes: object) -> MachineFacts:
        """Return the same facts but for these attributes."""
        return self.model_copy(update=changes)


class Provenance(StoredPart):
    """The machine before the trials and after them; None until it is known."""

    before: MachineFacts | None = None
    after: MachineFacts | None = None
