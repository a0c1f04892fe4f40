"""Write a results folder of an experiment whose conditions have faults: trials of 20 s in a closed loop.

Four connections send an operation of about 2 ms after the other. While the server is cut off, paused or down
they wait or fail, and afterwards they take a second to be as fast as before.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np

from synthetic import _write_columns, _write_table, write_folder

S, MS = 10**9, 10**6
BEGIN = 1_000_000_000_000
LENGTH = 20 * S
# condition: (kind, its end, first and last second of the outage)
OUTAGES: dict[str, list[tuple[str, str, int, int]]] = {
    "icpe23/no-interference": [],
    "icpe23/interference": [("isolate", "heal", 5, 10)],
    "icpe23/token-bucket-on-switch": [("kill", "restart", 4, 7), ("pause", "resume", 12, 14)],
}


def write_faulty(folder: Path, blocks: int = 3) -> Path:
    """Write the folder and return it."""
    write_folder(folder, operations=50, blocks=blocks, conditions=len(OUTAGES))
    generator = np.random.default_rng(5)
    for file in sorted((folder / "monitors").glob("*.json")):
        condition = next(name for name in OUTAGES if file.stem.endswith(name.split("/")[1]))
        _fill(folder, file, OUTAGES[condition], generator)
    return folder


def _fill(
    folder: Path, file: Path, found: list[tuple[str, str, int, int]], generator: np.random.Generator
) -> None:
    trial = file.stem
    rows = [row for c in range(4) for row in _connection(c, found, generator)]
    connection, started, finished, ok = (np.array(column) for column in zip(*rows, strict=True))
    count = started.size
    columns: dict[str, Any] = {
        "trial": np.full(count, trial, dtype=object),
        "node": np.full(count, "client", dtype=object),
        "operation": np.full(count, "read", dtype=object),
        "connection": connection,
        "intended_ns": started,
        "started_ns": started,
        "finished_ns": finished,
        "ok": ok.astype(bool),
        "measured": np.ones(count, dtype=bool),
    }
    _write_columns(folder / "samples" / f"{trial}.parquet", columns)
    packet = ("db0/cut", "partitioned", "10.77.0.4:40001", "10.77.0.1:5432", "tcp", 152, 100, 1, 24)
    drops = [
        (BEGIN + begin * S + 210 * MS * number, *packet)
        for kind, _, begin, _ in found
        if kind == "isolate"
        for number in range(1, 20)
    ]
    _write_table(
        folder / "monitors" / f"{trial}.drops.parquet",
        "at_ns bigint, element varchar, reason varchar, src varchar, dst varchar, protocol varchar, "
        "ip_bytes int, payload_bytes int, tcp_seq bigint, tcp_flags int",
        drops,
    )
    measurement = json.loads(file.read_text())
    measurement["window"] |= {"started_ns": BEGIN, "ended_ns": BEGIN + LENGTH}
    if found:
        measurement["faults"] = [
            {
                "due_ns": BEGIN + at * S,
                "done_ns": BEGIN + at * S + 40_000,
                "kind": word,
                "words": "heal" if word == "heal" else f"{word} db0",
                "nodes": ["db0"],
                "by": "timeline",
                "error": None,
            }
            for kind, ends, begin, end in found
            for word, at in ((kind, begin), (ends, end))
        ]
    file.write_text(json.dumps(measurement))


def _connection(
    number: int, found: list[tuple[str, str, int, int]], generator: np.random.Generator
) -> list[tuple[int, int, int, int]]:
    rows, at = [], 0
    while at < LENGTH:
        took = int(2 * MS * generator.lognormal(0, 0.25))
        outage = next(((k, b * S, e * S) for k, _, b, e in found if b * S <= at < (e + 1) * S), None)
        good = 1
        if outage is not None:
            kind, _, end = outage
            if at >= end:  # It takes a second to be as fast as before.
                took *= 4 - int(3 * (at - end) / S)
            elif kind == "kill":
                took, good = 50 * MS, 0
            else:
                took = end - at + int(generator.uniform(1, 200)) * MS
        if at + took >= LENGTH:
            break
        rows.append((number, BEGIN + at, BEGIN + at + took, good))
        at += took
    return rows
