"""How fast 2,004 trials are simulated: by one process, by two, and by three workers of Dask, one killed.

`python -m bench.sweeps [ROUNDS]` prints a line for each way and round, as JSON: trials a second, seconds, and
how often a trial is stored that should be stored once. Needs `distributed`.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb

from crosswind.plan import planned
from crosswind.simulation.sweep import Progress, SweepFolder, sweep, workers_of
from crosswind.spec import Resolved, resolve
from crosswind.spec.load import parse_experiment

GRID = """
name: grid
topology:
  hosts: 2
  uplink: {{rate: 100Mbit/s, delay: 5ms, buffer: 250kB}}
  tcp: {{congestion_control: cubic}}
  nodes: {{server: h0, client: h1}}
application: {{rpc: {{connections: 4, duration: {duration}, warm_up: 0s}}}}
factors:
  loss: {{from: 0.1%, to: 5%, levels: {levels}, spacing: log}}
  delay: {{from: 1us, to: 100ms, levels: 10, spacing: log}}
conditions:
  - none
  - $loss-$delay:
      switch.ingress: [{{lose: $loss}}, {{delay: {{time: $delay}}}}]
trials: {{repeat: {repeat}, seed: 5}}
"""


def grid(levels: int, *, repeat: int = 1, duration: str = "1s") -> str:
    """Return an experiment with 10 x `levels` conditions, and one without factors."""
    return GRID.format(levels=levels, repeat=repeat, duration=duration)


def resolved_grid(levels: int, *, repeat: int = 1, duration: str = "1s") -> Resolved:
    """Return the same, resolved."""
    return resolve(parse_experiment(grid(levels, repeat=repeat, duration=duration).encode(), "grid.yaml"))


def rows(folder: Path, select: str, more: str = "") -> list[tuple[object, ...]]:
    """Return what DuckDB finds in the tables of a sweep."""
    files = str(folder / "trials" / "*.parquet")
    return duckdb.connect().execute(f"SELECT {select} FROM read_parquet('{files}') {more}").fetchall()


def times_stored(folder: Path) -> dict[str, int]:
    """Return how often each trial is stored, counted by a metric that each has once."""
    once = "WHERE metric = 'throughput' GROUP BY trial"
    return {str(trial): int(str(count)) for trial, count in rows(folder, "trial, count(*)", once)}


@contextmanager
def dask_cluster(folder: Path, workers: int) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """Give the address of a scheduler on loopback, and its process and those of workers, one thread each."""
    from distributed import Client

    file, log = folder / "scheduler.json", (folder / "dask.log").open("wb")
    started = [sys.executable, "-m", "dask"]
    of_scheduler = ["scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard"]
    of_worker = ["worker", "--scheduler-file", file, "--no-nanny", "--nthreads", "1", "--no-dashboard"]
    with ExitStack() as stack:
        stack.callback(log.close)

        def start(arguments: list[object]) -> subprocess.Popen[bytes]:
            process = subprocess.Popen([*started, *map(str, arguments)], stdout=log, stderr=subprocess.STDOUT)
            stack.callback(process.wait)
            stack.callback(process.kill)
            return process

        scheduler = start([*of_scheduler, "--scheduler-file", file])
        deadline_s = time.monotonic() + 60
        while not file.exists():
            assert time.monotonic() < deadline_s, (folder / "dask.log").read_text()
            time.sleep(0.05)
        address = str(json.loads(file.read_text())["address"])
        of_workers = [
            start([*of_worker, "--local-directory", folder / f"worker-{number}"]) for number in range(workers)
        ]
        with Client(address, timeout=60, set_as_default=False) as client:
            client.wait_for_workers(workers, timeout=120)
        yield address.replace("tcp://", "dask://"), [scheduler, *of_workers]


def kill_in_the_middle(process: subprocess.Popen[bytes], trials: int) -> Callable[[Progress], None]:
    """Return what kills a process when a third of the trials are simulated."""

    def shown(progress: Progress) -> None:
        if progress.simulated * 3 > trials and process.poll() is None:
            process.kill()
            process.wait()

    return shown


def _measure(way: str, name: str, count: int | None, shown: Callable[[Progress], None]) -> None:
    resolved = resolved_grid(50, repeat=4, duration="5s")
    with TemporaryDirectory() as work:
        folder = SweepFolder.made_for(Path(work) / "sweep", resolved)
        end = sweep(resolved, folder, workers_of(name, count, Path(work) / "jobs"), shown)
        stored = times_stored(folder.path)
    assert stored == {trial.id: 1 for trial in planned(resolved)}, "a trial is missing, or stored twice"
    figures = {
        "way": way,
        "trials": end.trials,
        "elapsed_s": round(end.elapsed_s, 2),
        "per_s": round(end.per_s, 1),
        "stored_once": len(stored),
        "load_average": round(os.getloadavg()[0], 1),
    }
    print(json.dumps(figures), flush=True)


def main() -> None:
    """Measure each way, in rounds."""

    def nothing(progress: Progress) -> None:
        pass

    for _ in range(int(sys.argv[1]) if len(sys.argv) > 1 else 1):
        _measure("1 process", "processes", 1, nothing)
        _measure("2 processes", "processes", 2, nothing)
        for killed in (False, True):
            with TemporaryDirectory() as work, dask_cluster(Path(work), 3) as (address, (_, *workers)):
                shown = kill_in_the_middle(workers[0], 2004) if killed else nothing
                _measure("dask, 3 workers" + (", one killed" if killed else ""), address, None, shown)


if __name__ == "__main__":
    main()
