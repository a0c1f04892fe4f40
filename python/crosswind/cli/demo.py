"""Show in five minutes what Crosswind does: a real database under ten published network set-ups."""

from __future__ import annotations

from pathlib import Path

import click

from crosswind.cli._console import console_option, in_browser_if
from crosswind.cli._machine import require_writable
from crosswind.errors import CrosswindError, Exit

_DATABASE, _DATABASE_DEPLOYED = "icpe23-ycsb-b", "icpe23-ycsb-b-deployed"
_WITHOUT_DATABASE, _QUICK = "icpe23-rpc", "rpc-quick"


@click.command()
@click.option(
    "--app",
    type=click.Choice(["ycsb", "rpc"]),
    default="ycsb",
    show_default=True,
    help="ycsb: a replicated PostgreSQL, 10 set-ups; rpc: requests and responses, 3 set-ups, one minute.",
)
@click.option(
    "--deployed", is_flag=True, help="Use the set-ups as deployed, not as the paper describes them."
)
@click.option(
    "--results",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("results"),
    show_default=True,
    help="Folder for results.",
)
@console_option
def command(app: str, deployed: bool, results: Path, in_browser: bool) -> Exit:
    """Show in five minutes what Crosswind does: a real database under ten published network set-ups.

    If PostgreSQL is not installed, its packages are unpacked into a private folder. If that is impossible,
    a request/response load replaces the database.
    """
    from crosswind.cli._finish import finish
    from crosswind.report import write_report_so_far
    from crosswind.report.terminal import shown
    from crosswind.runner import run
    from crosswind.spec import find_experiment
    from crosswind.spec.named_experiment import named_experiment
    from crosswind.stream import Event, Stream

    if deployed and app == "rpc":
        raise CrosswindError("--deployed: rpc has no such set-up; leave out --app rpc")
    require_writable(results, "name a folder that you may write with --results")
    name = _QUICK if app == "rpc" else _with_database(deployed)
    named = named_experiment(name)
    click.echo(f"{name}: {named.resolved.summary}", err=True)
    stream = Stream[Event]()
    page = in_browser_if(in_browser, find_experiment(name), named.resolved, stream)
    with shown(stream), page as steering:
        outcome = run(
            named.resolved,
            named.text,
            named.folder,
            results,
            stream,
            report=write_report_so_far,
            steering=steering,
        )
    status = finish(outcome)
    # Where trials failed or are void, the notes of the run name what to do next.
    if status is Exit.DONE:
        click.echo("next: crosswind init, then crosswind run experiment.yaml")
    return status


def _with_database(deployed: bool) -> str:
    """Return the experiment with the database, or the one without it if it cannot be installed."""
    from crosswind.app import find
    from crosswind.app.requirements import CannotInstall

    try:
        for requirement in find("ycsb").needs("postgresql"):
            if requirement.missing():
                requirement.install(lambda text: click.echo(f"unpacking {text}", err=True))
    except CannotInstall as reason:
        if deployed:
            raise
        click.echo(f"without a database, because: {reason}", err=True)
        return _WITHOUT_DATABASE
    return _DATABASE_DEPLOYED if deployed else _DATABASE
