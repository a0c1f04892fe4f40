"""Cut nodes of the active fabric off from each other, and pause, kill or restart what runs in them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import click

if TYPE_CHECKING:
    from pydantic import JsonValue

    from crosswind.spec.resolved import Answer

_Command = TypeVar("_Command", bound=Callable[..., object])


@click.group()
def command() -> None:
    """Cut nodes of the active fabric off from each other, and pause, kill or restart what runs in them.

    Names are nodes, hosts, switches or zones. What is under way when a cut begins is lost too. Cuts add up
    until `heal`, and stay when the condition changes. Each command prints the instant from which it holds, in
    ns of CLOCK_MONOTONIC.
    """


def _up(function: _Command) -> _Command:
    option = click.option(
        "--up", "pid", type=int, metavar="PID", help="Process id of `crosswind up`, if several run."
    )
    return option(function)


def _answer(function: _Command) -> _Command:
    option = click.option(
        "--answer",
        type=click.Choice(["silence", "reset"]),
        default="silence",
        show_default=True,
        help="What a sender sees: nothing, or a TCP reset.",
    )
    return option(_up(function))


@command.command("partition")
@click.argument("groups", metavar="'A B | C'")
@_answer
def partition(groups: str, answer: Answer, pid: int | None) -> None:
    """Let no packet cross between groups of nodes: 'db0 db1 | db2'. A node in no group reaches all."""
    _ask("partition", groups, answer, pid)


@command.command("isolate")
@click.argument("nodes", metavar="NODE...", nargs=-1, required=True)
@_answer
def isolate(nodes: tuple[str, ...], answer: Answer, pid: int | None) -> None:
    """Cut each of these nodes off from all others, both ways."""
    _ask("isolate", list(nodes), answer, pid)


@command.command("cut")
@click.argument("ends", metavar="'A -> B'")
@_answer
def cut(ends: str, answer: Answer, pid: int | None) -> None:
    """Cut nodes off one way: 'db0 -> db1'. What db1 sends still reaches db0."""
    _ask("cut", ends, answer, pid)


@command.command("heal")
@_up
def heal(pid: int | None) -> None:
    """End all cuts by hand. Those of a condition's timeline stay."""
    _ask("heal", None, "silence", pid)


@command.command("pause")
@click.argument("nodes", metavar="NODE...", nargs=-1, required=True)
@_up
def pause(nodes: tuple[str, ...], pid: int | None) -> None:
    """Let every process of these nodes stand still (SIGSTOP)."""
    _ask("pause", list(nodes), "silence", pid)


@command.command("resume")
@click.argument("nodes", metavar="NODE...", nargs=-1, required=True)
@_up
def resume(nodes: tuple[str, ...], pid: int | None) -> None:
    """Let paused nodes go on (SIGCONT)."""
    _ask("resume", list(nodes), "silence", pid)


@command.command("kill")
@click.argument("nodes", metavar="NODE...", nargs=-1, required=True)
@_up
def kill(nodes: tuple[str, ...], pid: int | None) -> None:
    """End every process of these nodes at once (SIGKILL). `restart` starts yours again."""
    _ask("kill", list(nodes), "silence", pid)


@command.command("restart")
@click.argument("nodes", metavar="NODE...", nargs=-1, required=True)
@_up
def restart(nodes: tuple[str, ...], pid: int | None) -> None:
    """Kill these nodes, and start again what `crosswind exec` had started there.

    That is what runs now, or ran when the node was killed: the same commands, in the same folders, with the
    same environments. They run beside `up` then: outputs are added to the same files and terminals, and input
    is empty.
    """
    _ask("restart", list(nodes), "silence", pid)


def _ask(kind: str, value: JsonValue, answer: Answer, pid: int | None) -> None:
    from crosswind.testbed.control.client import ask
    from crosswind.testbed.control.messages import FaultDone, Request

    done = ask(Request(do="fault", fault=kind, value=value, answer=answer), FaultDone, pid)
    click.echo(f"{done.words} effective_ns {done.effective_ns}")
