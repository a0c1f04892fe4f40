"""The tables of docs/explanation/scale.md, from unit costs that `python -m bench.scale` measured.

`python -m bench.scale_table units.json` prints them. Each machine has four nodes, and one client with 1,000
operations a second; a run has 60 trials of 60 s.
"""

import json
import math
import sys
from collections.abc import Callable
from pathlib import Path

from bench.scale import Units

MACHINES = (16, 256, 4096)
OPERATIONS_PER_S = 1000
TRIAL_S = 60
TRIALS = 60
STEPS_PER_S = 10
# What the list of limits takes for too much.
CONTROLLER_BYTES = 16 << 30
OPEN_FILES = 1024
TRIAL_BYTES = 1e9
SUMMARY_S = 3600.0
_UP_TO = 1 << 24

Cost = Callable[[Units, int], float]


def agent_cores(units: Units, n: int) -> float:
    """Return the cores of an agent without traffic of nodes."""
    return units.idle_cores + (n - 1) * units.peer_cores


def measurement_bytes(units: Units, n: int) -> float:
    """Return the bytes of a trial's measurement."""
    of_pairs = n * (n - 1) * units.peer_stored_bytes
    return units.trial_stored_bytes + n * units.machine_stored_bytes + of_pairs


def trial_bytes(units: Units, n: int) -> float:
    """Return the bytes that a trial stores."""
    return measurement_bytes(units, n) + n * OPERATIONS_PER_S * TRIAL_S * units.operation_stored_bytes


def summary_s(units: Units, n: int) -> float:
    """Return the CPU time of the summary of a run."""
    operations = n * OPERATIONS_PER_S * TRIAL_S
    return TRIALS * (units.trial_summary_s + operations * units.operation_summary_s)


def steps_cores(units: Units, n: int) -> float:
    """Return the cores of the controller that read the steps of all machines."""
    return n * STEPS_PER_S * units.step_s


def ssh_bytes(units: Units, n: int) -> float:
    """Return the memory of all ssh clients."""
    return n * units.ssh_bytes


ROWS: dict[str, Callable[[Units, int], str]] = {
    "agents": lambda units, n: f"{n:,}",
    "tunnels (pairs of machines)": lambda units, n: f"{n * (n - 1) // 2:,}",
    "memory of one agent": lambda units, n: size(units.agent_bytes + (n - 1) * units.agent_peer_bytes),
    "one agent without traffic of nodes, cores": lambda units, n: f"{agent_cores(units, n):.3g}",
    "datagrams of one agent to compare clocks, each way, a second": lambda units, n: (
        f"{(n - 1) * units.peer_datagrams_per_s:,.0f}"
    ),
    "ssh clients at the controller: memory": lambda units, n: size(ssh_bytes(units, n)),
    "ssh clients: CPU time to connect": lambda units, n: time_text(n * units.ssh_s),
    "open files of the controller": lambda units, n: f"{n * units.controller_files:,.0f}",
    "control traffic of an idle network, a second": lambda units, n: size(n * STEPS_PER_S * units.step_bytes),
    "controller reading it, cores": lambda units, n: f"{steps_cores(units, n):.3g}",
    "measurement of one trial": lambda units, n: size(measurement_bytes(units, n)),
    "one trial with its samples": lambda units, n: size(trial_bytes(units, n)),
    "the run": lambda units, n: size(TRIALS * trial_bytes(units, n)),
    "summary of the run, CPU time": lambda units, n: time_text(summary_s(units, n)),
}

LIMITS: dict[str, tuple[Cost, Callable[[Units], float]]] = {
    "open files of the controller reach the usual limit (`ulimit -n`)": (
        lambda units, n: n * units.controller_files,
        lambda units: OPEN_FILES,
    ),
    "an agent needs a whole core to compare clocks": (agent_cores, lambda units: 1.0),
    "a measurement takes 1 GB": (measurement_bytes, lambda units: TRIAL_BYTES),
    "the summary of the run takes an hour": (summary_s, lambda units: SUMMARY_S),
    "the controller needs a whole core to read steps": (steps_cores, lambda units: 1.0),
    "ssh clients need 16 GiB": (ssh_bytes, lambda units: CONTROLLER_BYTES),
}


def size(number_bytes: float) -> str:
    """Return an amount of bytes with three digits."""
    for unit, least in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if number_bytes >= least:
            return f"{number_bytes / least:.3g} {unit}"
    return f"{number_bytes:.0f} B"


def time_text(seconds: float) -> str:
    """Return a time with three digits."""
    for unit, least in (("h", 3600.0), ("min", 60.0)):
        if seconds >= least:
            return f"{seconds / least:.3g} {unit}"
    return f"{seconds:.3g} s"


def reaches(cost: Cost, units: Units, most: float) -> int | None:
    """Return the smallest number of machines that cost more than `most`; None where 16 million do not."""
    if cost(units, _UP_TO) <= most:
        return None
    low, high = 0, _UP_TO
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if cost(units, middle) > most else (middle, high)
    return high


def tables(units: Units) -> str:
    """Return the three tables: unit costs, totals, and what breaks first."""
    measured = [f"| `{name}` | {value:.3g} |" for name, value in vars(units).items()]
    head = " | ".join(f"{n:,} machines" for n in MACHINES)
    totals = [f"| {name} | {' | '.join(row(units, n) for n in MACHINES)} |" for name, row in ROWS.items()]
    breaks = [(reaches(cost, units, most(units)), name) for name, (cost, most) in LIMITS.items()]
    in_order = sorted(breaks, key=lambda each: each[0] or math.inf)
    limits = [f"| {'beyond 16 million' if n is None else f'{n:,}'} | {name} |" for n, name in in_order]
    return "\n".join(
        [
            "| unit | measured |\n|---|---|",
            *measured,
            "",
            f"| | {head} |\n|---|{'---|' * len(MACHINES)}",
            *totals,
            "",
            "| machines | what breaks |\n|---|---|",
            *limits,
        ]
    )


if __name__ == "__main__":
    print(tables(Units(**json.loads(Path(sys.argv[1]).read_text()))))
