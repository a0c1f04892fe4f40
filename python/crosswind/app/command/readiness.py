"""When a server is ready: a port on which it listens, a text that it writes, or a command that succeeds.

Readiness is observed, without fixed waiting times. Observing a port does not disturb the server: it is looked
up among the sockets of the node, without a connection.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Annotated

from pydantic import AfterValidator, Field, PlainValidator, WithJsonSchema, model_validator

from crosswind.app.base import Stage
from crosswind.spec.base import SpecModel
from crosswind.spec.command_line import CommandLine
from crosswind.spec.quantities import PositiveDuration, QuantityError, shown
from crosswind.testbed.agent import Ended
from crosswind.testbed.bounded import plain
from crosswind.testbed.errors import TestbedError
from crosswind.testbed.fabric import PROBE_INTERVAL_S, Fabric, Process

NS_PER_S = 1_000_000_000
ANYWHERE = ("0.0.0.0", "::")


def _read_port(value: object) -> str:
    number, _, protocol = str(value).partition("/")
    if isinstance(value, bool) or not re.fullmatch(r"[0-9]{1,5}", number) or not 1 <= int(number) <= 65535:
        raise QuantityError(f"{shown(value)} is not a port; write 1 to 65535, such as 8080, or 53/udp")
    if protocol not in ("", "tcp", "udp"):
        raise QuantityError(f"{shown(value)} is neither tcp nor udp; write {number} or {number}/udp")
    return f"{int(number)}/{protocol or 'tcp'}"


def _compiled(pattern: str) -> str:
    try:
        re.compile(pattern)
    except re.error as error:
        raise QuantityError(
            f"{shown(pattern)} is not a regular expression: {error}; see Python's `re`"
        ) from None
    return pattern


Port = Annotated[
    str,
    PlainValidator(_read_port),
    WithJsonSchema({"description": "A port: TCP unless it ends with /udp.", "type": ["integer", "string"]}),
]
Pattern = Annotated[str, AfterValidator(_compiled)]


class Ready(SpecModel):
    """When a server is ready; exactly one of `port`, `regex` and `command`."""

    port: Port | None = Field(None, description="Ready when it listens on this port, such as 8080 or 53/udp.")
    regex: Pattern | None = Field(None, description="Ready when its output or error output matches this.")
    command: CommandLine | None = Field(None, description="Ready when this succeeds on its node.")
    within_ns: PositiveDuration = Field(
        30 * NS_PER_S, alias="within", description="The trial fails if it takes longer; 30s when absent."
    )

    @model_validator(mode="after")
    def _is_one(self) -> Ready:
        if sum(way is not None for way in (self.port, self.regex, self.command)) != 1:
            raise ValueError("needs exactly one of port, regex and command, such as {port: 8080}")
        return self


# Returns None if a server is ready, and otherwise what is still missing.
Look = Callable[[], str | None]


def await_ready(server: Process, look: Look, within_s: float) -> None:
    """Return when a server is ready.

    Raises: TestbedError: it ended, or was not ready within `within_s`; has what was missing, and the end of
        its output.
    """
    deadline = server.now_s() + within_s
    while (lacking := look()) is not None:
        if server.ended is not None:
            how = f"ended before it was ready ({server.ended}); a server must stay in the foreground"
        elif server.now_s() > deadline:
            how = f"not ready after {within_s:g} s"
        else:
            time.sleep(PROBE_INTERVAL_S)
            continue
        raise TestbedError(f"{server}: {how}; {lacking}; end of its output: {server.last_words()}")


def port_look(fabric: Fabric, node: str, port: str) -> Look:
    """Look for a socket on a port of the node that other nodes can reach."""
    number, _, protocol = port.partition("/")

    def look() -> str | None:
        addresses = {
            listener.address
            for listener in fabric.listeners(node)
            if (listener.protocol, listener.port) == (protocol, int(number))
        }
        if not addresses:
            return f"nothing listens on port {port}"
        if addresses & {*ANYWHERE, fabric.nodes[node].address}:
            return None
        return (
            f"port {port} is open only on {plain(', '.join(sorted(addresses)))}, where no other node can "
            "reach it; make it listen on 0.0.0.0"
        )

    return look


def regex_look(server: Process, pattern: str) -> Look:
    """Look for a text in the output of a server."""
    compiled = re.compile(pattern, re.MULTILINE)

    def look() -> str | None:
        for written in (server.printed(), server.complained()):
            if compiled.search(written):
                return None
        return f"it has not written {shown(pattern)}"

    return look


def command_look(start: Callable[[], Process], timeout_s: float) -> Look:
    """Run a command, which `start` starts, for at most `timeout_s`."""

    def look() -> str | None:
        probe = start()
        ended = probe.wait(timeout_s)
        if ended is None:
            probe.stop(0)
            return f"its probe did not end within {timeout_s:g} s"
        return None if ended == Ended(0, None) else f"its probe ends with {ended}: {probe.last_words()}"

    return look


def look_for(
    stage: Stage, server: Process, ready: Ready, start_probe: Callable[[list[str]], Process]
) -> Look:
    """Return the look that `ready` describes; `start_probe` starts a command on the server's node."""
    if ready.port is not None:
        return port_look(stage.fabric, server.node, ready.port)
    if ready.regex is not None:
        return regex_look(server, ready.regex)
    assert ready.command is not None
    command = ready.command
    return command_look(lambda: start_probe(command), ready.within_ns / NS_PER_S)
