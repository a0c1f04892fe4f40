"""What measuring tools share: a server on one node, a client on another, a Debian package."""

import math
from collections.abc import Collection, Sequence
from typing import ClassVar

from crosswind.app.base import Application, Load, Stage
from crosswind.app.load import NS_PER_S, WINDOW_LEAD_S
from crosswind.app.requirements import DebianPackages, Program
from crosswind.app.server import stop_servers
from crosswind.app.written import Facts
from crosswind.spec.base import SpecModel
from crosswind.spec.declared import FaultNodes
from crosswind.testbed.errors import TestbedError
from crosswind.testbed.fabric import Process

# For connecting, exchanging results and writing the report over a bad network.
TAIL_S = 30.0


class OutputError(TestbedError):
    """The output of a tool has no result; the message says what it has."""


class PrintedFacts(Facts):
    """The facts of a tool whose result is a text.

    Attributes:
        printed: all that the client printed.
    """

    printed: str


class ClientServer(Application):
    """A tool with a server on the node `server` and a client on the node `client`.

    A subclass names its package, which has a program of the application's name. It starts its servers with
    `_serve`, so that `stop` reports a server that ended during the load.
    """

    tool: ClassVar[DebianPackages]
    ROLES: ClassVar[tuple[str, ...]] = ("server", "client")

    def __init__(self, parameters: SpecModel) -> None:
        super().__init__(parameters)
        self._servers: list[Process] = []

    @classmethod
    def roles_missing(cls, nodes: Collection[str]) -> list[str]:
        return [role for role in cls.ROLES if role not in nodes]

    @classmethod
    def faults_on(cls, parameters: SpecModel, nodes: Collection[str]) -> FaultNodes:
        return FaultNodes(measuring=frozenset({"client"}))

    @classmethod
    def program(cls) -> Program:
        """Return the tool itself.

        Raises: NotHere: it is not on this machine, or was removed.
        """
        return cls.tool.program(cls.name)

    def stop(self, stage: Stage) -> None:
        servers, self._servers = self._servers, []
        stop_servers(stage, servers)

    def _serve(self, stage: Stage, name: str, arguments: Sequence[object]) -> Process:
        """Start a server of the tool; `stop` stops it."""
        program = self.program()
        argv = [program.path, *arguments]
        server = stage.fabric.start("server", name, argv, cwd=stage.folder, env=program.env)
        self._servers.append(server)
        return server


class ToolLoad(Load):
    """A client that warms up and then measures for a fixed time; a subclass reads its output.

    Args:
        warm_up_ns: length of the warm-up.
        duration_ns: length of the measured phase.
    """

    def __init__(self, process: Process, *, warm_up_ns: int, duration_ns: int) -> None:
        self.process = process
        self.longest_s = (warm_up_ns + duration_ns) / NS_PER_S + TAIL_S
        self._warm_up_s = warm_up_ns / NS_PER_S

    def await_measured_phase(self) -> None:
        self.process.wait(max(0.0, self._warm_up_s - WINDOW_LEAD_S))

    def _printed(self) -> str:
        return self.process.printed()


def whole_seconds(tool: str, **lengths_ns: int) -> None:
    """Check that these lengths are whole seconds, which is all that the tool accepts.

    Raises: ValueError: one is not; the message begins like those of pydantic.
    """
    for key, length_ns in lengths_ns.items():
        if length_ns % NS_PER_S:
            nearest = max(1, math.ceil(length_ns / NS_PER_S))
            raise ValueError(
                f"has {key} {length_ns / NS_PER_S:g}s, and {tool} counts in whole seconds; "
                f"write {key}: {nearest}s"
            )


def check_length(tool: str, measured_s: float, asked_s: float) -> None:
    """Check that a tool measured for about as long as requested.

    After its peer was killed or got stuck, iperf3 reports lengths such as the machine's uptime, or a fraction
    of the requested length, in an otherwise normal report. A busy machine adds far less than a fifth.

    Raises: OutputError: it did not.
    """
    if not 0.8 * asked_s <= measured_s <= 1.2 * asked_s + 1:
        raise OutputError(f"{tool}: reports a measurement of {measured_s:g} s; requested were {asked_s:g} s")
