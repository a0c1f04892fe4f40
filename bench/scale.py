"""Unit costs of an experiment on many machines, measured on this one.

`python -m bench.scale > units.json` measures them, in about three minutes; it needs root. Agents are
processes of this machine that carry one network together. `python -m bench.scale_table units.json` makes the
tables of docs/explanation/scale.md from them.

Costs that grow with the number of machines come from a line through those of 2, 4 and 8 machines.
"""

import importlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import linear_regression, median
from tempfile import TemporaryDirectory

import psutil

from crosswind.analysis.summarise import summarise
from crosswind.spec import FabricSpec, fabric_of, resolve
from crosswind.spec.load import parse_experiment
from crosswind.stream import Step
from crosswind.testbed import MachineAt, WorkFolder
from crosswind.testbed.cluster import ClusterFabric
from crosswind.testbed.machines import Machines
from crosswind.testbed.transport import LocalChild

MACHINES = (2, 4, 8)
HOSTS = 4  # of each machine, with a node each
WINDOW_S = 5.0
NETWORK = """
name: scale
topology:
  switches: [core, {racks}]
  hosts: {{{hosts}}}
  links: [{links}]
  uplink: {{rate: 1Gbit/s, delay: 10us, buffer: 512KiB}}
  nodes: {{{nodes}}}
  wait: sleep
conditions: [none]
application: {{rpc: {{duration: 2s}}}}
trials: {{repeat: 1, seed: 1}}
"""


@dataclass(frozen=True)
class Units:
    """What one more of something costs; `peer` is another machine, from the view of one.

    Attributes:
        agent_bytes, agent_peer_bytes: memory of an agent (PSS), and more for each peer.
        idle_cores, peer_cores: share of a core of an agent without traffic, and for each peer.
        peer_datagrams_per_s: that an agent sends to each peer to compare clocks; the peer sends as many.
        step_bytes, step_s: a step of the stream of one machine, and the controller's CPU time to read it.
        ssh_bytes, ssh_s: memory and CPU time of an ssh client at the controller, for one machine.
        controller_files: open files of the controller for each machine.
        peer_stored_bytes: of a trial's measurement, for each pair of machine and peer.
        machine_stored_bytes, trial_stored_bytes: of it without these pairs, for each machine and in any case.
        operation_stored_bytes: of the samples.
        trial_summary_s, operation_summary_s: CPU time of the summary of a run.
        clock_bound_us, clock_round_trip_us: of two agents over loopback after some seconds.
    """

    cores: int
    load_average: float
    agent_bytes: float
    agent_peer_bytes: float
    idle_cores: float
    peer_cores: float
    peer_datagrams_per_s: float
    step_bytes: float
    step_s: float
    ssh_bytes: float
    ssh_s: float
    controller_files: float
    peer_stored_bytes: float
    machine_stored_bytes: float
    trial_stored_bytes: float
    operation_stored_bytes: float
    trial_summary_s: float
    operation_summary_s: float
    clock_bound_us: float
    clock_round_trip_us: float


@dataclass(frozen=True)
class Together:
    """Some agents that carry one network: figures of the median agent."""

    machines: int
    files: int
    bytes: float
    cores: float
    datagrams_per_s: float
    step_bytes: float
    step_s: float
    peer_stored_bytes: float
    stored_bytes: float
    clock_bound_us: float
    clock_round_trip_us: float


def divided(racks: int) -> FabricSpec:
    """Return the network of one machine for each rack; the first has the switch in the middle, too."""
    names = [f"h{rack}x{host}" for rack in range(racks) for host in range(HOSTS)]
    nodes = ["server", "client", *(f"n{number}" for number in range(2, len(names)))]
    to_core = "rate: 10Gbit/s, delay: 5ms, buffer: 1MiB"
    text = NETWORK.format(
        racks=", ".join(f"r{rack}" for rack in range(racks)),
        hosts=", ".join(f"{name}: r{name[1:].split('x')[0]}" for name in names),
        links=", ".join(f"{{ends: [core, r{rack}], {to_core}}}" for rack in range(racks)),
        nodes=", ".join(f"{node}: {host}" for node, host in zip(nodes, names, strict=True)),
    )
    resolved = resolve(parse_experiment(text.encode(), "scale.yaml"))
    domains = [[f"r{rack}", *(f"h{rack}x{host}" for host in range(HOSTS))] for rack in range(racks)]
    domains[0].insert(0, "core")
    return fabric_of(resolved, "none").with_changes(domains=domains)


def tree(pid: int) -> list[psutil.Process]:
    """Return a process and all below it."""
    process = psutil.Process(pid)
    return [process, *process.children(recursive=True)]


def cpu_s(processes: Sequence[psutil.Process]) -> float:
    """Return the CPU time of processes so far."""
    return sum(sum(process.cpu_times()[:2]) for process in processes)


def agents_together(machines: int) -> Together:
    """Return what a number of agents cost that carry one network, without traffic of nodes."""
    places = [
        MachineAt(f"m{number}", LocalChild(f"agent {number}"), "127.0.0.1") for number in range(machines)
    ]
    steps: list[Step] = []
    with (
        TemporaryDirectory() as logs,
        WorkFolder() as work,
        Machines(places, work) as joined,
        ClusterFabric(joined, divided(machines), Path(logs)) as fabric,
    ):
        trees = [tree(agent.pid) for agent in joined.agents]
        files = psutil.Process().num_fds()
        fabric.watch(steps.append)
        fabric.measure()
        before = [cpu_s(each) for each in trees]
        time.sleep(WINDOW_S)
        cores = [(cpu_s(each) - was) / WINDOW_S for each, was in zip(trees, before, strict=True)]
        # Memory that processes share counts in parts.
        memory = [sum(process.memory_full_info().pss for process in each) for each in trees]
        measured = fabric.read()
        clock = joined.compare().others[0].estimate
    window_s = (measured.window.ended_ns - measured.window.started_ns) / 1e9
    peers = [peer for machine in measured.machines for _, peer in machine.peers(measured.machines)]
    peer_bytes = median(len(peer.model_dump_json()) for peer in peers)
    lines = [step.model_dump_json() for step in steps]
    began_s = time.process_time()
    for line in lines:
        Step.model_validate_json(line)
    return Together(
        machines=machines,
        files=files,
        bytes=median(memory),
        cores=median(cores),
        datagrams_per_s=median(peer.sent_datagrams / window_s for peer in peers),
        step_bytes=median(map(len, lines)),
        step_s=(time.process_time() - began_s) / len(lines),
        peer_stored_bytes=peer_bytes,
        # Without what is stored of pairs of machines.
        stored_bytes=len(measured.model_dump_json()) - peer_bytes * len(peers),
        clock_bound_us=(clock.bound_ns or 0) / 1e3,
        clock_round_trip_us=(clock.round_trip_ns or 0) / 1e3,
    )


@contextmanager
def ssh_client() -> Iterator[subprocess.Popen[bytes]]:
    """Give an ssh client that is connected to an sshd of this machine."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        for key in ("host", "user"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / key], check=True)
        (folder / "user.pub").rename(folder / "authorized")
        Path("/run/sshd").mkdir(exist_ok=True)
        options = ["StrictModes no", "UsePAM no", f"AuthorizedKeysFile {folder}/authorized", "PidFile none"]
        port = 22_000 + os.getpid() % 10_000
        listen = ["-p", str(port), "-o", "ListenAddress=127.0.0.1", "-h", str(folder / "host")]
        words = [word for option in options for word in ("-o", option.replace(" ", "=", 1))]
        server = subprocess.Popen(["/usr/sbin/sshd", "-D", "-f", "/dev/null", *listen, *words])
        known = [
            "-o",
            "StrictHostKeyChecking=no",
            "-o",
            f"UserKnownHostsFile={folder}/known",
            "-o",
            "LogLevel=ERROR",
        ]
        reach = ["-T", "-o", "BatchMode=yes", "-i", str(folder / "user"), *known, "-p", str(port)]
        try:
            time.sleep(2)
            pipe = subprocess.PIPE
            with subprocess.Popen(
                ["ssh", *reach, "root@127.0.0.1", "cat"], stdin=pipe, stdout=pipe
            ) as client:
                assert client.stdin is not None
                assert client.stdout is not None
                client.stdin.write(b"here\n")
                client.stdin.flush()
                assert client.stdout.readline() == b"here\n"
                yield client
                client.stdin.close()
        finally:
            server.terminate()
            server.wait()


@dataclass(frozen=True)
class Stored:
    """A written run: bytes of samples and CPU time of the summary, for each of its trials."""

    operations: int
    samples_bytes: float
    summary_s: float


def run_of(operations: int) -> Stored:
    """Return the figures of ten trials with a number of operations each, as tests of reports write them."""
    sys.path.append(str(Path(__file__).parents[1] / "tests" / "report"))
    write_folder = importlib.import_module("synthetic").write_folder
    with TemporaryDirectory() as name:
        folder = write_folder(Path(name) / "run", operations=operations, blocks=1)
        trials = len(list((folder / "samples").glob("*.parquet")))
        samples = sum(file.stat().st_size for file in (folder / "samples").glob("*.parquet"))
        began_s = time.process_time()
        summarise(folder)
        return Stored(operations, samples / trials, (time.process_time() - began_s) / trials)


def slope(points: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Return what one more costs and what none costs, by least squares; neither is below 0."""
    more, none = linear_regression([count for count, _ in points], [cost for _, cost in points])
    return max(0.0, more), max(0.0, none)


def measured() -> Units:
    """Measure all units."""
    many = [agents_together(machines) for machines in MACHINES]
    with ssh_client() as client:
        process = psutil.Process(client.pid)
        ssh_bytes, ssh_s = process.memory_full_info().pss, cpu_s([process])
    run_of(100)  # Imports are not counted.
    small, large = run_of(1_000), run_of(20_000)
    peer_bytes, agent_bytes = slope([(each.machines - 1, each.bytes) for each in many])
    peer_cores, idle_cores = slope([(each.machines - 1, each.cores) for each in many])
    files, _ = slope([(each.machines, each.files) for each in many])
    operation_bytes, _ = slope([(each.operations, each.samples_bytes) for each in (small, large)])
    operation_s, trial_s = slope([(each.operations, each.summary_s) for each in (small, large)])
    machine_bytes, trial_bytes = slope([(each.machines, each.stored_bytes) for each in many])
    last = many[-1]
    return Units(
        cores=os.cpu_count() or 1,
        load_average=round(os.getloadavg()[0], 1),
        agent_bytes=agent_bytes,
        agent_peer_bytes=peer_bytes,
        idle_cores=idle_cores,
        peer_cores=peer_cores,
        peer_datagrams_per_s=last.datagrams_per_s,
        step_bytes=last.step_bytes,
        step_s=last.step_s,
        ssh_bytes=ssh_bytes,
        ssh_s=ssh_s,
        controller_files=files,
        peer_stored_bytes=last.peer_stored_bytes,
        machine_stored_bytes=machine_bytes,
        trial_stored_bytes=trial_bytes,
        operation_stored_bytes=operation_bytes,
        trial_summary_s=trial_s,
        operation_summary_s=operation_s,
        clock_bound_us=last.clock_bound_us,
        clock_round_trip_us=last.clock_round_trip_us,
    )


if __name__ == "__main__":
    # Three digits, as the page shows them: its tables can be calculated from it again.
    print(json.dumps({name: float(f"{value:.3g}") for name, value in asdict(measured()).items()}, indent=2))
