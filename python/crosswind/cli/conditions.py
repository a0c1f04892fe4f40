"""List the conditions of the catalogue, show one, or make one from a measurement."""

from __future__ import annotations

import re
from pathlib import Path

import click

from crosswind.cli._output import print_json


@click.group(invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="Print names and summaries as JSON.")
@click.pass_context
def command(context: click.Context, as_json: bool) -> None:
    """List the conditions of the catalogue, show one, or make one from a measurement.

    \b
    crosswind conditions                         lists all
    crosswind conditions show icpe23/interference
    crosswind conditions from iperf3.json > measured.yaml
    """
    if context.invoked_subcommand is None:
        _list(as_json)


@command.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print names and summaries as JSON.")
def list_all(as_json: bool) -> None:
    """List all conditions with their summaries."""
    _list(as_json)


@command.command()
@click.argument("name")
@click.option(
    "--json", "as_json", is_flag=True, help="Print the condition as JSON, in the form of an experiment file."
)
def show(name: str, as_json: bool) -> None:
    """Show one condition: what it models, its source, what differs, and its text."""
    from crosswind import catalog
    from crosswind.spec import load_catalogue_condition
    from crosswind.spec.document import read_document
    from crosswind.spec.draft import value_at

    load_catalogue_condition(name)  # Its error suggests the nearest name.
    file = catalog.condition_file(name)
    if as_json:
        print_json(
            {
                "name": name,
                "about": catalog.header(file),
                "condition": value_at(read_document(file).data, name.split("/")[-1]),
            }
        )
    else:
        click.echo(file.read_text(encoding="utf-8").rstrip())


@command.command("from")
@click.argument("trace", type=click.Path(path_type=Path))
@click.option("--name", help="Name of the condition. Default: the name of the file.")
@click.option(
    "--refill",
    metavar="RATE",
    help="Refill rate of the bucket, if known. Default: estimated from the pauses.",
)
@click.option(
    "--window",
    default="100ms",
    show_default=True,
    help="Length of one sample, for a capture or a Mahimahi trace.",
)
@click.option("--delays", "of_delays", is_flag=True, help="For a fingerprint: fit its one-way delays.")
@click.option(
    "--floor",
    metavar="TIME|FILE",
    help="For delays: the delay that this machine adds by itself, which is subtracted: a time, as "
    "`crosswind doctor` shows it, or a file of delays measured on it without a network.",
)
@click.option("--back", is_flag=True, help="For `iperf3 --bidir`: fit the direction from server to client.")
@click.option("--as", "model", metavar="MODEL", help="Model to fit. Default: the simplest that fits.")
def from_trace(
    trace: Path,
    name: str | None,
    refill: str | None,
    window: str,
    of_delays: bool,
    floor: str | None,
    back: bool,
    model: str | None,
) -> None:
    """Fit a condition to the measurement in TRACE, and print how close it is.

    TRACE is the throughput of a sender that always had data: CSV of time and rate (a rate of 0 is a pause),
    iperf3 output (`-J` or text), the intervals of `nuttcp -i1`, a pcap or pcapng of one direction, a
    Mahimahi trace, JSON of OSMeF, or a fingerprint. It may also be delays: one per line, CSV of time and
    delay, or with --delays those of a fingerprint. The folder of `crosswind fingerprint --testbed` gives
    delays and losses of every pair of machines.

    \b
    Models of rates, the simplest first:
      constant    a mean, and normal noise around it
      bucket      a token bucket that was emptied (`credit`)
      quantiles   five quantiles, drawn again and again
      empirical   blocks of the trace itself, so that its correlation in time is kept
    Models of delays:
      constant, normal, histogram; the latter two with the half-life of their correlation

    The first model that fits is printed as a condition; standard error shows how close the others are. If
    none fits, only the reasons are printed.
    """
    from crosswind.errors import CrosswindError
    from crosswind.fingerprint.between.condition import condition_between
    from crosswind.fingerprint.fit.fitted_condition import condition_from
    from crosswind.fingerprint.fit.floor import Floor
    from crosswind.spec.names import CONDITION_MAX, condition_name
    from crosswind.spec.quantities import TIME, QuantityError, read_limited_rate
    from crosswind.spec.read_file import read_file

    stem = re.sub(r"[^a-z0-9]+", "-", trace.stem.lower())[:CONDITION_MAX].strip("-")
    try:
        called = condition_name(name) if name is not None else stem or "measured"
    except QuantityError as error:
        raise CrosswindError(f"--name: {error}") from None
    if trace.is_dir():
        if refill is not None or of_delays or floor is not None or back:
            raise CrosswindError(
                f"{trace} is a folder of measured pairs: leave --refill, --delays, --floor and --back out"
            )
        click.echo(condition_between(trace, called, model).text)
        return
    try:
        content = read_file(trace)
    except OSError as error:
        raise CrosswindError(f"{trace}: cannot be read: {error.strerror or error}") from None
    try:
        refill_bps = None if refill is None else read_limited_rate(refill)
    except QuantityError as error:
        raise CrosswindError(f"--refill {refill}: {error}") from None
    try:
        window_s = TIME.read_positive(window) / 1e9
    except QuantityError as error:
        raise CrosswindError(f"--window {window}: {error}") from None
    made = condition_from(
        str(trace),
        content,
        called,
        model=model,
        window_s=window_s,
        back=back,
        refill_bps=refill_bps,
        of_delays=of_delays,
        floor=None if floor is None else Floor.read(floor),
    )
    for remark in made.notes:
        click.echo(remark, err=True)
    click.echo(made.text)


def _list(as_json: bool) -> None:
    from crosswind import catalog
    from crosswind.spec import load_catalogue_condition

    summaries = {name: load_catalogue_condition(name).summary for name in catalog.condition_names()}
    if as_json:
        print_json([{"name": name, "summary": summary} for name, summary in summaries.items()])
        return
    width = max(map(len, summaries))
    for name, summary in summaries.items():
        click.echo(f"{name:{width}}  {summary}")
    # Delays between regions belong to the topology, so that a condition can be added to them.
    click.echo("\nDelays between regions of clouds, and between cities: crosswind topology regions")
