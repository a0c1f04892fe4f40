"""Analyse samples in a CSV file, a run, or the TCP flows of a capture."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from crosswind.cli._output import console, print_json
from crosswind.cli._share import share
from crosswind.errors import CrosswindError

if TYPE_CHECKING:
    from crosswind.analysis import Each


def _quantile(text: str) -> float:
    match = re.fullmatch(r"[pP]([0-9]{1,2}(\.[0-9]{1,6})?)", text)
    if match is None or float(match[1]) == 0:
        raise click.BadParameter(f'"{text}" is not a quantile; write p50 for the median, or p99.9')
    return float(match[1]) / 100


def _each(_context: click.Context, _option: click.Parameter, text: str | None) -> Each | None:
    from crosswind.analysis import OF_SHARES, own_quantile

    if text is None:
        return None
    if text in OF_SHARES:
        return OF_SHARES[text]
    try:
        return own_quantile(_quantile(text))
    except click.BadParameter as error:
        raise click.BadParameter(f"{error.message}, or {', '.join(OF_SHARES)} of shares") from None


def _quantiles(
    _context: click.Context, _option: click.Parameter, texts: tuple[str, ...]
) -> tuple[float, ...]:
    return tuple(sorted({_quantile(text) for text in texts}))


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--column", metavar="NAME", help="Column of values. Default: the only numeric one.")
@click.option(
    "--by",
    multiple=True,
    metavar="NAME",
    help="Column that names the group of each row. Repeat it for several.",
)
@click.option(
    "--trial", metavar="NAME", help="Column that names the trial of each row. Default: `trial` or `run`."
)
@click.option(
    "--each",
    callback=_each,
    metavar="FIGURE",
    help="The figure of a trial with several rows: a quantile such as p99, or sum, mean, sd or jain (Jain's "
    "index) of shares.",
)
@click.option("--pool", is_flag=True, help="Describe all rows together, without intervals.")
@click.option(
    "--quantile",
    "asked",
    callback=_quantiles,
    multiple=True,
    metavar="QUANTILE",
    default=("p50", "p90", "p99"),
    show_default="p50, p90, p99",
    help="Quantile over trials. Repeat it for several.",
)
@click.option(
    "--within",
    callback=share,
    metavar="SHARE",
    default="5%",
    show_default=True,
    help="Target width of the interval of the median, each side.",
)
@click.option(
    "--confidence",
    callback=share,
    metavar="SHARE",
    default="95%",
    show_default=True,
    help="Confidence level of intervals.",
)
@click.option(
    "--baseline", metavar="GROUP", help="Compare the other groups with this one. Default: the first."
)
@click.option(
    "--unordered",
    is_flag=True,
    help="Rows are not in the order in which the trials ran, so the guard cannot check whether trials depend "
    "on each other.",
)
@click.option(
    "--rto",
    metavar="TIME",
    default="200ms",
    show_default=True,
    help="For a capture: the smallest retransmission timeout of its senders.",
)
@click.option(
    "--connections",
    type=click.IntRange(min=1),
    multiple=True,
    metavar="N",
    help="For results of OSMeF: use only runs with N connections. Repeat it for several.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the analysis as JSON.")
@click.pass_context
def command(
    context: click.Context,
    file: Path,
    column: str | None,
    by: tuple[str, ...],
    trial: str | None,
    each: Each | None,
    pool: bool,
    asked: tuple[float, ...],
    within: float,
    confidence: float,
    baseline: str | None,
    unordered: bool,
    rto: str,
    connections: tuple[int, ...],
    as_json: bool,
) -> None:
    """Analyse samples in FILE: quantiles, intervals, comparisons; or the TCP flows of a capture.

    \b
    crosswind analyze p99.csv                                   one number per line and trial
    crosswind analyze results.csv --column ms --by condition    groups, against the first
    crosswind analyze operations.csv --column ms --each p99     many rows per trial: its P99
    crosswind analyze results/jobs/latest                       the trials of a run
    crosswind analyze streams.csv --column mbps --each jain     a row per connection: fairness per trial
    crosswind analyze trace.pcapng                              a capture: round trips and timeouts of TCP
    crosswind analyze output/paper --connections 30             results of OSMeF: its Table 1, and corrected

    FILE is any CSV with one value per row. Intervals are over trials: if several rows share a trial (a
    column `trial`, `run`, ... or the one that --trial names), --each reduces them to one number per trial.
    FILE may also be a results folder; then the first figure of each trial, or the one that --column names,
    is analysed by condition. Intervals are refused if the order shows that trials are not independent:
    their level shifts, drifts, or consecutive trials are correlated. Write inf for an operation that never
    ended. A column `timestamp`, `started`, `date` or `time` must agree with the order of rows, and a column
    `unit` must have one value.

    FILE may be a capture, pcap or pcapng. Each TCP flow is shown with its round-trip times, by handshake
    and by acknowledgement, and its retransmissions, with those that a timeout caused.

    FILE may be a folder with results of OSMeF (JSON), or with one such folder per scenario. Its Table 1 is
    shown as the study computes it, and corrected: each run by itself, without runs of another machine. A
    scenario whose level changed during the measurement is named.
    """
    from crosswind.analysis.osmef.runs import is_osmef
    from crosswind.simulation import is_capture

    if is_capture(file):
        _only(context, file, "is a capture", ("file", "rto", "as_json"))
        _capture(file, rto, as_json)
        return
    if is_osmef(file):
        _only(context, file, "has results of OSMeF", ("file", "connections", "as_json"))
        _osmef(file, connections, as_json)
        return
    of_others = {"rto": "is not a capture", "connections": "has no results of OSMeF"}
    for option, why in of_others.items():
        _only(context, file, why, tuple(name for name in context.params if name != option))
    from crosswind.analysis import Question, analyse, read_samples, run_samples
    from crosswind.analysis.text import print_analysis

    if file.is_dir():
        if by or trial or each:
            raise click.UsageError(
                f"{file}: is a results folder, with one value per trial and condition; "
                "leave --by, --trial and --each out"
            )
        samples = run_samples(file, column)
    else:
        samples = read_samples(file, column=column, by=by, trial=trial, ordered=not (unordered or pool))
    question = Question(asked, each, pool, within, confidence, baseline, not unordered)
    analysis = analyse(samples, question)
    if as_json:
        from crosswind.analysis.plain import as_plain

        print_json(as_plain(analysis))
        return
    print_analysis(analysis, console())


def _only(context: click.Context, file: Path, why: str, of_it: tuple[str, ...]) -> None:
    """Refuse options that have no meaning for this kind of file."""
    given = click.core.ParameterSource.COMMANDLINE
    for option in context.command.params:
        if option.name not in of_it and context.get_parameter_source(str(option.name)) is given:
            raise CrosswindError(f"{option.opts[0]}: has no meaning here, because {file} {why}; leave it out")


def _osmef(folder: Path, connections: tuple[int, ...], as_json: bool) -> None:
    from crosswind.analysis.osmef.runs import read_osmef
    from crosswind.analysis.osmef.table import osmef_table
    from crosswind.analysis.osmef.text import print_osmef
    from crosswind.analysis.plain import as_plain

    table = osmef_table(str(folder), read_osmef(folder), connections)
    if not any(scenario.rows for scenario in table.scenarios):
        numbers = ", ".join(map(str, connections))
        raise CrosswindError(f"--connections: {folder} has no run of {numbers}; leave it out to see all")
    if as_json:
        print_json(as_plain(table))
    else:
        print_osmef(table, console())


def _capture(file: Path, rto: str, as_json: bool) -> None:
    from crosswind.simulation import flows_of_capture
    from crosswind.simulation.capture import print_capture
    from crosswind.spec.quantities import TIME, QuantityError

    try:
        rto_ns = TIME.read_positive(rto)
    except QuantityError as error:
        raise CrosswindError(f"--rto: {error}") from None
    found = flows_of_capture(file, rto_ns)
    if as_json:
        print_json(found.as_json())
    else:
        print_capture(file.name, found, rto_ns, console())
