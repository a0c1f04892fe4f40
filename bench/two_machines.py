"""TCP and single packets between two nodes on two machines, and in the same round on one machine.

Both machines are agents here, each in a network namespace of its own and on half of the CPUs; a veth pair
joins them. The network on one machine has all CPUs.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

import crosswind
from bench.figures import Figure, Skipped, figure, skipped
from bench.throughput import goodput, stream
from crosswind.probe.bare import ADDRESSES, BarePair, bare_impossible
from crosswind.probe.pairs import Task, over_fabric, run_tasks
from crosswind.probe.single_packets import FILE, probe_task, read_probes
from crosswind.results import Measurement
from crosswind.results.between_machines import clock_bound_ns, one_ways
from crosswind.spec import FabricSpec
from crosswind.testbed import MachineAt, WorkFolder, find_binary
from crosswind.testbed.binaries import AGENT
from crosswind.testbed.cluster import ClusterFabric
from crosswind.testbed.machines import Machines
from crosswind.testbed.plain import plain_fabric
from crosswind.testbed.transport import LEASE_S

# Longer than the path between the machines takes, also when both are busy.
DELAY_NS = 2_000_000
BUFFER_BYTES = 16 << 20
MTUS = (1500, 9000)
TARGET = 0.5
RATE_PER_S = 1000
COUNT = 3000


@dataclass(frozen=True)
class InNamespace:
    """An agent in the network namespace of a process, on some CPUs."""

    pid: int
    cpus: str
    title: str
    lease_s: int = LEASE_S
    is_here: bool = True

    def start(self) -> subprocess.Popen[bytes]:
        pipe = subprocess.PIPE
        inside = ["nsenter", f"--net=/proc/{self.pid}/ns/net", "taskset", "-c", self.cpus]
        return subprocess.Popen([*inside, str(find_binary(AGENT))], stdin=pipe, stdout=pipe, stderr=pipe)

    def explained(self, status: int | None, printed: object) -> str | None:
        return None


Ends = Sequence[tuple[int, str]]
T = TypeVar("T")


def throughput(rounds: int) -> Iterator[Figure | Skipped]:
    """Yield the goodput of one TCP stream over two machines, for each MTU between them."""
    if (reason := _impossible()) is not None:
        yield skipped("TCP goodput between two machines against one", reason)
        return
    alone: list[float] = []
    together: dict[int, list[float]] = {mtu: [] for mtu in MTUS}
    lost: dict[int, int] = dict.fromkeys(MTUS, 0)
    spec = plain_fabric(delay_ns=DELAY_NS, buffer_bytes=BUFFER_BYTES, socket_buffer_bytes=BUFFER_BYTES)
    spec = spec.with_changes(wait="sleep")
    for _ in range(rounds):
        alone.append(over_fabric(stream(), goodput, spec)[0])
        for mtu in MTUS:
            with joined_by_veth(mtu) as ends, two_machines(ends) as (machines, work):
                rate, measurement = over_machines(machines, work, stream(), goodput, spec)
            together[mtu].append(rate)
            lost[mtu] += sum(way.lost for way in one_ways(measurement))
    for mtu, rates in together.items():
        yield figure(
            f"TCP goodput between two machines against one, MTU {mtu}",
            "ratio",
            [two / one for two, one in zip(rates, alone, strict=True)],
            f"at least {TARGET}",
            one_gbps=[round(rate / 1e9, 2) for rate in alone],
            two_gbps=[round(rate / 1e9, 2) for rate in rates],
            lost_datagrams=lost[mtu],
            load_average=_load(),
        )


def delay(rounds: int) -> Iterator[Figure | Skipped]:
    """Yield delays of single packets between two machines, whose network has jitter, and on one machine."""
    name = "delay of {} ms {} at 1 kpps, beyond it, p{:g}"
    if (reason := _impossible()) is not None:
        yield skipped(name.format(2 * DELAY_NS / 1e6, "between two machines", 50), reason)
        return
    spec = plain_fabric(delay_ns=DELAY_NS).with_changes(wait="sleep")
    task = probe_task(RATE_PER_S, COUNT)
    beyond_us: dict[str, list[NDArray[np.float64]]] = {"on one machine": [], "between two machines": []}

    def beyond(folder: Path) -> NDArray[np.float64]:
        return (read_probes(folder / FILE, COUNT).delay_ns - 2 * DELAY_NS) / 1e3

    bounds_us = []
    with joined_by_crosswind() as ends, two_machines(ends) as (machines, work):
        # The clocks' estimates get better for half a minute.
        time.sleep(30)
        for _ in range(rounds):
            beyond_us["on one machine"].append(over_fabric(task, beyond, spec)[0])
            came, measurement = over_machines(machines, work, task, beyond, spec)
            beyond_us["between two machines"].append(came)
            bounds_us.append(clock_bound_ns(measurement) / 1e3)
    for where, each in beyond_us.items():
        for p in (0.5, 0.99):
            values = [float(np.quantile(one, p)) for one in each]
            yield figure(
                name.format(2 * DELAY_NS / 1e6, where, p * 100), "us", values, None, load_average=_load()
            )
    yield figure("bound of the clocks between two machines", "us", bounds_us, None)


@contextmanager
def joined_by_veth(mtu: int) -> Iterator[Ends]:
    """Give a process in each of two network namespaces, and its address; a veth pair joins them."""
    with BarePair() as pair:
        for end in range(len(ADDRESSES)):
            pair.run(end, ["ip", "link", "set", "eth0", "mtu", str(mtu)])
        yield list(zip(pair.pids, ADDRESSES, strict=True))


@contextmanager
def joined_by_crosswind() -> Iterator[Ends]:
    """As with a veth pair; 0.2 ms +- 0.1 ms are between them each way."""
    topology = {
        "hosts": 2,
        "uplink": {"rate": "10Gbit/s", "buffer": "4MiB"},
        "nodes": {"one": "h0", "other": "h1"},
        "wait": "sleep",
    }
    underlay = {"host.egress": [{"delay": {"time": "200us", "jitter": "100us"}}]}
    with crosswind.Fabric(topology, conditions=[{"underlay": underlay}]) as net:
        yield [(node.pid, node.address) for node in net.nodes.values()]


@contextmanager
def two_machines(ends: Ends) -> Iterator[tuple[Machines, WorkFolder]]:
    """Start an agent at each end, each with half of the CPUs."""
    cpus = sorted(os.sched_getaffinity(0))
    halves = (cpus[: len(cpus) // 2], cpus[len(cpus) // 2 :])
    places = []
    for number, ((pid, address), half) in enumerate(zip(ends, halves, strict=True)):
        agent = InNamespace(pid, ",".join(map(str, half)), f"agent on m{number}")
        places.append(MachineAt(f"m{number}", agent, address))
    with WorkFolder() as work, Machines(places, work) as machines:
        work.path.chmod(0o777)  # The agents run processes under an unprivileged account.
        yield machines, work


def over_machines(
    machines: Machines, work: WorkFolder, task: Task, collect: Callable[[Path], T], spec: FabricSpec
) -> tuple[T, Measurement]:
    """Run a task between two nodes, one on each machine, as `over_fabric` does on one."""
    first, second = spec.hosts
    divided = spec.with_changes(domains=[[first, *spec.switches], [second]])
    with ClusterFabric(machines, divided, work.path / "logs") as fabric:
        fabric.measure()
        sender, receiver = (node.name for node in spec.nodes)
        run_tasks([task], fabric, [sender], receiver, work.path)
        return collect(work.path), fabric.read()


def _impossible() -> str | None:
    if len(os.sched_getaffinity(0)) < len(ADDRESSES):
        return "each machine needs a CPU of its own"
    return bare_impossible()


def _load() -> list[float]:
    return [round(value, 1) for value in os.getloadavg()]
