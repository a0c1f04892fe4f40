"""Start `crosswind-load` in a node, the way every application here does."""

import time
from collections.abc import Sequence

from crosswind.app.base import Loaded, Stage
from crosswind.testbed.binaries import LOAD, find_binary
from crosswind.testbed.errors import TestbedError
from crosswind.testbed.fabric import Process

NS_PER_S = 1_000_000_000
READY_S = 10.0


def offer_load(
    stage: Stage, node: str, arguments: Sequence[str], *, warm_up_ns: int, duration_ns: int | None
) -> Loaded:
    """Start a load on a node and return at once.

    Args:
        arguments: what follows `crosswind-load`, less the warm-up, duration, seed and files.
        warm_up_ns: length of the phase whose operations are not measured.
        duration_ns: longest length of the measured phase; None where the number of operations ends it.
    """
    samples, summary = stage.folder / "samples.csv", stage.folder / "summary.json"
    command = [
        str(find_binary(LOAD)),
        *arguments,
        *("--warm-up", seconds(warm_up_ns)),
        *(("--duration", seconds(duration_ns)) if duration_ns is not None else ()),
        *("--seed", str(stage.seed)),
        *("--samples", str(samples)),
        *("--summary", str(summary)),
    ]
    process = stage.fabric.start(node, "load", command, cwd=stage.folder)
    duration_s = None if duration_ns is None else duration_ns / NS_PER_S
    return Loaded(process, samples, summary, warm_up_ns / NS_PER_S, duration_s)


def seconds(ns: int) -> str:
    """Return nanoseconds as decimal seconds, exactly."""
    return f"{ns // NS_PER_S}.{ns % NS_PER_S:09d}"


def await_listening(server: Process) -> None:
    """Wait until a receiving `crosswind-load` says that it listens.

    Raises: TestbedError: it ended, or said nothing within `READY_S`.
    """
    deadline = time.monotonic() + READY_S
    while "listening" not in server.stdout.read_text(errors="replace"):
        if server.ended is not None or time.monotonic() > deadline:
            state = "still silent" if server.ended is None else str(server.ended)
            raise TestbedError(
                f"{server}: not listening after {READY_S:g} s ({state}); {server.last_words()}"
            )
        time.sleep(0.005)
