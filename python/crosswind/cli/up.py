"""Bring up a fabric for your own programs, until it is ended."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from crosswind.cli._machine import require_writable
from crosswind.errors import CrosswindError, Exit

if TYPE_CHECKING:
    from crosswind.runner.interruption import Interruption
    from crosswind.testbed import Agent, Files
    from crosswind.testbed.control import ControlServer

# Of what the network draws; two fabrics should not differ without a reason.
SEED = 1


@click.command()
@click.argument("file")
@click.option(
    "--condition", help="Condition: a name in FILE or the catalogue, or a file. Default: the first in FILE."
)
@click.option(
    "--record",
    type=click.Path(path_type=Path),
    help="Record all packets and decisions to a new file, for `crosswind simulate`.",
)
@click.option(
    "--capture",
    type=click.Path(path_type=Path),
    help="Write packets that entered, left or were dropped to a new pcapng file, for Wireshark.",
)
@click.option("--snap", default="128B", show_default=True, help="Bytes stored of each captured frame.")
def command(file: str, condition: str | None, record: Path | None, capture: Path | None, snap: str) -> Exit:
    """Bring up a fabric for your own programs, until it is ended.

    FILE has a topology and may have a condition. An experiment file works, and so does the name of a
    catalogue experiment. It prints `ready` when nodes can be used with `crosswind exec`. It ends with
    Ctrl-C, SIGTERM or the end of its input. A capture ends at 1 GiB; packets beyond that are counted.
    """
    from crosswind.cli._condition import carried_out
    from crosswind.doctor import auto_domains_here
    from crosswind.runner.interruption import Interruption
    from crosswind.spec import (
        condition_for_agent,
        count_of,
        domains_of,
        fabric_of,
        find_experiment,
        limits_of,
        load_setup,
    )
    from crosswind.spec.quantities import SIZE, QuantityError
    from crosswind.testbed import Agent, Fabric, Files, WorkFolder
    from crosswind.testbed.control import ControlServer

    try:
        files = Files(record=record, capture=capture, snap_bytes=SIZE.read_positive(snap))
    except QuantityError as error:
        raise CrosswindError(f"--snap: {error}") from None
    written = {option: path for option, path in (("--record", record), ("--capture", capture)) if path}
    for option, path in written.items():
        require_writable(path, f"name another file with {option}")
    setup = load_setup(find_experiment(file))
    resolved = setup.resolved(SEED)
    declared = count_of(domains_of(resolved, 1))
    for option in written if declared > 1 else ():
        raise CrosswindError(
            f"{option}: needs one domain, and the topology of {file} has {declared}; write domains: 1 there, "
            f"or leave {option} out"
        )
    own = {each["name"]: each for each in resolved["conditions"]}
    resolved["conditions"] = [carried_out(setup.condition(condition or next(iter(setup.conditions))))]
    # Each of its own conditions may be set later.
    settable = {**resolved, "conditions": [*own.values(), *resolved["conditions"]]}
    auto = auto_domains_here(settable, is_written=bool(written))
    spec = fabric_of(resolved, resolved["conditions"][0]["name"], auto_domains=auto)

    def answer(request: Mapping[str, Any]) -> dict[str, Any]:
        # The client reads files and resolves conditions: nothing that it names is opened here.
        if request["do"] == "nodes":
            return {name: node.pid for name, node in fabric.nodes.items()}
        if request["do"] == "network":
            return {"network": setup.network, "conditions": list(own)}
        if request["do"] == "set":
            name = request.get("own")
            changed = request["condition"] if name is None else condition_for_agent(carried_out(own[name]))
            effective_ns = fabric.set(changed)
            fabric.measure()
            return {"condition": changed["name"], "effective_ns": effective_ns}
        raise CrosswindError(f"{request['do']!r}: no such request; is this the same version of crosswind?")

    interruption = Interruption()
    with (
        interruption.handling(),
        WorkFolder() as work,
        Agent() as agent,
        Fabric(agent, spec, work.path, files, limits_of(resolved)) as fabric,
        ControlServer(answer) as server,
    ):
        # A timeline counts from the start of a measurement.
        fabric.measure()
        for node in fabric.nodes.values():
            click.echo(f"{node.name} {node.address} on {node.host}", err=True)
        if fabric.domains < declared:
            click.echo(
                f"{fabric.domains} of {declared} domains: links are cut where their delay is constant and at "
                "least 100us, and this network has no more of these",
                err=True,
            )
        click.echo("ready")
        sys.stdout.flush()
        _serve_until_told(agent, server, interruption)
    return _tell_of_files(files, fabric.kept)


def _tell_of_files(files: Files, kept: Mapping[str, Any]) -> Exit:
    """Say what became of the recording and the capture.

    Raises: CrosswindError: the recording is not whole, and cannot be replayed.
    """
    recording, capture = kept["recording"], kept["capture"]
    if capture is not None:
        text = f"{files.capture}: {capture['packets']} packets"
        if capture["left_out_packets"]:
            why = capture["error"] or "the file is full, or the disk was too slow"
            text += f", and {capture['left_out_packets']} are not in it ({why})"
        click.echo(text, err=True)
    if recording is not None:
        if recording["lost_records"]:
            why = recording["error"] or "the disk was too slow"
            raise CrosswindError(
                f"{files.record}: {recording['lost_records']} records were lost ({why}); "
                "it cannot be replayed; record on a faster disk, or less traffic"
            )
        click.echo(f"{files.record}: {recording['records']} records", err=True)
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
            server.serve()
            if sys.stdin in ready and not os.read(sys.stdin.fileno(), 4096):
                return
    except Interrupted:
        return
