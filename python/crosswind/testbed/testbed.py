"""Where fabrics come up: on this machine, or on several that carry each fabric together."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from crosswind.backends.ovs.mapping import PolicedBy
from crosswind.spec import FabricSpec
from crosswind.spec.resolved import RequestedLimits
from crosswind.testbed.agent import Agent
from crosswind.testbed.cluster import ClusterFabric
from crosswind.testbed.errors import AgentDied, FabricFault
from crosswind.testbed.fabric import Fabric, FabricFiles
from crosswind.testbed.folders import WorkFolder, remove_tree
from crosswind.testbed.join import MachineAt
from crosswind.testbed.machines import Machines
from crosswind.testbed.open_vswitch import OpenVSwitchFabric
from crosswind.testbed.running import RunningFabric
from crosswind.testbed.traffic_control import TrafficControlFabric


class RunningTestbed(ABC):
    """One machine or several; one fabric at a time. Leaving the block ends what outlives fabrics."""

    __test__ = False  # The name begins with "Test"; pytest must not collect it.

    @abstractmethod
    def fabric(
        self,
        spec: FabricSpec,
        work: WorkFolder,
        logs: Path,
        files: FabricFiles | None = None,
        limits: Mapping[str, RequestedLimits] | None = None,
    ) -> AbstractContextManager[Fabric]:
        """Bring a fabric up while the block runs.

        Args:
            work: the work folder of the run; always the same.
            spec, logs, files, limits: as of `RunningFabric`.
        """

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return


class ThisMachine(RunningTestbed):
    """This machine alone, with an agent for each fabric."""

    @contextmanager
    def fabric(
        self,
        spec: FabricSpec,
        work: WorkFolder,
        logs: Path,
        files: FabricFiles | None = None,
        limits: Mapping[str, RequestedLimits] | None = None,
    ) -> Iterator[Fabric]:
        with Agent() as agent, RunningFabric(agent, spec, logs, files, limits) as fabric:
            yield fabric


class OpenVSwitchHere(RunningTestbed):
    """This machine, where Open vSwitch carries the packets.

    Args:
        police: what `police` becomes.
    """

    def __init__(self, police: PolicedBy) -> None:
        self._police = police

    @contextmanager
    def fabric(
        self,
        spec: FabricSpec,
        work: WorkFolder,
        logs: Path,
        files: FabricFiles | None = None,
        limits: Mapping[str, RequestedLimits] | None = None,
    ) -> Iterator[Fabric]:
        with (
            own_folder(work, "ovs") as folder,
            Agent() as agent,
            OpenVSwitchFabric(agent, spec, logs, limits, folder, self._police) as fabric,
        ):
            yield fabric


class TrafficControlHere(RunningTestbed):
    """This machine, where the kernel's traffic control carries the packets."""

    @contextmanager
    def fabric(
        self,
        spec: FabricSpec,
        work: WorkFolder,
        logs: Path,
        files: FabricFiles | None = None,
        limits: Mapping[str, RequestedLimits] | None = None,
    ) -> Iterator[Fabric]:
        with (
            own_folder(work, "tc") as folder,
            Agent() as agent,
            TrafficControlFabric(agent, spec, logs, limits, folder) as fabric,
        ):
            yield fabric


@contextmanager
def own_folder(work: WorkFolder, name: str) -> Iterator[Path]:
    """Return the path of a folder that does not exist, and remove it afterwards."""
    folder = work.path / name
    remove_tree(folder)
    try:
        yield folder
    finally:
        remove_tree(folder)


class SeveralMachines(RunningTestbed):
    """Several machines, whose agents stay for many fabrics: the estimates of their clocks get better.

    Args:
        places: the machines, the one whose clock counts first.
        domains: the hosts and switches of each, in the same order.
        programs: private folders of programs that are copied to each.
    """

    def __init__(
        self,
        places: Sequence[MachineAt],
        domains: Sequence[Sequence[str]],
        programs: Sequence[Path] = (),
    ) -> None:
        self._places = places
        self._programs = programs
        self._domains = [list(names) for names in domains]
        self._machines: Machines | None = None

    @contextmanager
    def fabric(
        self,
        spec: FabricSpec,
        work: WorkFolder,
        logs: Path,
        files: FabricFiles | None = None,
        limits: Mapping[str, RequestedLimits] | None = None,
    ) -> Iterator[Fabric]:
        if self._machines is None:
            self._machines = Machines(self._places, work, self._programs).__enter__()
        try:
            # A machine that is alone has all of the network, and no tunnel.
            domains = self._domains if len(self._domains) > 1 else None
            divided = spec.with_changes(domains=domains)
            with ClusterFabric(self._machines, divided, logs, files, limits) as fabric:
                yield fabric
        except (AgentDied, FabricFault):
            # The next fabric gets new agents.
            self._end()
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def _end(self) -> None:
        machines, self._machines = self._machines, None
        if machines is not None:
            machines.__exit__(None, None, None)
