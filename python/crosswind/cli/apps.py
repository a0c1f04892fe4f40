"""List the applications: which are ready here, and how to install what the others miss."""

from __future__ import annotations

from typing import Any

import click

from crosswind.cli._output import print_json
from crosswind.errors import CrosswindError


@click.group(invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="Print the list as JSON.")
@click.pass_context
def command(context: click.Context, as_json: bool) -> None:
    """List the applications: which are ready here, and how to install what the others miss."""
    if context.invoked_subcommand is not None:
        return
    entries = _entries()
    if as_json:
        print_json(entries)
        return
    for entry in entries:
        state = "ready" if entry["ready"] else "not ready"
        click.echo(f"{entry['name']:8} {state:10} {entry['summary']}")
        for missing in entry["missing"]:
            click.echo(f"{'':8} {missing['what']}")
            click.echo(f"{'':8} install it with: {missing['install']}")


@command.command()
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
def install(names: tuple[str, ...]) -> None:
    """Unpack what each NAME needs from Debian packages into a private folder.

    Nothing is installed system-wide and no root is needed. NAME is an application or a tool of the list.
    """
    for name in names:
        _install(name)


def _install(name: str) -> None:
    from crosswind.app import find, names
    from crosswind.app.packages import PACKAGES, find_program, unpack

    if name in names():
        application = find(name)
        sets = application.packages if application.missing() else ()
    elif name in PACKAGES:
        sets = () if find_program(name) else (name,)
    else:
        raise CrosswindError(f'"{name}": no such application or tool; `crosswind apps` lists them')
    for packages in sets:
        unpack(packages, click.echo)
    still = find(name).missing() if name in names() else []
    for missing in still:
        raise CrosswindError(f"{missing.what}; install it with: {missing.install}")
    click.echo(f"{name}: ready")


def _entries() -> list[dict[str, Any]]:
    from crosswind.app import find, names
    from crosswind.app.packages import find_program

    entries = []
    for name in names():
        application = find(name)
        missing = [{"what": item.what, "install": item.install} for item in application.missing()]
        entries.append(
            {"name": name, "summary": application.summary, "ready": not missing, "missing": missing}
        )
    missing = (
        [] if find_program("iperf3") else [{"what": "iperf3", "install": "crosswind apps install iperf3"}]
    )
    summary = "real interference in any experiment (`by: iperf3`)"
    entries.append({"name": "iperf3", "summary": summary, "ready": not missing, "missing": missing})
    return entries
