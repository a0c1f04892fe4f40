"""Show the network of an experiment: its switches, hosts, links and delays."""

from __future__ import annotations

import shutil
from pathlib import Path

import click

from crosswind.cli._machine import require_writable

_PLAIN_COLUMNS = 160  # Without a terminal.


@click.group()
def command() -> None:
    """Show the network of an experiment: its switches, hosts, links and delays.

    \b
    crosswind topology show experiment.yaml
    crosswind topology show experiment.yaml --svg network.svg
    """


@command.command()
@click.argument("file")
@click.option(
    "--svg", type=click.Path(path_type=Path), metavar="OUT", help="Also write a picture to this file."
)
def show(file: str, svg: Path | None) -> None:
    """Show the network of FILE in the terminal, and as a picture with --svg.

    FILE has a topology. An experiment file works, and so does the name of a catalogue experiment. Rates and
    buffers are shown after multiplication with the `scale` of FILE.
    """
    import sys

    from crosswind.spec import find_experiment, load_setup
    from crosswind.spec.network import Network
    from crosswind.topology.picture import picture
    from crosswind.topology.terminal import drawn

    setup = load_setup(find_experiment(file))
    network = Network.of(setup.resolved(seed=1).topology)
    columns = shutil.get_terminal_size().columns if sys.stdout.isatty() else _PLAIN_COLUMNS
    click.echo(drawn(network, columns))
    if setup.scale != 1:
        click.echo(f"\nRates and buffers are at scale {setup.scale:g}.")
    if svg is not None:
        require_writable(svg, "name another file with --svg")
        svg.write_text(picture(network).file(), encoding="utf-8")
        click.echo(f"wrote {svg}", err=True)
