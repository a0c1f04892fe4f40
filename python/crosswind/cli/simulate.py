"""Replay a recording, or show what a condition does to traffic, in virtual time."""

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
    seed: int
    packets: Path | None
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
    "--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Seed of all random numbers."
)
@click.option(
    "--packets", type=click.Path(path_type=Path), help="Also write one row per packet to this CSV file."
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@as_one(_Asked)
def command(asked: _Asked) -> Exit:
    """Replay a recording, or show what a condition does to traffic, in virtual time.

    FILE is a recording, made by `crosswind up --record` or by `record: true` under `trials`. Every decision
    of the live run is made again and compared; exit status 4 means that one differs. With --condition the
    same packets meet another condition. This is an open loop: the application does not react.

    FILE may also be a network for `crosswind up`, or an experiment; then --offer defines the traffic. No
    nodes are made, no privileges are needed, and a second of traffic may take less than a second.
    """
    from crosswind.simulation import is_recording

    if asked.packets is not None:
        require_writable(asked.packets, "name another file with --packets")
    if bool(asked.offers) == is_recording(asked.file):
        raise CrosswindError(
            f"{asked.file}: is a recording, which has its own traffic; leave --offer out"
            if asked.offers
            else f"{asked.file}: is not a recording and has no traffic; add some with --offer, such as "
            "--offer 'a->b=10Mbit/s'"
        )
    return _offer(asked) if asked.offers else _replay(asked)


def _replay(asked: _Asked) -> Exit:
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
    fabric = fabric_of(setup.resolved(asked.seed).under(meant), meant.name)
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
