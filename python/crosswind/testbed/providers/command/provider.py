"""The user's own commands as a provider."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext

from crosswind.spec.command_line import is_shell_line
from crosswind.spec.resolved import ResolvedMachine
from crosswind.testbed.errors import NotHere, TestbedError
from crosswind.testbed.providers.base import Found, Order, Provider
from crosswind.testbed.providers.command.parameters import OwnCommandsParameters
from crosswind.testbed.providers.command.printed import read_found, read_machines

TAG, MACHINES, KEY, PUBLIC_KEY = (
    "CROSSWIND_TAG",
    "CROSSWIND_MACHINES",
    "CROSSWIND_KEY",
    "CROSSWIND_PUBLIC_KEY",
)
# Between the request to end and the end of a command that is interrupted.
_END_S = 10.0


class OwnCommands(Provider):
    """Three commands: `up`, `down` and `list`. What they print on standard error goes to the terminal."""

    name = "command"
    summary = "your own commands make and remove the machines"
    Parameters = OwnCommandsParameters
    parameters: OwnCommandsParameters

    def check(self) -> None:
        for key, command in self._commands():
            if not is_shell_line(command) and shutil.which(command[0]) is None:
                raise NotHere(
                    f"testbed.command.{key}: program {command[0]} is not found; write its path, or put it on "
                    "PATH"
                )

    def up(self, order: Order) -> list[ResolvedMachine]:
        env = {
            TAG: order.tag,
            MACHINES: " ".join(machine.name for machine in order.machines),
            KEY: str(order.key),
            PUBLIC_KEY: order.key.with_suffix(".pub").read_text().strip(),
        }
        printed = _run("up", self.parameters.up, env, order)
        return read_machines(printed, order.machines, order.known_hosts)

    def down(self, tag: str) -> None:
        _run("down", self.parameters.down, {TAG: tag})

    def found(self) -> list[Found]:
        return read_found(_run("list", self.parameters.listing, {}))

    def _commands(self) -> Iterator[tuple[str, list[str]]]:
        yield from (
            ("up", self.parameters.up),
            ("down", self.parameters.down),
            ("list", self.parameters.listing),
        )


def _run(key: str, command: Sequence[str], env: Mapping[str, str], order: Order | None = None) -> str:
    """Run a command to its end and return what it printed.

    In a session of its own, it does not get Ctrl-C; it is ended here, with all that it has started.

    Raises: NotHere, TestbedError: it cannot be executed, or fails.
    """
    try:
        child = subprocess.Popen(
            command,
            env=os.environ | env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
        )
    except OSError as error:
        raise NotHere(
            f"testbed.command.{key}: {command[0]} cannot be executed: {error.strerror}; write a command for "
            "this machine"
        ) from None
    with _ended(child), nullcontext() if order is None else order.while_running(child.pid):
        printed, _ = child.communicate()
    if child.returncode != 0:
        raise TestbedError(
            f"testbed.command.{key}: it ended with {_status(child.returncode)}; what it printed above on "
            "standard error says why"
        )
    return printed


@contextmanager
def _ended(child: subprocess.Popen[str]) -> Iterator[None]:
    """End a command that still runs when the block is left, because this process is interrupted."""
    try:
        yield
    finally:
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGTERM)
            try:
                child.wait(_END_S)
            except subprocess.TimeoutExpired:
                os.killpg(child.pid, signal.SIGKILL)
                child.wait()


def _status(returncode: int) -> str:
    return f"status {returncode}" if returncode >= 0 else f"signal {-returncode}"
