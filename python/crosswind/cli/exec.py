"""Run a command in a node of the fabric that is up."""

from __future__ import annotations

import os

import click

from crosswind.errors import CrosswindError


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.argument("node")
@click.argument("words", metavar="-- CMD...", nargs=-1, required=True, type=click.UNPROCESSED)
@click.option("--up", "pid", type=int, metavar="PID", help="Process id of `crosswind up`, if several run.")
def command(node: str, words: tuple[str, ...], pid: int | None) -> None:
    """Run a command in a node of the active fabric.

    The command has your terminal and your files, and the node's network and name. Its exit status is
    returned.
    """
    from crosswind.spec.nearest import did_you_mean
    from crosswind.testbed.binaries import AGENT, find_binary
    from crosswind.testbed.control import ask

    # Click leaves the separator in place when everything behind the node is passed on untouched.
    program = words[1:] if words[0] == "--" else words
    if not program:
        raise click.UsageError("no command; write crosswind exec NODE -- CMD")
    nodes = ask({"do": "nodes"}, pid)
    if node not in nodes:
        remedy = did_you_mean(node, list(nodes)) or f"nodes are {', '.join(nodes)}"
        raise CrosswindError(f'node "{node}": not in the fabric that is up; {remedy}')
    agent = str(find_binary(AGENT))
    os.execv(agent, [agent, "enter", str(nodes[node]), "--", *program])
