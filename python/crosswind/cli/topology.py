"""Show the network of an experiment, and the tables of delays between regions that it can name."""

from __future__ import annotations

import shutil
from pathlib import Path

import click

from crosswind.cli._machine import require_writable
from crosswind.cli._output import print_json

_PLAIN_COLUMNS = 160  # Without a terminal.


@click.group()
def command() -> None:
    """Show the network of an experiment: its switches, hosts, links and delays.

    \b
    crosswind topology show experiment.yaml
    crosswind topology show experiment.yaml --svg network.svg
    crosswind topology regions                   lists tables of delays between regions
    crosswind topology regions aws-2024
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


@command.command()
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def regions(name: str | None, as_json: bool) -> None:
    """List the tables of delays between regions, or show the source and the regions of the table NAME.

    A file names a table with `topology: {zones: {delay: {regions: NAME}}}`. Its regions are then the zones.
    """
    from crosswind import catalog
    from crosswind.errors import CrosswindError
    from crosswind.spec.quantities import QuantityError
    from crosswind.spec.topology.region_table import known_table, load_region_table

    if name is None:
        summaries = {each: load_region_table(each).summary for each in catalog.region_table_names()}
        if as_json:
            print_json([{"name": each, "summary": summary} for each, summary in summaries.items()])
            return
        width = max(map(len, summaries))
        for each, summary in summaries.items():
            click.echo(f"{each:{width}}  {summary}")
        return
    try:
        table = load_region_table(known_table(name))
    except QuantityError as error:
        raise CrosswindError(str(error)) from None
    about = catalog.header(catalog.region_table_file(name))
    if as_json:
        print_json({"name": name, "summary": table.summary, "about": about, "regions": list(table.names)})
        return
    click.echo(f"{about}\n")
    width = max(map(len, table.names)) + 2
    columns = max(1, shutil.get_terminal_size().columns // width)
    for first in range(0, len(table.names), columns):
        click.echo("".join(f"{each:{width}}" for each in table.names[first : first + columns]).rstrip())
