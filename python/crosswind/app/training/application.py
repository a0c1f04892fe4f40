"""Training as an application: a process on each of the nodes worker0, worker1 and so on."""

import shutil
import signal
import time
from collections.abc import Collection, Sequence
from pathlib import Path

from crosswind.app.base import Application, Load, LoadOutcome, Missing, Stage
from crosswind.app.numbered import first_missing, numbered
from crosswind.app.requirements import DebianPackages
from crosswind.app.requirements.checksum import identity
from crosswind.app.training.parameters import TrainingParameters
from crosswind.app.training.result import check, metrics_of, operations_csv, read_worker
from crosswind.app.written import Facts
from crosswind.spec.declared import FaultNodes, Figure
from crosswind.testbed.agent import Ended
from crosswind.testbed.errors import TestbedError
from crosswind.testbed.fabric import Process

NS_PER_S = 1_000_000_000
ROLE = "worker"
LEAST_NODES = 2
PORT = 29500
READY_S = 120.0
# Interval at which the output of a worker is read.
LOOK_S = 0.005
# The measured steps begin this long after the warm-up, when the measurement window is certainly open.
PAUSE_S = 0.2
# Workers end together; the last one may still write its file when the first one has ended.
END_S = 5.0
PROGRAM = Path(__file__).with_name("worker.py")
# Debian's PyTorch is built for CPUs; that of PyPI needs gigabytes of GPU libraries.
TORCH = DebianPackages(
    "torch", packages=("python3-torch",), files=("usr/lib/python3/dist-packages/torch/__init__.py",)
)
# The only interpreter that works with those packages.
PYTHON = Path("/usr/bin/python3")


class TrainingFacts(Facts):
    """The facts of a trial.

    Attributes:
        workers: how many trained together.
        weights_sha256: of the trained network.
        losses: of worker0, for each step, the warm-up's included.
    """

    workers: int
    weights_sha256: str
    losses: list[float]


class TrainingLoad(Load):
    """The steps of all workers; the load ends when worker0 ends."""

    def __init__(self, workers: Sequence[Process], folder: Path, parameters: TrainingParameters) -> None:
        self.process = workers[0]
        self.longest_s = parameters.longest_ns / NS_PER_S
        self._workers = workers
        self._folder = folder
        self._parameters = parameters

    def await_measured_phase(self) -> None:
        await_word(self.process, "warm", self.longest_s)

    def outcome(self) -> LoadOutcome:
        for process in self._workers:
            ended = process.wait(END_S)
            if ended != Ended(0, None):
                raise TestbedError(f"{process}: {ended or 'still running'}; {process.last_words()}")
        asked = self._parameters
        workers = [
            read_worker(process.wrote(_result(self._folder, rank)).read_text())
            for rank, process in enumerate(self._workers)
        ]
        check(workers, asked)
        operations = self._folder / "steps.csv"
        operations.write_text(operations_csv(workers[0], asked))
        facts = TrainingFacts(
            tool="torch",
            version=workers[0].torch,
            parameters=asked.model_dump(mode="json"),
            workers=len(workers),
            weights_sha256=workers[0].weights_sha256,
            losses=[step.loss for step in workers[0].steps],
        )
        return LoadOutcome(operations, metrics_of(workers, asked), facts)


class Training(Application):
    """Data-parallel training with PyTorch over gloo, on the nodes worker0, worker1 and so on."""

    name = "training"
    summary = "synchronous training of a small neural network on several workers (PyTorch, gloo)"
    Parameters = TrainingParameters
    requirements = (TORCH,)
    # Mostly for importing PyTorch.
    set_up_s = 8.0
    parameters: TrainingParameters

    def figures(self) -> tuple[Figure, ...]:
        return (
            Figure("latency", "p50", "ns", "step P50", "lower"),
            Figure("latency", "p99", "ns", "step P99", "lower"),
            Figure("training.samples", "mean", "1/s", "samples", "higher"),
            Figure("training.time", "value", "ns", "training time", "lower"),
            Figure("step.sent", "mean", "B", "sent in a step", "lower"),
        )

    @classmethod
    def roles_missing(cls, nodes: Collection[str]) -> list[str]:
        return first_missing(ROLE, nodes, LEAST_NODES)

    @classmethod
    def faults_on(cls, parameters: TrainingParameters, nodes: Collection[str]) -> FaultNodes:
        # Each worker times its own steps.
        return FaultNodes(measuring=frozenset(numbered(ROLE, nodes)))

    def own_missing(self) -> list[Missing]:
        if PYTHON.exists():
            return []
        return [Missing(f"{PYTHON}: PyTorch's packages need it", "install it with: apt-get install python3")]

    def own_versions(self) -> dict[str, str]:
        return {str(PYTHON): identity(PYTHON.resolve())}

    def start(self, stage: Stage) -> None:
        nodes = numbered(ROLE, stage.fabric.nodes)
        # Another machine gets it with the trial's files.
        shutil.copy(PROGRAM, stage.folder)
        self._workers: list[Process] = []
        for rank, node in enumerate(nodes):
            self._workers.append(self._worker(stage, node, rank, nodes))
        deadline = stage.fabric.now_s() + READY_S
        for worker in self._workers:
            if not await_word(worker, "ready", deadline - worker.now_s()):
                failed, ended = self._first_failure() or (worker, worker.ended)
                raise TestbedError(f"{failed}: ended before it was ready ({ended}); {failed.last_words()}")

    def load(self, stage: Stage) -> Load:
        self._workers[0].signal(signal.SIGUSR1)
        return TrainingLoad(self._workers, stage.folder, self.parameters)

    def stop(self, stage: Stage) -> None:
        failure = self._first_failure()
        # A clean end would store nothing.
        stage.fabric.stop(self._workers, grace_s=0)
        # The runner has already reported a failure of worker0, whose end is that of the load.
        if failure is not None and failure[0] is not self._workers[0]:
            failed, ended = failure
            raise TestbedError(f"{failed}: {ended}; {failed.last_words()}")

    def _worker(self, stage: Stage, node: str, rank: int, nodes: Sequence[str]) -> Process:
        asked = self.parameters
        command = [
            PYTHON,
            stage.folder / PROGRAM.name,
            *("--rank", rank),
            *("--workers", len(nodes)),
            *("--master", stage.fabric.nodes[nodes[0]].address),
            *("--port", PORT),
            *("--width", asked.width),
            *("--batch", asked.batch),
            *("--steps", asked.steps),
            *("--warm-up-steps", asked.warm_up_steps),
            *("--seed", stage.seed),
            *("--pause", PAUSE_S),
            *("--result", _result(stage.folder, rank)),
        ]
        env = {
            **TORCH.env,
            "PYTHONPATH": str(TORCH.root / "usr/lib/python3/dist-packages"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "GLOO_SOCKET_IFNAME": "eth0",
            # One thread for each worker: more threads than cores would wait for each other.
            "OMP_NUM_THREADS": "1",
        }
        return stage.fabric.start(node, "worker", command, cwd=stage.folder, env=env)

    def _first_failure(self) -> tuple[Process, Ended] | None:
        """Return the worker that failed first, and how it ended: the others end because of it."""
        failed = [
            (worker, ended)
            for worker in self._workers
            if (ended := worker.ended) is not None and ended != Ended(0, None)
        ]
        return min(failed, key=lambda found: found[1].at_ns or 0, default=None)


def await_word(worker: Process, word: str, timeout_s: float) -> bool:
    """Wait until a worker has printed a word; return False if it ended without it.

    Raises: TestbedError: it neither printed the word nor ended within `timeout_s`.
    """
    deadline = worker.now_s() + timeout_s
    while word not in worker.printed().split():
        if worker.ended is not None:
            return False
        if worker.now_s() > deadline:
            raise TestbedError(f'{worker}: not "{word}" after {timeout_s:g} s; {worker.last_words()}')
        time.sleep(LOOK_S)
    return True


def _result(folder: Path, rank: int) -> Path:
    return folder / f"worker{rank}.json"
