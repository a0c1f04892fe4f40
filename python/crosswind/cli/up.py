"""Bring up a fabric for your own programs, until it is stopped."""

from __future__ import annotations

import os
import select
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from crosswind.cli._dilation import dilation_option
from crosswind.cli._machine import require_writable
from crosswind.cli._metrics import metrics_option
from crosswind.errors import CrosswindError, Exit

if TYPE_CHECKING:
    from pydantic import BaseModel

    from crosswind.api.fabric import Fabric, Written
    from crosswind.runner.interruption import Interruption
    from crosswind.testbed.control.server import ControlServer


@click.command()
@click.argument("file")
@click.option(
    "--condition", help="Condition: a name in FILE or the catalogue, or a file. Default: the first in FILE."
)
@dilation_option
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
@click.option(
    "--console", is_flag=True, help="Show the network live in the browser, and change its condition there."
)
@metrics_option
def command(
    file: str,
    condition: str | None,
    dilation: int | None,
    record: Path | None,
    capture: Path | None,
    snap: str,
    console: bool,
    metrics: int | None,
) -> Exit:
    """Bring up a fabric for your own programs, until it is stopped.

    FILE has a topology and may have a condition. An experiment file works, and so does the name of a
    catalogue experiment. It prints `ready` when nodes can be used with `crosswind exec`. It ends with
    Ctrl-C, SIGTERM or the end of its input. A capture ends at 1 GiB; packets beyond that are counted.
    With --dilation, programs that `crosswind exec` starts are slowed down, too.
    With --console it prints the address of a page, and with --metrics that of metrics; only this machine can
    open them.
    """
    from crosswind.api.fabric import Fabric
    from crosswind.console import Console
    from crosswind.runner.interruption import Interruption
    from crosswind.spec.resolved import slower_text
    from crosswind.testbed.control import messages
    from crosswind.testbed.control.server import AnyRequest, ControlServer

    for option, path in (("--record", record), ("--capture", capture)):
        if path is not None:
            require_writable(path, f"name another file with {option}")
    net = Fabric(file, condition=condition, dilation=dilation, record=record, capture=capture, snap=snap)

    def answer(request: AnyRequest) -> BaseModel:
        # The client reads files and resolves conditions, so no file that it names is opened here.
        match request:
            case AnyRequest(do="nodes", node=node):
                if node is not None and node in net.nodes:
                    net.entered(node)
                return messages.NodePids({name: node.pid for name, node in net.nodes.items()})
            case AnyRequest(do="network"):
                return messages.NetworkUp(network=dict(net.network), conditions=net.conditions)
            case AnyRequest(do="set", condition=condition) if condition is not None:
                return messages.ConditionChanged(condition=condition.name, effective_ns=net.apply(condition))
            case AnyRequest(do="set", own=own) if own in net.conditions:
                return messages.ConditionChanged(condition=own, effective_ns=net.set(own))
            case AnyRequest(do="fault", fault="heal"):
                return messages.FaultDone(words="heal", effective_ns=net.heal())
            case AnyRequest(
                do="fault",
                fault=("partition" | "isolate" | "cut" | "pause" | "resume" | "kill" | "restart") as fault,
            ):
                done = net.fault(fault, request.value, request.answer)
                return messages.FaultDone(words=done.words, effective_ns=done.effective_ns)
        raise CrosswindError(f"{request.do!r}: no such request; is this the same version of crosswind?")

    interruption = Interruption()
    with interruption.handling(), net, ControlServer(answer) as server, ExitStack() as shown:
        for each in net.nodes.values():
            click.echo(f"{each.name} {each.address} on {each.host}", err=True)
        if net.domains < net.declared_domains:
            click.echo(
                f"{net.domains} of {net.declared_domains} domains: they are divided at links with a constant "
                "delay of at least 100us, and this network has no more of these",
                err=True,
            )
        if slower := slower_text([net.dilation]):
            click.echo(slower, err=True)
        if console:
            click.echo(f"console: {shown.enter_context(Console(net)).url}", err=True)
        if metrics is not None:
            from crosswind.telemetry import Metrics

            served = shown.enter_context(Metrics(net.graph, net.events(), metrics))
            click.echo(f"metrics: {served.url}", err=True)
        click.echo("ready")
        sys.stdout.flush()
        _serve_until_stopped(net, server, interruption)
    return _print_files(net.recording, net.capture)


def _print_files(recording: Written | None, capture: Written | None) -> Exit:
    """Print the state of the recording and of the capture.

    Raises: CrosswindError: the recording is incomplete and cannot be replayed.
    """
    if capture is not None:
        text = f"{capture.path}: {capture.entries} packets"
        if capture.left_out:
            why = capture.error or "the file is full, or the disk was too slow"
            text += f", and {capture.left_out} are not in it ({why})"
        click.echo(text, err=True)
    if recording is not None:
        if recording.left_out:
            why = recording.error or "the disk was too slow"
            raise CrosswindError(
                f"{recording.path}: {recording.left_out} records were lost ({why}); "
                "it cannot be replayed; record on a faster disk, or with less traffic"
            )
        click.echo(f"{recording.path}: {recording.entries} records", err=True)
    return Exit.DONE


def _serve_until_stopped(net: Fabric, server: ControlServer, interruption: Interruption) -> None:
    """Answer `set`, `fault` and `exec` until a signal or the end of the input.

    Raises: AgentDied, FabricFault: the fabric has failed.
    """
    from crosswind.runner.interruption import Interrupted

    try:
        while True:
            with interruption.allowed():
                ready, _, _ = select.select([sys.stdin, server], [], [], 1.0)
            net.check()
            server.serve()
            if sys.stdin in ready and not os.read(sys.stdin.fileno(), 4096):
                # A shell gives an empty input to what it starts with `&` in a script.
                click.echo("ended: its input ended", err=True)
                return
    except Interrupted:
        return
