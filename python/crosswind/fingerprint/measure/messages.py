"""Measure round trips of small messages over one connection.

Messages are sent at a low constant rate, so that machine and network are otherwise idle, or one directly
after the other. At most one is under way: if the network is slower than the rate, the next message waits.
"""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass

from crosswind.fingerprint.measure.ends import MESSAGES_PORT, Ends, Running
from crosswind.testbed import TestbedError

REQUEST_BYTES, RESPONSE_BYTES = 64, 8
_REQUEST_BYTES_LEAST = 8
# `crosswind-load` gives up on an answer after 30 s.
_END_S = 60.0
# How many values of a sample are recorded: enough for its quantiles.
SAMPLES_MAX = 400


@dataclass(frozen=True)
class Messages:
    """The result of a series of messages.

    Attributes:
        round_trip_ns: of those that were answered, in the order in which they were sent.
        asked_ns: when these were sent, CLOCK_MONOTONIC of the near end.
        failed: messages without an answer.
    """

    round_trip_ns: list[int]
    asked_ns: list[int]
    failed: int

    def between(self, began_ns: int, ended_ns: int) -> Messages:
        """Return those that were sent between two instants; `failed` stays."""
        within = [
            (took_ns, at_ns)
            for took_ns, at_ns in zip(self.round_trip_ns, self.asked_ns, strict=True)
            if began_ns <= at_ns <= ended_ns
        ]
        return Messages([took_ns for took_ns, _ in within], [at_ns for _, at_ns in within], self.failed)

    def thinned(self, most: int = SAMPLES_MAX) -> list[int]:
        """Return at most `most` of the round-trip times, evenly chosen."""
        return self.round_trip_ns[:: max(1, -(-len(self.round_trip_ns) // most))]


def ask(
    ends: Ends, duration_s: float, rate_per_s: float | None = None, request_bytes: int = REQUEST_BYTES
) -> Messages:
    """Send messages to the far end for a while.

    Args:
        rate_per_s: messages per second; None sends each directly after the answer to the one before.
    Raises: TestbedError: nothing was answered, or the connection was lost.
    """
    command = [ends.near.load, "rpc", "--server", ends.far.at(MESSAGES_PORT)]
    pace = [] if rate_per_s is None else ["--rate", f"{rate_per_s:g}"]
    sizes = ["--request-bytes", max(request_bytes, _REQUEST_BYTES_LEAST), "--response-bytes", RESPONSE_BYTES]
    with serving_messages(ends), ends.near.folder() as folder:
        files = [*("--samples", f"{folder}/samples.csv"), *("--summary", f"{folder}/summary.json")]
        how_long = ["--duration", f"{duration_s:g}", "--warm-up", "0", "--connections", 1, "--seed", 1]
        ends.near.run([*command, *sizes, *pace, *how_long, *files], duration_s + _END_S)
        return read_messages(
            ends.near.read(f"{folder}/samples.csv"), ends.near.read(f"{folder}/summary.json")
        )


def serving_messages(ends: Ends) -> Running:
    """Return a server of messages at the far end, which runs during its block."""
    return _Server(ends.far, [ends.far.load, "rpc-serve", "--listen", ends.far.at(MESSAGES_PORT)])


class _Server(Running):
    def __enter__(self) -> _Server:
        super().__enter__()
        self.await_listening()
        return self


def read_messages(samples: bytes, summary: bytes) -> Messages:
    """Return the result of `crosswind-load rpc` (docs/reference/contracts.md, section 4)."""
    rows = [row for row in csv.DictReader(io.StringIO(samples.decode())) if row["measured"] == "1"]
    answered = [row for row in rows if row["ok"] == "1"]
    if not answered:
        why = json.loads(summary)["first_error"] or "nothing was sent"
        raise TestbedError(f"messages: not one was answered: {why}")
    return Messages(
        [int(row["finished_ns"]) - int(row["started_ns"]) for row in answered],
        [int(row["started_ns"]) for row in answered],
        len(rows) - len(answered),
    )
