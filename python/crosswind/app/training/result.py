"""The results of the workers of a training as metrics of the trial, or the reason to reject them."""

import csv
import io
import math
from collections.abc import Sequence
from typing import NamedTuple

from pydantic import ValidationError

from crosswind.app.training.parameters import TrainingParameters
from crosswind.app.written import WrittenPart
from crosswind.results.rows import Metric
from crosswind.testbed.errors import TestbedError

NS_PER_S = 1_000_000_000
# The final loss is the mean over this share of all steps, so that no single batch decides.
_LAST_SHARE = 0.1


class TrainingStep(NamedTuple):
    """One step of a worker: its instants on CLOCK_MONOTONIC, and the loss on its own batch."""

    started_ns: int
    finished_ns: int
    loss: float


class Worker(WrittenPart):
    """The result of one worker.

    Attributes:
        torch: the version of PyTorch.
        parameters: of the network: their number.
        steps: all of them, the warm-up's included.
        received_bytes, sent_bytes: through the interface of its node, in the measured steps.
        cpu_ns: CPU time of its process, in the measured steps.
        weights_sha256: of the trained network.
    """

    rank: int
    torch: str
    parameters: int
    steps: tuple[TrainingStep, ...]
    received_bytes: int
    sent_bytes: int
    cpu_ns: int
    weights_sha256: str


def read_worker(text: str) -> Worker:
    """Return the result of a worker from its file.

    Raises: TestbedError: the file ends early, or is something else.
    """
    try:
        return Worker.model_validate_json(text)
    except ValidationError as error:
        raise TestbedError(f"training: the result of a worker cannot be read: {error}") from error


def check(workers: Sequence[Worker], asked: TrainingParameters) -> None:
    """Check that the workers trained one network together.

    Raises: TestbedError: they did not; the message has the evidence.
    """
    for worker in workers:
        name = f"worker{worker.rank}"
        if len(worker.steps) != asked.warm_up_steps + asked.steps:
            raise TestbedError(
                f"{name}: made {len(worker.steps)} steps of {asked.warm_up_steps} + {asked.steps}"
            )
        if worker.parameters != asked.model_parameters:
            raise TestbedError(
                f"{name}: trained {worker.parameters} parameters; "
                f"a width of {asked.width} has {asked.model_parameters}"
            )
        sent, least = worker.sent_bytes / asked.steps, asked.least_sent_bytes(len(workers))
        if sent < least:
            raise TestbedError(
                f"{name}: sent {sent:.0f} bytes in a step; its share of the gradients is {least:.0f}; "
                "the workers did not train together"
            )
    if len({worker.weights_sha256 for worker in workers}) != 1:
        raise TestbedError("training: the workers ended with different networks")
    first, last = first_loss(workers), last_loss(workers)
    if not (math.isfinite(last) and last < first):
        raise TestbedError(
            f"training: the loss went from {first:.4g} to {last:.4g}; nothing was learned in "
            f"{asked.warm_up_steps} + {asked.steps} steps"
        )


def first_loss(workers: Sequence[Worker]) -> float:
    """Return the mean loss of the first step over all workers."""
    return sum(worker.steps[0].loss for worker in workers) / len(workers)


def last_loss(workers: Sequence[Worker]) -> float:
    """Return the mean loss of the last tenth of all steps over all workers."""
    count = math.ceil(_LAST_SHARE * len(workers[0].steps))
    losses = [step.loss for worker in workers for step in worker.steps[-count:]]
    return sum(losses) / len(losses)


def operations_csv(worker: Worker, asked: TrainingParameters) -> str:
    """Return a worker's steps as operations (docs/reference/contracts.md, section 4)."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(("operation", "connection", "intended_ns", "started_ns", "finished_ns", "ok", "measured"))
    for number, step in enumerate(worker.steps):
        measured = int(number >= asked.warm_up_steps)
        rows.writerow(("step", worker.rank, step.started_ns, step.started_ns, step.finished_ns, 1, measured))
    return text.getvalue()


def metrics_of(workers: Sequence[Worker], asked: TrainingParameters) -> tuple[Metric, ...]:
    """Return the metrics of the trial, except those of single steps."""
    measured = workers[0].steps[asked.warm_up_steps :]
    training_ns = measured[-1].finished_ns - measured[0].started_ns
    samples = asked.steps * asked.batch * len(workers)
    whole = (
        Metric(None, "training.time", "ns", "value", training_ns),
        Metric(None, "training.samples", "1/s", "mean", samples / training_ns * NS_PER_S),
        Metric(None, "model.parameters", "count", "value", asked.model_parameters),
        Metric(None, "gradient.size", "B", "value", asked.gradient_bytes),
        Metric(None, "loss", "1", "first", first_loss(workers)),
        Metric(None, "loss", "1", "last", last_loss(workers)),
    )
    by_worker = tuple(
        metric
        for worker in workers
        for metric in (
            Metric(f"worker{worker.rank}", "step.sent", "B", "mean", worker.sent_bytes / asked.steps),
            Metric(f"worker{worker.rank}", "step.received", "B", "mean", worker.received_bytes / asked.steps),
            Metric(f"worker{worker.rank}", "step.cpu", "ns", "mean", worker.cpu_ns / asked.steps),
        )
    )
    return (*whole, *by_worker)
