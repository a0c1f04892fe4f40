"""Replay a recording, or try conditions on offered packets or on an application, in virtual time."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from crosswind.cli._machine import require_writable
from crosswind.cli._options import as_one
from crosswind.cli._output import console, print_json
from crosswind.errors import CrosswindError, Exit

if TYPE_CHECKING:
    from crosswind.spec import ResolvedCondition


@dataclass(frozen=True)
class _Asked:
    """The options, as they were written."""

    file: Path
    condition: str | None
    offers: tuple[str, ...]
    packet: str
    arrivals: str
    length: str
    seed: int | None
    packets: Path | None
    store: Path | None
    executor: str | None
    workers: int | None
    as_json: bool


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--condition", metavar="FILE|NAME", help="Condition to apply instead of the recorded or first one."
)
@click.option(
    "--offer",
    "offers",
    multiple=True,
    metavar="A->B=RATE",
    help="Traffic from A to B. Repeat it for several.",
)
@click.option("--packet", default="1500B", show_default=True, help="IP size of every offered packet.")
@click.option(
    "--arrivals",
    type=click.Choice(["constant", "poisson"]),
    default="poisson",
    show_default=True,
    help="Arrival process of offered packets.",
)
@click.option("--for", "length", default="10s", show_default=True, help="Length of the offered traffic.")
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    help="Seed of all random numbers; 1, or the experiment's, when absent.",
)
@click.option(
    "--packets", type=click.Path(path_type=Path), help="Also write one row per packet to this CSV file."
)
@click.option(
    "--store",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Store the trials of an experiment in this folder. Trials that it has are not repeated.",
)
@click.option(
    "--executor",
    metavar="NAME",
    help="Where to simulate with --store: processes, dask://HOST:PORT, slurm or submitit-local.  "
    "[default: processes]",
)
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    help="Processes or jobs at a time; all CPUs or 16 jobs when absent.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@as_one(_Asked)
def command(asked: _Asked) -> Exit:
    """Replay a recording, or try conditions on offered packets or on an application, in virtual time.

    FILE is a recording, made by `crosswind up --record` or by `record: true` under `trials`. Every decision
    of the live run is made again and compared; exit status 4 means that one differs. With --condition the
    same packets meet another condition. This is an open loop: the application does not react.

    FILE may also be an experiment of rpc, iperf3 or traffic. Then its trials run in virtual time, with TCP as
    Linux has it, under every condition or the one of --condition: a closed loop, in which the application
    reacts. Trials have the seeds of a live run.

    With --store, thousands of trials are simulated at the same time, and stored as Parquet. The same command
    goes on where it was interrupted, and `crosswind plan --simulated` ranks the conditions. Workers are
    processes of this machine, or those of a Dask cluster (`pip install 'crosswind[dask]'`) or of Slurm
    (`pip install 'crosswind[slurm]'`).

    With --offer, FILE is an experiment or a network for `crosswind up`, and packets are sent as --offer says.

    No nodes are made, no privileges are needed, and a second of traffic may take less than a second.
    """
    from crosswind.simulation import is_recording

    if asked.packets is not None:
        require_writable(asked.packets, "name another file with --packets")
    for option, given in (("--executor", asked.executor), ("--workers", asked.workers)):
        if given is not None and asked.store is None:
            raise CrosswindError(f"{option} is for trials that are stored; name a folder with --store")
    if asked.file.exists() and is_recording(asked.file):
        if asked.offers:
            raise CrosswindError(
                f"{asked.file}: is a recording, which has its own traffic; leave --offer out"
            )
        return _replay(asked)
    return _offer(asked) if asked.offers else _trials(asked)


def _refuse_store(asked: _Asked) -> None:
    if asked.store is not None:
        raise CrosswindError(
            "--store is for the trials of an experiment; leave it out, or name an experiment"
        )


def _trials(asked: _Asked) -> Exit:
    from crosswind.simulation import simulate_trials
    from crosswind.simulation.trials_text import print_trials
    from crosswind.spec import find_experiment, load_experiment, resolve
    from crosswind.spec.document import read_document

    source = find_experiment(str(asked.file))
    written = read_document(source).data
    if not isinstance(written, dict) or "application" not in written:
        raise CrosswindError(
            f"{asked.file}: has neither packets nor an application; add some with --offer, such as "
            "--offer 'a->b=10Mbit/s', or name an experiment"
        )
    if asked.packets is not None:
        raise CrosswindError("--packets writes offered or recorded packets; leave it out, or add --offer")
    resolved = resolve(load_experiment(source))
    if asked.condition is not None:
        condition = resolved.condition(asked.condition)
        if condition is None:
            names = ", ".join(each.name for each in resolved.conditions)
            raise CrosswindError(f"--condition {asked.condition}: the experiment has {names}")
        resolved = resolved.model_copy(update={"conditions": [condition]})
    if asked.seed is not None:
        trials_asked = resolved.trials.model_copy(update={"seed": asked.seed})
        resolved = resolved.model_copy(update={"trials": trials_asked})
    if asked.store is not None:
        from crosswind.cli._sweep import simulate_into
        from crosswind.simulation.sweep import workers_of

        require_writable(asked.store, "name another folder with --store")
        workers = workers_of(asked.executor or "processes", asked.workers, asked.store / "jobs")
        return simulate_into(asked.store, resolved, workers, asked.file, as_json=asked.as_json)
    trials = list(simulate_trials(resolved))
    if asked.as_json:
        print_json({"trials": [trial.as_json() for trial in trials]})
    else:
        print_trials(trials, resolved.application.figures, console())
    return Exit.DONE


def _replay(asked: _Asked) -> Exit:
    _refuse_store(asked)
    from crosswind.simulation import replay, setup_of_recording
    from crosswind.simulation.text import print_comparison, print_simulation
    from crosswind.spec import condition_for_agent

    other = None
    if asked.condition is not None:
        other = condition_for_agent(_ghosts_only(setup_of_recording(asked.file).condition(asked.condition)))
    result = replay(asked.file, other, asked.packets)
    comparison = result.comparison
    if asked.as_json:
        print_json(result.as_json())
    else:
        if comparison is not None:
            print_comparison(comparison, console())
        print_simulation(result.summary, console())
    return Exit.DONE if comparison is None or comparison.identical else Exit.TRIALS


def _offer(asked: _Asked) -> Exit:
    _refuse_store(asked)
    from crosswind.simulation import offer, read_offer
    from crosswind.simulation.text import print_simulation
    from crosswind.spec import fabric_of, find_experiment, load_setup
    from crosswind.spec.quantities import SIZE, TIME, QuantityError

    try:
        wanted = [read_offer(text) for text in asked.offers]
        packet_bytes, duration_ns = SIZE.read_positive(asked.packet), TIME.read_positive(asked.length)
    except QuantityError as error:
        raise CrosswindError(str(error)) from None
    setup = load_setup(find_experiment(str(asked.file)))
    meant = _ghosts_only(setup.condition(asked.condition or next(iter(setup.conditions))))
    fabric = fabric_of(setup.resolved(1 if asked.seed is None else asked.seed).under(meant), meant.name)
    summary = offer(
        fabric,
        wanted,
        packet_bytes=packet_bytes,
        arrivals=asked.arrivals,
        duration_ns=duration_ns,
        packets=asked.packets,
    )
    if asked.as_json:
        print_json({"summary": summary.as_json()})
    else:
        print_simulation(summary, console())
    return Exit.DONE


def _ghosts_only(condition: ResolvedCondition) -> ResolvedCondition:
    """Return a condition, if it needs no processes."""
    if condition.is_real:
        raise CrosswindError(
            f"condition {condition.name}: `by: iperf3` is interference by real processes, which "
            "cannot run in virtual time; write `by: ghost`"
        )
    return condition
