"""Machines of a provider while a block runs: made, reached by ssh, and removed however it ends."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from types import FrameType

from crosswind.errors import CrosswindError
from crosswind.spec.resolved import ResolvedMachine, ResolvedTestbed
from crosswind.testbed.errors import NotHere, TestbedError
from crosswind.testbed.providers.base import Order, Provider
from crosswind.testbed.providers.deployment import Deployment
from crosswind.testbed.providers.find import provider_of
from crosswind.testbed.ssh import SshTransport

# Clouds start a machine in half a minute, and busy ones in five.
READY_S = 600.0
_ASK_S = 20.0
_PAUSE_S = 1.0
_AT_ONCE = 32


@contextmanager
def provided_machines(testbed: ResolvedTestbed) -> Iterator[ResolvedTestbed]:
    """Return the testbed with machines that answer over ssh; one without a provider as it is.

    Leaving the block removes the machines. Where this process is killed, `crosswind cleanup --testbed` does.

    Raises:
        NotHere: the provider cannot make them, or one does not answer; nothing is left.
        TestbedError: something is left; the message says how to remove it.
    """
    if testbed.provider is None:
        yield testbed
        return
    provider = provider_of(testbed.provider)
    provider.check()
    with _ended_by_signals(), Deployment.new() as deployment:
        order = Order(
            tag=deployment.tag,
            machines=tuple(testbed.machines),
            key=deployment.key,
            known_hosts=deployment.known_hosts,
            while_running=deployment.while_running,
        )
        try:
            machines = provider.up(order)
            await_ssh(machines, READY_S)
            yield testbed.model_copy(update={"machines": machines})
        except CrosswindError as error:
            _remove(provider, deployment, f"{error}; ")
            raise
        except BaseException:
            _remove(provider, deployment)
            raise
        _remove(provider, deployment)


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Let SIGTERM, and SIGHUP of a terminal that is closed, end the block as Ctrl-C does.

    By default they end the process at once, and the machines would stay.
    """

    def end(number: int, frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    ours = [
        number for number in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(number) is signal.SIG_DFL
    ]
    for number in ours:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)


def _remove(provider: Provider, deployment: Deployment, before: str = "") -> None:
    """Remove what was made.

    Args:
        before: what went wrong first, for the message where this fails, too.
    """
    try:
        provider.down(deployment.tag)
    except TestbedError as error:
        raise TestbedError(
            f"{before}{error}; machines with the tag {deployment.tag} are left: run `crosswind cleanup "
            "--testbed FILE` with the file that names the provider"
        ) from error
    deployment.forget()


def await_ssh(machines: list[ResolvedMachine], within_s: float) -> None:
    """Wait until every machine runs a command over ssh.

    Raises: NotHere: one does not in time; the message has the last reason.
    """
    deadline = time.monotonic() + within_s
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        list(pool.map(lambda machine: _await_one(machine, deadline, within_s), machines))


def _await_one(machine: ResolvedMachine, deadline: float, within_s: float) -> None:
    transport = SshTransport.of(machine)
    while True:
        try:
            transport.run(":\n", _ASK_S)
        except NotHere as error:
            # A machine that starts refuses connections, then keys, then accounts.
            if time.monotonic() > deadline:
                raise NotHere(f"{error} (not ready {within_s:g} s after it was made)") from None
            time.sleep(_PAUSE_S)
        else:
            return
