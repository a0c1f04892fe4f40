"""Bring a fabric up for your own programs, and keep it until told otherwise."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from crosswind.errors import CrosswindError, Exit

if TYPE_CHECKING:
    from crosswind.runner.interruption import Interruption
    from crosswind.testbed import Agent
    from crosswind.testbed.control import ControlServer

# Of what the network draws; two fabrics should not differ without a reason.
SEED = 1


@click.command()
@click.argument("file")
@click.option(
    "--condition", help="A condition of FILE, of the catalogue, or in a file; FILE's first when absent."
)
def command(file: str, condition: str | None) -> Exit:
    """Bring a fabric up for your own programs, and keep it until told otherwise.

    FILE has a topology and may have a condition; an experiment, or the name of one of the catalogue, will do.
    Prints `ready` when the nodes can be used with `crosswind exec`. Ends with Ctrl-C, SIGTERM or the end of
    its input.
    """
    from crosswind.runner.interruption import Interruption
    from crosswind.spec import condition_for_agent, fabric_of, find_experiment, load_setup
    from crosswind.testbed import Agent, Fabric, WorkFolder
    from crosswind.testbed.control import ControlServer

    setup = load_setup(find_experiment(file))
    resolved = setup.resolved(SEED)
    resolved["conditions"] = [_carried_out(setup.condition(condition or next(iter(setup.conditions))))]
    spec = fabric_of(resolved, resolved["conditions"][0]["name"])

    def answer(request: Mapping[str, Any]) -> dict[str, Any]:
        if request["do"] == "nodes":
            return {name: node.pid for name, node in fabric.nodes.items()}
        if request["do"] == "set":
            changed = _carried_out(setup.condition(request["condition"]))
            effective_ns = fabric.set(condition_for_agent(changed))
            fabric.measure()
            return {"condition": changed["name"], "effective_ns": effective_ns}
        raise CrosswindError(f"{request['do']!r}: no such request; is this the same version of crosswind?")

    interruption = Interruption()
    with (
        interruption.handling(),
        WorkFolder() as work,
        Agent() as agent,
        Fabric(agent, spec, work.path) as fabric,
        ControlServer(answer) as server,
    ):
        # A timeline counts from the start of a measurement.
        fabric.measure()
        for node in fabric.nodes.values():
            click.echo(f"{node.name} {node.address} on {node.host}", err=True)
        click.echo("ready")
        sys.stdout.flush()
        _serve_until_told(agent, server, interruption)
    return Exit.DONE


def _carried_out(condition: dict[str, Any]) -> dict[str, Any]:
    """Return a condition, if the agent alone can carry it out."""
    if any(entry["by"] == "iperf3" for entry in condition["interference"]):
        raise CrosswindError(
            f"condition {condition['name']}: `by: iperf3` is interference that only `crosswind run` starts; "
            "write `by: ghost`, or start iperf3 yourself with `crosswind exec`"
        )
    return condition


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
