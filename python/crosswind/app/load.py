"""Start `crosswind-load` in a node, and read its result."""

import time
from collections.abc import Sequence
from pathlib import Path

from crosswind.app.base import Load, LoadOutcome, Stage
from crosswind.app.load_summary import LoadSummary
from crosswind.spec.declared import Figure
from crosswind.testbed.binaries import LOAD, find_binary
from crosswind.testbed.errors import TestbedError
from crosswind.testbed.fabric import Process

NS_PER_S = 1_000_000_000
READY_S = 10.0
# The measurement window of the network opens this long before the measured phase, which begins at least one
# warm-up after the start of the load. A busy machine may take tens of milliseconds to open the window, and
# operations whose packets are missing are worse than packets without an operation.
WINDOW_LEAD_S = 0.1
# After the measured phase, the load generator waits at most 30 s for operations in flight, then writes files.
TAIL_S = 60.0
# Shortest time limit of a load that ends after a number of operations.
UNBOUNDED_S = 3600.0
# Under faults, an operation without an answer fails after this time: long against a retransmission timeout
# that has doubled a few times, short against a fault.
OUTLIVE_NS = 5 * NS_PER_S
# Mean time of an operation if one in ten waits for a retransmission timeout of 200 ms.
SLOW_OPERATION_S = 0.02


def latency_figures(rate: float | None) -> tuple[Figure, ...]:
    """Return the figures of a load that records single operations; `rate` is None in a closed loop."""
    metric = "latency" if rate is None else "response"
    return (
        Figure(metric, "p99", "ns", "P99", "lower"),
        Figure(metric, "p50", "ns", "P50", "lower"),
        Figure("throughput", "mean", "1/s", "throughput", "higher"),
    )


class OperationsLoad(Load):
    """A `crosswind-load` that records every operation."""

    def __init__(
        self,
        process: Process,
        samples: Path,
        summary: Path,
        warm_up_s: float,
        measured_s: float,
        lead_s: float = WINDOW_LEAD_S,
        live: Path | None = None,
    ):
        self.process = process
        self.live = live
        self.longest_s = warm_up_s + measured_s + TAIL_S
        self._samples = samples
        self._summary = summary
        self._until_window_s = max(0.0, warm_up_s - lead_s)

    def await_measured_phase(self) -> None:
        self.process.wait(self._until_window_s)

    def outcome(self) -> LoadOutcome:
        return LoadOutcome(self.process.wrote(self._samples), (), self.summary())

    def first_error(self) -> str | None:
        try:
            return self.summary().first_error
        except (FileNotFoundError, ValueError):
            return None  # The load was killed before it had written its summary.

    def summary(self) -> LoadSummary:
        """Return what the load wrote at its end."""
        return LoadSummary.model_validate_json(self.process.wrote(self._summary).read_bytes())


def offer_load(
    stage: Stage,
    node: str,
    arguments: Sequence[str],
    *,
    warm_up_ns: int,
    duration_ns: int | None,
    operations: int | None = None,
    outlive_ns: int | None = None,
) -> OperationsLoad:
    """Start a load on a node and return at once.

    Args:
        arguments: of `crosswind-load`, without those for warm-up, duration, seed and files.
        warm_up_ns: length of the phase whose operations are not measured.
        duration_ns: longest length of the measured phase; None if only the number of operations ends it.
        operations: that number; `arguments` has it as well.
        outlive_ns: longest operation of a load that outlives its server, whose operations may fail; None if
            it ends with its server, unless the condition has faults.
    """
    samples, summary = stage.folder / "samples.csv", stage.folder / "summary.json"
    live = stage.folder / "live.jsonl" if stage.is_watched else None
    longest_ns = OUTLIVE_NS if outlive_ns is None and stage.has_faults else outlive_ns
    command = [
        str(find_binary(LOAD)),
        *arguments,
        *("--warm-up", seconds(warm_up_ns)),
        *(("--duration", seconds(duration_ns)) if duration_ns is not None else ()),
        *("--seed", str(stage.seed)),
        *("--samples", str(samples)),
        *("--summary", str(summary)),
        *(("--live", str(live)) if live is not None else ()),
        *(("--outlive", seconds(longest_ns), "--error-share-max", "1") if longest_ns is not None else ()),
    ]
    process = stage.fabric.start(node, "load", command, cwd=stage.folder)
    measured_s = longest_measured_s(duration_ns, operations)
    lead_s = WINDOW_LEAD_S + stage.fabric.measure_takes_s
    return OperationsLoad(process, samples, summary, warm_up_ns / NS_PER_S, measured_s, lead_s, live)


def longest_measured_s(duration_ns: int | None, operations: int | None) -> float:
    """Return the time limit of a measured phase, s; a load that takes longer counts as hanging."""
    if duration_ns is not None:
        return duration_ns / NS_PER_S
    return max(UNBOUNDED_S, (operations or 0) * SLOW_OPERATION_S)


def seconds(ns: int) -> str:
    """Return nanoseconds as decimal seconds, exactly."""
    return f"{ns // NS_PER_S}.{ns % NS_PER_S:09d}"


def await_listening(server: Process, words: str = "listening") -> None:
    """Wait until a server prints that it listens, on its standard output or error.

    Args:
        words: the text that it prints.
    Raises: TestbedError: it ended, or did not print it within `READY_S`.
    """
    deadline = server.now_s() + READY_S
    while words not in server.printed() and words not in server.complained():
        if server.ended is not None or server.now_s() > deadline:
            state = "no such output" if server.ended is None else str(server.ended)
            raise TestbedError(
                f"{server}: not listening after {READY_S:g} s ({state}); {server.last_words()}"
            )
        time.sleep(0.005)
