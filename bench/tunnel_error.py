"""How exact packets arrive at another machine: held until they are due, or with a constant subtracted.

Two network namespaces stand for two machines, and Crosswind's own emulator for the network between them:
0.2 ms +- 0.1 ms each way. `crates/tunnel/examples/error.rs` sends 1,000 packets a second over both kinds of
tunnel in turn, and a control without a network. Both ends read one clock, so errors are known exactly.

`python -m bench.tunnel_error OUT.svg` prints the figures and draws all of it.
"""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import duckdb
import numpy as np

from bench.figures import Figure, Skipped, figure, skipped
from bench.tails import Lateness, Panel, drawn
from bench.two_machines import joined_by_crosswind

ROUNDS = 6
TURN_S = 5
KINDS = {"one way": "one way of 5 ms", "round trip": "round trip of 10 ms"}
WAYS = {
    "control": "no network",
    "deadline": "held until due",
    "constant": "a constant subtracted",
}
WANTED = {("one way", 0.5): 2, ("one way", 0.99): 25, ("round trip", 0.5): 2}
_ROOT = Path(__file__).parents[1]

# Errors and bounds of clocks in us, a round each; by kind and by way.
Errors = dict[tuple[str, str], list[tuple[Lateness, Lateness]]]


def measured(rounds: int) -> Errors:
    """Return how far packets were from their instants; both directions count."""
    with (
        joined_by_crosswind() as ends,
        tempfile.TemporaryDirectory() as folder,
    ):
        words = [word for pid, address in ends for word in (str(pid), address)]
        command = ["cargo", "run", "--release", "--quiet", "-p", "crosswind-tunnel", "--example", "error"]
        rows = Path(folder) / "rows.csv"
        with rows.open("wb") as out:
            subprocess.run(
                [*command, "--", *words, str(TURN_S), str(rounds)], cwd=_ROOT, check=True, stdout=out
            )
        return _read(rows, rounds)


def _read(rows: Path, rounds: int) -> Errors:
    """Return what the example printed, by turn: no packet is sent of this way between its turns."""
    found: Errors = {}
    for kind, way in itertools.product(KINDS, WAYS):
        select = f"SELECT number, error_ns, bound_ns FROM '{rows}' WHERE kind = ? AND way = ? ORDER BY number"
        table = duckdb.execute(select, [kind, way]).fetchnumpy()
        breaks = np.flatnonzero(np.diff(table["number"]) > TURN_S * 100) + 1
        error_us = np.split(np.abs(table["error_ns"]) / 1e3, breaks)
        bound_us = np.split(table["bound_ns"] / 1e3, breaks)
        assert len(error_us) == rounds, (kind, way, len(error_us))
        found[kind, way] = list(zip(error_us, bound_us, strict=True))
    return found


def figures(found: Errors) -> Iterator[Figure]:
    """Yield quantiles of the errors, and for the tunnel what is beyond the bound of the clock."""
    load = [round(value, 1) for value in os.getloadavg()]
    for (kind, way), rounds in found.items():
        for p in (0.5, 0.99):
            values = [float(np.quantile(error, p)) for error, _ in rounds]
            most = WANTED.get((kind, p)) if way == "deadline" else None
            yield figure(
                f"error of {KINDS[kind]}, {WAYS[way]}, p{p * 100:g}",
                "us",
                values,
                None if most is None else f"at most {most}",
                packets=sum(len(error) for error, _ in rounds),
                load_average=load,
            )
        if (kind, way) == ("one way", "deadline"):
            bound = [float(np.median(bound)) for _, bound in rounds]
            yield figure("bound of the clock's estimate, median", "us", bound, None)
            beyond = [float(np.quantile(np.maximum(0, error - of), 0.99)) for error, of in rounds]
            yield figure(f"error of {KINDS[kind]} beyond that bound, p99", "us", beyond, "at most 25")


def picture(found: Errors) -> str:
    """Return the picture as SVG, with a panel for each kind."""
    panels = [
        Panel(
            title,
            {name: np.concatenate([error for error, _ in found[kind, way]]) for way, name in WAYS.items()},
        )
        for kind, title in KINDS.items()
    ]
    return drawn(
        "How far packets arrive from their instant, over two tunnels on one path",
        panels,
        "farther than this from the declared instant (us)",
    )


def tunnel_error(rounds: int) -> Iterator[Figure | Skipped]:
    """Yield the errors of both tunnels, and of a control."""
    if os.geteuid() != 0:
        yield skipped("error of one way between machines", "entering network namespaces needs root")
        return
    yield from figures(measured(rounds))


if __name__ == "__main__":
    errors = measured(ROUNDS)
    for line in figures(errors):
        print(line.model_dump_json(), flush=True)
    Path(sys.argv[1]).write_text(picture(errors), encoding="utf-8")
