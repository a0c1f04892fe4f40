"""Bring a fabric up for your own programs, and keep it until told otherwise."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from crosswind.errors import CrosswindError, Exit

if TYPE_CHECKING:
    from crosswind.runner.interruption import Interruption
    from crosswind.testbed import Agent
    from crosswind.testbed.control import ControlServer


@click.command()
@click.argument("file")
@click.option("--condition", help="A condition of FILE or of the catalogue; none when absent.")
def command(file: str, condition: str | None) -> Exit:
    """Bring a fabric up for your own programs, and keep it until told otherwise.

    FILE is an experiment file or the name of one of the catalogue; its topology is used. Prints `ready` when
    the nodes can be used with `crosswind exec`. Ends with Ctrl-C, SIGTERM or the end of its input.
    """
    from crosswind.cli._condition import condition_named
    from crosswind.cli._experiment import named_experiment
    from crosswind.runner.interruption import Interruption
    from crosswind.spec import fabric_of
    from crosswind.testbed import Agent, Fabric, WorkFolder
    from crosswind.testbed.control import ControlServer

    named = named_experiment(file)
    wanted = condition_named(condition or "none", named)
    spec = fabric_of(named.resolved, named.resolved["conditions"][0]["name"])
    spec["nodes"] = [node for node in spec["nodes"] if node["name"] in named.resolved["topology"]["nodes"]]
    spec["condition"] = wanted

    def answer(request: Mapping[str, Any]) -> dict[str, Any]:
        if request["do"] == "nodes":
            return {name: node.pid for name, node in fabric.nodes.items()}
        if request["do"] == "set":
            changed = condition_named(request["condition"], named, Path(request["cwd"]))
            return {"condition": changed["name"], "effective_ns": fabric.set(changed)}
        raise CrosswindError(f"{request['do']!r}: no such request; is this the same version of crosswind?")

    interruption = Interruption()
    with (
        interruption.handling(),
        WorkFolder() as work,
        Agent() as agent,
        Fabric(agent, spec, work.path) as fabric,
        ControlServer(answer) as server,
    ):
        for node in fabric.nodes.values():
            click.echo(f"{node.name} {node.address} on {node.host}", err=True)
        click.echo("ready")
        sys.stdout.flush()
        _serve_until_told(agent, server, interruption)
    return Exit.DONE


def _serve_until_told(agent: Agent, server: ControlServer, interruption: Interruption) -> None:
    """Answer `set` and `exec` until a signal or the end of the input comes.

    Raises: AgentDied, FabricFault: the fabric is gone.
    """
    from crosswind.runner.interruption import Interrupted

    try:
        while True:
            with interruption.allowed():
                ready, _, _ = select.select([sys.stdin, server], [], [], 1.0)
            agent.check()
            if server in ready:
                server.serve_one()
            if sys.stdin in ready and not os.read(sys.stdin.fileno(), 4096):
                return
    except Interrupted:
        return
