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
@click.option("--json", "as_json", is_flag=True, help="Print the condition as JSON, as files may write it.")
def show(name: str, as_json: bool) -> None:
    """Show one condition: what it models, its source, what differs, and its text."""
    from crosswind import catalog
    from crosswind.spec import load_catalogue_condition
    from crosswind.spec.document import read_document

    load_catalogue_condition(name)  # Names the nearest condition when there is none of this name.
    file = catalog.condition_file(name)
    if as_json:
        print_json(
            {
                "name": name,
                "about": catalog.header(file),
                "condition": read_document(file).data[name.split("/")[-1]],
            }
        )
    else:
        click.echo(file.read_text(encoding="utf-8").rstrip())


@command.command("from")
@click.argument("trace", type=click.Path(path_type=Path))
@click.option("--name", help="Of the condition; the file's when absent.")
@click.option("--refill", metavar="RATE", help="Of the bucket, where it is known; else from the rests.")
@click.option(
    "--window", default="100ms", show_default=True, help="Of samples, from a capture or a Mahimahi trace."
)
@click.option("--back", is_flag=True, help="Of `iperf3 --bidir`, what came back to the client.")
def from_trace(trace: Path, name: str | None, refill: str | None, window: str, back: bool) -> None:
    """Find the token bucket behind a TRACE and print a condition that emulates it.

    TRACE is what a sender was given that wanted all it could get: CSV of time and rate, where a rate of 0 is
    a rest, the JSON of `iperf3 -J`, the intervals of `nuttcp -i1`, a pcap or pcapng of one way, a trace of
    Mahimahi, a JSON of OSMeF, or a fingerprint. Rates that never fall are refused: what was not emptied is
    not known.
    """
    from crosswind.errors import CrosswindError
    from crosswind.fingerprint.fitted_condition import credit_condition
    from crosswind.fingerprint.token_bucket import identify
    from crosswind.fingerprint.trace_file import read_trace
    from crosswind.spec.quantities import TIME, QuantityError, read_limited_rate

    try:
        content = trace.read_bytes()
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
    samples, complaint = read_trace(str(trace), content, window_s=window_s, back=back)
    if complaint:
        click.echo(f"{trace}: {complaint}", err=True)
    called = name or re.sub(r"[^a-z0-9]+", "-", trace.stem.lower()).strip("-") or "measured"
    found = identify(samples, refill_bps=refill_bps)
    click.echo(credit_condition(called, trace.name, samples, found).rstrip())


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
