"""HPCC as an application: an MPI program on the nodes rank0, rank1 and so on."""

from collections.abc import Collection, Iterator
from pathlib import Path

from crosswind.app.base import Application, Load, LoadOutcome, Stage
from crosswind.app.demand import Demand
from crosswind.app.hpcc.input_file import input_file
from crosswind.app.hpcc.measured import STATISTIC, facts_of, metrics_of
from crosswind.app.hpcc.open_mpi import MpiRun
from crosswind.app.hpcc.output_file import check_asked, read_report
from crosswind.app.hpcc.parameters import HpccParameters, Misfit, misfits
from crosswind.app.numbered import first_missing, numbered
from crosswind.app.requirements import DebianPackages
from crosswind.app.written import Facts
from crosswind.spec.declared import FaultNodes, Figure
from crosswind.testbed.errors import TestbedError
from crosswind.testbed.fabric import Process

NS_PER_S = 1_000_000_000
ROLE = "rank"
# On a single node, HPCC would not use the network.
LEAST_NODES = 2
PACKAGES = DebianPackages("hpcc", packages=("openmpi-bin", "hpcc"), programs=("orterun", "orted", "hpcc"))


class HpccFacts(Facts):
    """The facts of a trial.

    Attributes:
        summary: of HPCC, with numbers as numbers.
        sections_s: how long each test took, whole s.
    """

    summary: dict[str, int | float | str]
    sections_s: dict[str, int]


class HpccLoad(Load):
    """A run of HPCC, all of which is measured; its start takes a fraction of a second."""

    def __init__(self, process: Process, folder: Path, parameters: HpccParameters, nodes: int) -> None:
        self.process = process
        self.longest_s = parameters.longest_ns / NS_PER_S
        self._output = folder / "hpccoutf.txt"
        self._parameters = parameters
        self._nodes = nodes

    def await_measured_phase(self) -> None:
        pass

    def outcome(self) -> LoadOutcome:
        try:
            text = self.process.wrote(self._output).read_text(errors="replace")
        except FileNotFoundError:
            raise TestbedError(
                f"{self.process}: wrote no hpccoutf.txt; {self.process.last_words()}"
            ) from None
        report, asked = read_report(text), self._parameters
        check_asked(
            report.summary,
            n=asked.n,
            nb=asked.nb,
            grid=asked.grid_on(self._nodes),
            ranks=asked.ranks(self._nodes),
        )
        facts = HpccFacts(
            tool="hpcc",
            parameters=asked.model_dump(mode="json"),
            summary=facts_of(report.summary),
            sections_s=report.sections_s,
        )
        return LoadOutcome(None, metrics_of(report.summary), facts)

    def first_error(self) -> str | None:
        # mpirun prints it between two lines of dashes.
        lines = self.process.complained().splitlines()
        words = [line.strip() for line in lines if line.strip("- ")]
        return " ".join(words[-6:]) or None


class Hpcc(Application):
    """`hpcc` on the nodes rank0 (with `mpirun`), rank1, rank2 and so on, as many as the topology has."""

    name = "hpcc"
    summary = "the HPC Challenge benchmarks over MPI: HPL, PTRANS, RandomAccess, FFT, b_eff, DGEMM, STREAM"
    Parameters = HpccParameters
    requirements = (PACKAGES,)
    set_up_s = 1.0
    parameters: HpccParameters

    def figures(self) -> tuple[Figure, ...]:
        return (
            Figure("HPL", STATISTIC, "flop/s", "HPL", "higher"),
            Figure("PTRANS", STATISTIC, "B/s", "PTRANS", "higher"),
            Figure("MPIRandomAccess", STATISTIC, "1/s", "RandomAccess", "higher"),
            Figure("MPIFFT", STATISTIC, "flop/s", "FFT", "higher"),
            Figure("AvgPingPongLatency", STATISTIC, "ns", "ping-pong latency", "lower"),
            Figure("AvgPingPongBandwidth", STATISTIC, "B/s", "ping-pong bandwidth", "higher"),
            Figure("NaturallyOrderedRingBandwidth", STATISTIC, "B/s", "ring bandwidth", "higher"),
            Figure("RandomlyOrderedRingBandwidth", STATISTIC, "B/s", "random ring bandwidth", "higher"),
            Figure("RandomlyOrderedRingLatency", STATISTIC, "ns", "random ring latency", "lower"),
            # It does not use the network: if it differs between conditions, the CPUs did.
            Figure("SingleDGEMM", STATISTIC, "flop/s", "DGEMM (CPU)", "higher"),
        )

    @classmethod
    def roles_missing(cls, nodes: Collection[str]) -> list[str]:
        return first_missing(ROLE, nodes, LEAST_NODES)

    @classmethod
    def faults_on(cls, parameters: HpccParameters, nodes: Collection[str]) -> FaultNodes:
        # The first rank prints the results.
        return FaultNodes(measuring=frozenset(numbered(ROLE, nodes)[:1]))

    @classmethod
    def misfits(cls, parameters: HpccParameters, nodes: Collection[str]) -> Iterator[Misfit]:
        yield from misfits(parameters, len(numbered(ROLE, nodes)))

    def demand(self, nodes: Collection[str]) -> Demand:
        return Demand(
            memory_bytes=self.parameters.memory_bytes, remedy="write a smaller n, below sqrt(bytes / 8)"
        )

    def start(self, stage: Stage) -> None:
        nodes = numbered(ROLE, stage.fabric.nodes)
        asked = self.parameters
        text = input_file(asked.n, asked.nb, asked.grid_on(len(nodes)))
        (stage.folder / "hpccinf.txt").write_text(text)
        self._run = MpiRun(stage, PACKAGES, nodes, asked.ranks_per_node)

    def load(self, stage: Stage) -> Load:
        process = self._run.start(PACKAGES.program("hpcc").path)
        return HpccLoad(process, stage.folder, self.parameters, len(numbered(ROLE, stage.fabric.nodes)))

    def stop(self, stage: Stage) -> None:
        self._run.stop()
