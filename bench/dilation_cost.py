"""What slower time costs a program: single calls in real time and at a dilation of 10, in turn.

    python -m bench.dilation_cost [--rounds 6]

Times are real ones. The prototype's costs are those that it was measured with, on the machine that it was
made on; its total of `clock_gettime` is compared, and of other calls what they take longer.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import crosswind

SOURCE = Path(__file__).with_suffix(".c")
DILATION = 10
# What was called, and what the prototype's dilation added to it in ns; None where that could not be measured.
CALLS = (
    ("`clock_gettime`", 7),
    ("a call that nothing slows down", 40),
    ("a poll without a wait", 40),
    ("a wait of 1 ns", 2300),
    ("a program that is started and ends", None),
)


def rows(rounds: int) -> Iterator[str]:
    """Yield the rows of a table: each call, the best of all rounds."""
    found: dict[int, list[list[float]]] = {1: [], DILATION: []}
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        program = str(Path(folder) / "calls")
        subprocess.run(["cc", "-O2", "-o", program, str(SOURCE)], check=True)
        for number in range(rounds):
            for factor in found if number % 2 else reversed(found):
                found[factor].append(_calls_ns(program, factor))
    real, slowed = ([min(each) for each in zip(*found[factor], strict=True)] for factor in found)
    yield "| | in real time, ns | dilated, ns | more, ns | more in the prototype, ns |"
    yield "|---|---|---|---|---|"
    for (what, prototype), real_ns, slowed_ns in zip(CALLS, real, slowed, strict=True):
        theirs = "not measurable" if prototype is None else str(prototype)
        yield f"| {what} | {real_ns:.0f} | {slowed_ns:.0f} | {slowed_ns - real_ns:+.0f} | {theirs} |"


def _calls_ns(program: str, factor: int) -> list[float]:
    """Return the real duration of each call in a node whose time is slower by a factor."""
    topology = {"hosts": 1, "uplink": {"rate": "1Gbit/s"}, "nodes": {"a": "h0"}, "wait": "sleep"}
    with crosswind.Fabric(topology, dilation=None if factor == 1 else factor) as net:
        done = net.exec("a", [program], check=True)
    return [float(line) * factor for line in done.stdout.split()]


def main() -> None:
    """Read the command line and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--rounds", type=int, default=6)
    for row in rows(parser.parse_args().rounds):
        print(row, flush=True)


if __name__ == "__main__":
    main()
