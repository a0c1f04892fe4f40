"""Whether a seed repeats its faults: `python -m bench.nemesis`.

Runs an experiment with drawn faults twice with one seed, live. Prints for each fault when it was due, and how
late both runs did it, from the begin of each measurement. It needs what `crosswind run` needs.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from crosswind.results import Measurement
from crosswind.results.measurement import Fault

EXPERIMENT = """
name: nemesis
topology:
  hosts: 2
  uplink: {rate: 100Mbit/s, delay: 1ms}
  nodes: {server: h0, client: h1}
conditions:
  - drawn:
      faults: {every: {between: [800ms, 1500ms]}, for: 300ms, choose: [isolate, pause, kill], seed: 7}
application: {rpc: {rate: 200/s, duration: 20s}}
trials: {repeat: 1, rest: 0s, seed: 1, limits: {void: accept}}
"""


def faults(folder: Path) -> list[tuple[Fault, int]]:
    """Run the experiment; return its faults, and when the measurement began."""
    file = folder / "nemesis.yaml"
    file.write_text(EXPERIMENT)
    start = [sys.executable, "-c", "from crosswind.cli import main; main()"]
    subprocess.run([*start, "run", file.name], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    (stored,) = (folder / "results" / "nemesis" / "latest").glob("monitors/*-p*.json")
    measurement = Measurement.model_validate_json(stored.read_text())
    return [(fault, measurement.window.started_ns) for fault in measurement.faults]


def main() -> None:
    """Print a row for each fault, and the largest difference."""
    runs = []
    for _ in range(2):
        with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
            runs.append(faults(Path(folder)))
    print("| fault | due ms | first run, late us | second run, late us | apart us |\n|---|---|---|---|---|")
    apart_us = []
    for (first, began), (second, began_again) in zip(*runs, strict=True):
        due_ns, due_again_ns = first.due_ns - began, second.due_ns - began_again
        assert (first.words, due_ns) == (second.words, due_again_ns), (first, second)
        done_ns, done_again_ns = first.done_ns - began, second.done_ns - began_again
        apart_us.append(abs(done_ns - done_again_ns) / 1e3)
        late = [f"{(done - due_ns) / 1e3:.1f}" for done in (done_ns, done_again_ns)]
        print(f"| {first.words} | {due_ns / 1e6:.3f} | {late[0]} | {late[1]} | {apart_us[-1]:.1f} |")
    print(f"\nLargest difference of {len(apart_us)}: {max(apart_us):.1f} us")


if __name__ == "__main__":
    main()
