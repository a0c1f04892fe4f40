"""Run a command in a node of the active fabric."""

from __future__ import annotations

import os

import click


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.argument("node")
@click.argument("words", metavar="-- CMD...", nargs=-1, required=True, type=click.UNPROCESSED)
@click.option("--up", "pid", type=int, metavar="PID", help="Process id of `crosswind up`, if several run.")
def command(node: str, words: tuple[str, ...], pid: int | None) -> None:
    """Run a command in a node of the active fabric.

    The command has your terminal and your files, and the node's network and name. Its exit status is
    returned.
    """
    from crosswind.testbed.control.client import ask
    from crosswind.testbed.control.messages import NodePids, Request
    from crosswind.testbed.enter import require_node, words_to_enter

    # Click does not remove the separator, because all words after the node are passed on unchanged.
    program = words[1:] if words[0] == "--" else words
    if not program:
        raise click.UsageError("no command; write crosswind exec NODE -- CMD")
    nodes = ask(Request(do="nodes", node=node), NodePids, pid).root
    require_node(node, nodes)
    entering = words_to_enter(nodes[node])
    os.execv(entering[0], [*entering, *program])
