"""Print the results of a run or a fingerprint: as a page, as JSON, or as a table for a paper."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from crosswind.cli._machine import require_writable
from crosswind.cli._output import console, print_json
from crosswind.errors import CrosswindError

if TYPE_CHECKING:
    from crosswind.results.reading import Results


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.argument("more", nargs=-1, type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON; write nothing.")
@click.option(
    "--table",
    "language",
    type=click.Choice(["latex", "markdown"]),
    help="Print the summary as a table for a paper; write nothing.",
)
@click.option(
    "--published",
    is_flag=True,
    help="Print the published figures beside those of the run; write nothing.",
)
@click.option(
    "--otlp",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the run as an OpenTelemetry trace (OTLP/JSON) to this file, and nothing else.",
)
def command(
    folder: Path,
    more: tuple[Path, ...],
    as_json: bool,
    language: Literal["latex", "markdown"] | None,
    published: bool,
    otlp: Path | None,
) -> None:
    """Print the results in FOLDER and write report.html beside them.

    FOLDER is the folder of a run, or of an experiment; then its latest run counts. It may be a copy from
    another machine. A fingerprint's file works as well: fingerprint.json gets fingerprint.html beside it. The
    folder of a testbed's fingerprint gets between.html, with a table for each figure.
    One or MORE files of regimes give a table with one row each.
    """
    from crosswind.fingerprint.between.rounds import is_rounds
    from crosswind.fingerprint.regime.table import is_regime

    if folder.is_file() and is_rounds(_first_line(folder)):
        if more or as_json or language or published or otlp:
            raise CrosswindError(
                f"{folder} has all pairs of a testbed over days: it has only its own table; leave everything "
                "else out"
            )
        _rounds(folder)
        return
    if folder.is_file() and is_regime(folder):
        if language or published or otlp:
            raise CrosswindError(
                f"{folder} is a regime: it has its own table; leave out --table, --published and --otlp"
            )
        _regimes([folder, *more], as_json)
        return
    if more:
        raise CrosswindError(
            f"{folder} is not a regime: write one folder, one fingerprint, or several regimes"
        )
    if folder.is_file():
        if as_json or language or published or otlp:
            raise CrosswindError(
                f"{folder} is a fingerprint: it has only a page; leave out --json, --table, --published and "
                "--otlp"
            )
        from crosswind.fingerprint.page import write_page

        require_writable(folder.with_suffix(".html"), "copy the file to a folder that you may write")
        click.echo(f"page: {write_page(folder)}")
        return
    from crosswind.fingerprint.between.document import FILE

    if (folder / FILE).is_file():
        if as_json or language or published or otlp:
            raise CrosswindError(
                f"{folder} is a fingerprint of many machines: it has only a page; leave out --json, --table, "
                "--published and --otlp"
            )
        _between(folder)
        return
    from crosswind.analysis.cautions.of_run import cautions
    from crosswind.analysis.published import as_json as published_json
    from crosswind.analysis.published import published_figures
    from crosswind.analysis.summarise import summarise
    from crosswind.report import write_report
    from crosswind.report.paper_table import paper_table
    from crosswind.report.published_table import print_published
    from crosswind.report.table import print_summary
    from crosswind.results.reading import Results

    if sum(map(bool, (as_json, language, published, otlp))) > 1:
        raise click.UsageError("--json, --table, --published and --otlp: write only one of them")
    results = Results(folder)
    if otlp is not None:
        _write_trace(results, otlp)
        return
    summary = summarise(results)
    figures = published_figures(summary, results) if as_json or published else None
    if as_json:
        beside = {} if figures is None else {"published": published_json(figures)}
        plain = summary.as_json() | {"cautions": [caution.as_json() for caution in cautions(summary)]}
        print_json(plain | beside)
        return
    if published:
        if figures is None:
            raise CrosswindError(
                f"{folder}: its experiment names no published figures; add them as `published:` and run it, "
                "or use a run of a catalogue experiment that has them, such as icpe23-ycsb-b"
            )
        print_published(figures, console())
        return
    if language:
        click.echo(paper_table(summary, language), nl=False)
        return
    print_summary(summary, console())
    require_writable(
        summary.folder / "report.html", "make the folder writable, or copy it; --json writes nothing"
    )
    click.echo(f"report: {write_report(folder)}")


def _write_trace(results: Results, path: Path) -> None:
    from crosswind.telemetry import trace_of

    require_writable(path, "name another file with --otlp")
    text = trace_of(results)
    path.parent.mkdir(parents=True, exist_ok=True)
    # In place, and not through a second file: it may be /dev/stdout.
    path.write_text(text)
    click.echo(f"trace: {path}")


def _first_line(path: Path) -> bytes:
    """Return the first line of a file, which says what it is."""
    with path.open("rb") as file:
        return file.readline()


def _rounds(path: Path) -> None:
    from crosswind.fingerprint.between.rounds import read_rounds
    from crosswind.fingerprint.between.rounds_table import print_rounds
    from crosswind.spec.read_file import read_file

    try:
        record = read_rounds(read_file(path))
    except ValueError as error:
        raise CrosswindError(f"{path}: {error}") from None
    print_rounds(record, console())


def _between(folder: Path) -> None:
    from crosswind.fingerprint.between.page import PAGE, write_page

    require_writable(folder / PAGE, "copy the folder to a place that you may write")
    click.echo(f"page: {write_page(folder)}")


def _regimes(paths: list[Path], as_json: bool) -> None:
    from crosswind.fingerprint.regime.table import print_regimes, read_regimes, regimes_as_json

    regimes = read_regimes(paths)
    if as_json:
        print_json(regimes_as_json(regimes))
    else:
        print_regimes(regimes, console())
