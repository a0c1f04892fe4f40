"""List the conditions of the catalogue, or show one."""

from __future__ import annotations

import click

from crosswind.cli._output import print_json


@click.group(invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="Print names and summaries as JSON.")
@click.pass_context
def command(context: click.Context, as_json: bool) -> None:
    """List the conditions of the catalogue, or show one.

    \b
    crosswind conditions                         lists all
    crosswind conditions show icpe23/interference
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
