"""`crosswind simulate --store`: sweeps on processes, on Dask and on submitit; killed, resumed and refused."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import as_completed
from pathlib import Path
from typing import Any

import psutil
import pytest
from click.testing import CliRunner, Result

from bench.sweeps import dask_cluster, grid, resolved_grid, rows, times_stored
from crosswind.cli._main import group
from crosswind.errors import CrosswindError
from crosswind.plan import planned
from crosswind.simulation import simulate_trials
from crosswind.simulation.sweep import Progress, SweepFolder, sweep, workers_of
from crosswind.simulation.sweep.dask import open_dask
from crosswind.testbed import TestbedError, find_binary


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    try:
        find_binary("crosswind-simulate")
    except TestbedError as reason:
        pytest.skip(str(reason))
    return tmp_path


def simulate(*arguments: object) -> Result:
    result = CliRunner().invoke(group, ["simulate", *map(str, arguments)], standalone_mode=False)
    if result.exception is not None:
        raise result.exception
    return result


def written(folder: Path, text: str) -> Path:
    path = folder / "grid.yaml"
    path.write_text(text)
    return path


def once(kill: Callable[[], None]) -> Callable[[Progress], None]:
    """Return what kills at the first progress that is shown."""
    killed: list[float] = []

    def shown(progress: Progress) -> None:
        if not killed:
            killed.append(progress.simulated)
            kill()

    return shown


def nothing(progress: Progress) -> None:
    """Show no progress."""


def pool_workers(of: psutil.Process | None = None) -> list[psutil.Process]:
    """Return the worker processes of this one, or of another: the children of its fork server."""
    children = (of or psutil.Process()).children()
    server = next(child for child in children if "forkserver" in " ".join(child.cmdline()))
    return server.children()


def test_a_sweep_stores_what_the_trials_of_the_experiment_are(folder: Path) -> None:
    resolved = resolved_grid(2)
    sweep(resolved, SweepFolder.made_for(folder / "s", resolved), workers_of("processes", 2, folder), nothing)
    found = rows(folder / "s", "trial, condition, seed, metric, statistic, node, value")
    of_live = [
        (each.trial.id, each.trial.condition, each.trial.seed, m.metric, m.statistic, m.node, float(m.value))
        for each in simulate_trials(resolved)
        for m in each.metrics
    ]
    assert sorted(map(str, of_live)) == sorted(str(row) for row in found if row[3] != "tcp")
    levels = rows(folder / "s", "DISTINCT factor_loss_share, factor_delay_ns", "WHERE condition = '5pct-1us'")
    assert levels == [(0.05, 1000.0)]


def test_the_same_command_goes_on_and_repeats_nothing(folder: Path) -> None:
    path, store = written(folder, grid(2)), folder / "s"
    simulate(path, "--store", store, "--workers", 1)
    first = sorted((store / "trials").iterdir())
    again = json.loads(simulate(path, "--store", store, "--workers", 1, "--json").output)
    assert (again["trials"], again["stored_before"], again["simulated"]) == (21, 21, 0)
    assert sorted((store / "trials").iterdir()) == first
    for file in first:
        file.unlink()
    assert json.loads(simulate(path, "--store", store, "--json").output)["simulated"] == 21
    # More repetitions are more trials of the same experiment.
    path.write_text(grid(2, repeat=2))
    assert json.loads(simulate(path, "--store", store, "--json").output)["simulated"] == 21
    assert set(times_stored(store).values()) == {1}
    assert len(times_stored(store)) == 42


def test_a_killed_worker_process_loses_nothing(folder: Path) -> None:
    resolved, store = resolved_grid(10), SweepFolder.made_for(folder / "s", resolved_grid(10))
    kill = once(lambda: pool_workers()[0].kill())
    end = sweep(resolved, store, workers_of("processes", 2, folder), kill)
    assert end.restarts == 1
    assert times_stored(store.path) == {trial.id: 1 for trial in planned(resolved)}


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_sweep_leaves_no_process_and_goes_on(folder: Path, number: signal.Signals) -> None:
    path, store = written(folder, grid(40, duration="60s")), folder / "s"
    program = "from crosswind.cli import main; main()"
    # A shell without job control lets programs in the background ignore SIGINT.
    heeding = ["env", "--default-signal=INT"]
    command = [*heeding, sys.executable, "-c", program, "simulate", path, "--store", store, "--workers", "1"]
    process = psutil.Popen([*map(str, command)], stderr=subprocess.PIPE, start_new_session=True)
    try:
        deadline_s = time.monotonic() + 300
        while not list((store / "trials").glob("*.parquet")):
            assert time.monotonic() < deadline_s
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.1)
        left = process.children(recursive=True)
    except BaseException:
        process.kill()
        raise
    if number == signal.SIGINT:  # From a terminal, Ctrl-C reaches the workers too.
        os.killpg(process.pid, number)
    else:
        process.send_signal(number)
    error = process.stderr.read().decode()
    process.wait()
    _, alive = psutil.wait_procs(left, timeout=20)
    assert alive == []
    ends = {signal.SIGINT: "error: interrupted", signal.SIGTERM: "error: terminated"}
    assert number == signal.SIGKILL or error.splitlines()[-1] == ends[number]
    before = len(times_stored(store))
    assert 0 < before < 401
    end = json.loads(simulate(path, "--store", store, "--json").output)
    assert (end["stored_before"], end["simulated"]) == (before, 401 - before)
    assert set(times_stored(store).values()) == {1}


def dask_sweep(folder: Path, levels: int, repeat: int) -> list[str]:
    """Simulate on three workers of Dask, one of which is killed in the middle; check what is stored."""
    pytest.importorskip("distributed", reason="distributed is not installed")
    resolved = resolved_grid(levels, repeat=repeat)
    store = SweepFolder.made_for(folder / "s", resolved)
    with dask_cluster(folder, 3) as (address, (_, *workers)):
        end = sweep(resolved, store, workers_of(address, None, folder), once(workers[0].kill))
        assert [worker.poll() is None for worker in workers] == [False, True, True]
    assert end.simulated == end.trials == len(planned(resolved))
    assert times_stored(store.path) == {trial.id: 1 for trial in planned(resolved)}
    return list(times_stored(store.path))


def test_a_killed_worker_of_dask_loses_nothing_and_repeats_nothing(folder: Path) -> None:
    assert len(dask_sweep(folder, 20, 1)) == 201


@pytest.mark.long
def test_two_thousand_trials_on_three_workers_of_dask_one_killed(folder: Path) -> None:
    assert len(dask_sweep(folder, 50, 4)) == 2004


def test_a_scheduler_that_is_gone_is_one_sentence_and_what_came_is_stored(folder: Path) -> None:
    pytest.importorskip("distributed", reason="distributed is not installed")
    # A hundred parts for one worker: however late this process sees the first answer, most are not computed.
    resolved = resolved_grid(50, repeat=4)
    store = SweepFolder.made_for(folder / "s", resolved)
    gone = pytest.raises(CrosswindError, match="has gone away; start it and run the same command again")
    with dask_cluster(folder, 1) as (address, (scheduler, _)), gone:
        sweep(resolved, store, workers_of(address, None, folder), once(scheduler.kill))
    assert 0 < len(times_stored(store.path)) < 2004
    assert set(times_stored(store.path).values()) == {1}


def test_what_was_under_way_when_the_scheduler_went_is_cancelled_and_not_awaited(folder: Path) -> None:
    pytest.importorskip("distributed", reason="distributed is not installed")
    with dask_cluster(folder, 1) as (address, (scheduler, _)), open_dask(address) as executor:
        # Large answers, so that some are under way at any time.
        parts = [executor.submit(bytes, 200_000 + number) for number in range(150)]
        ends = []
        # Without a limit of its own, since a busy machine takes long; that of each test finds one that waits.
        for number, part in enumerate(as_completed(parts)):
            ends.append("cancelled" if part.cancelled() else "done")
            if number == 20:
                scheduler.kill()
    assert len(ends) == 150
    assert ends[:20] == ["done"] * 20


def test_jobs_of_submitit_give_the_same_trials(folder: Path) -> None:
    pytest.importorskip("submitit", reason="submitit is not installed")
    path, store = written(folder, grid(2)), folder / "s"
    simulate(path, "--store", store, "--executor", "submitit-local", "--workers", 1)
    simulate(path, "--store", folder / "p", "--workers", 1)
    order = "ORDER BY ALL"
    assert rows(store, "*", order) == rows(folder / "p", "*", order)
    assert not (store / "jobs").exists()


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--executor", "dask://127.0.0.1:1"], "no Dask scheduler answers"),
        (["--executor", "dask://nothing"], "no Dask scheduler answers"),
        (["--executor", "slurm"], "has no sbatch"),
        (["--executor", "proceses"], 'no executor "proceses"; did you mean "processes"'),
        (["--executor", "dask://127.0.0.1:1", "--workers", "2"], "--workers: the workers of"),
    ],
)
def test_what_cannot_be_reached_is_one_sentence(folder: Path, arguments: list[str], why: str) -> None:
    with pytest.raises(CrosswindError, match=why):
        simulate(written(folder, grid(2)), "--store", folder / "s", *arguments)


@pytest.mark.parametrize(("name", "module"), [("dask://127.0.0.1:1", "distributed"), ("slurm", "submitit")])
def test_a_missing_extra_is_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, module: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(CrosswindError, match=rf"needs the package {module}.*pip install 'crosswind\["):
        simulate(written(folder, grid(2)), "--store", folder / "s", "--executor", name)


def test_a_folder_of_something_else_is_refused_and_left_alone(folder: Path) -> None:
    path, store = written(folder, grid(2)), folder / "s"
    store.mkdir()
    (store / "mine").write_text("mine")
    with pytest.raises(CrosswindError, match=r"has no sweep\.json"):
        simulate(path, "--store", store)
    assert [each.name for each in store.iterdir()] == ["mine"]


@pytest.mark.parametrize(
    ("other", "why"),
    [
        (grid(2).replace("250kB", "200kB"), "whose topology differ"),
        (grid(3), "whose conditions differ"),
        (grid(2).replace("connections: 4", "connections: 5"), "whose application differ"),
        (grid(2).replace("seed: 5", "seed: 6"), "trials of seed 5"),
    ],
)
def test_another_experiment_is_refused(folder: Path, other: str, why: str) -> None:
    path, store = written(folder, grid(2)), folder / "s"
    simulate(path, "--store", store, "--workers", 1)
    path.write_text(other)
    with pytest.raises(CrosswindError, match=why):
        simulate(path, "--store", store)


def test_an_interrupt_while_a_file_is_stored_stores_it_once(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolved = resolved_grid(2)
    store, write = SweepFolder.made_for(folder / "s", resolved), SweepFolder.store
    interrupts = [KeyboardInterrupt()]

    def interrupted(*arguments: Any) -> None:
        write(*arguments)
        if interrupts:
            raise interrupts.pop()

    monkeypatch.setattr(SweepFolder, "store", interrupted)
    monkeypatch.setattr("crosswind.simulation.sweep.sweeping.STORE_EVERY_S", 0.0)
    with pytest.raises(KeyboardInterrupt):
        sweep(resolved, store, workers_of("processes", 1, folder), nothing)
    assert len(times_stored(store.path)) == 20
    assert set(times_stored(store.path).values()) == {1}


def test_a_damaged_table_is_named(folder: Path) -> None:
    path, store = written(folder, grid(2)), folder / "s"
    simulate(path, "--store", store, "--workers", 1)
    (store / "trials" / "000001.parquet").write_bytes(b"PAR1 cut off")
    with pytest.raises(CrosswindError, match=r"000001\.parquet: is damaged"):
        simulate(path, "--store", store)
