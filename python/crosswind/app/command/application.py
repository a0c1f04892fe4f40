"""A user's own application: a command on each node, one of which is the load."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import partial

from pydantic import Field

from crosswind.app.base import Application, Load, Missing, Stage
from crosswind.app.command.files import copy_files
from crosswind.app.command.measured import NS_PER_S, MeasuredParameters
from crosswind.app.command.own_load import OwnLoad
from crosswind.app.command.programs import program_missing, program_versions
from crosswind.app.command.readiness import await_ready, look_for
from crosswind.app.command.role import Role
from crosswind.app.command.variables import ADDRESS, DURATION, FOLDER, SEED, filled, variable_findings
from crosswind.app.server import stop_servers
from crosswind.spec.command_line import is_shell_line
from crosswind.spec.declared import FaultNodes, Figure
from crosswind.testbed.fabric import Process
from crosswind.text.nearest import did_you_mean


class CommandParameters(MeasuredParameters):
    """The commands of an application by role, and its metrics."""

    load: str = Field(description="The role that is the load: its end ends the measured phase.")
    roles: dict[str, Role] = Field(
        min_length=1,
        description="By the name of the node. Servers start in this order, one when the other is ready.",
    )


class Command(Application):
    """Commands of the experiment file; see README.md beside this file."""

    name = "command"
    summary = "your own application: a command on each node, one of them the load"
    Parameters = CommandParameters
    uncounted = "the time until your servers are ready, in each trial"
    parameters: CommandParameters

    def __init__(self, parameters: CommandParameters) -> None:
        super().__init__(parameters)
        self._servers: list[Process] = []

    def figures(self) -> tuple[Figure, ...]:
        return self.parameters.figures()

    @classmethod
    def roles_missing(cls, nodes: Collection[str]) -> list[str]:
        return []

    @classmethod
    def faults_on(cls, parameters: CommandParameters, nodes: Collection[str]) -> FaultNodes:
        servers = frozenset(parameters.roles) - {parameters.load}
        return FaultNodes(servers, frozenset({parameters.load}), servers)

    @classmethod
    def misfits(
        cls, parameters: CommandParameters, nodes: Collection[str]
    ) -> Iterator[tuple[tuple[str | int, ...], str]]:
        yield from parameters.part_findings(parameters.load, parameters.roles, "role")
        yield from parameters.metric_findings()
        yield from _variables_in(("warm_up_command",), parameters.warm_up_command or (), parameters, nodes)
        for name, role in parameters.roles.items():
            place = ("roles", name)
            if name not in nodes:
                meant = did_you_mean(name, nodes) or f"nodes are {', '.join(nodes)}"
                yield place, f"is not the name of a node; {meant}"
            if role.ready is None and name != parameters.load:
                yield place, "has no `ready`; write when it is ready, such as ready: {port: 8080}"
            if role.ready is not None and name == parameters.load:
                yield (*place, "ready"), "is for servers, but this role is the load; leave it out"
            yield from _variables_in((*place, "command"), role.command, parameters, nodes)
            for variable, text in role.environment.items():
                yield from _variables_in((*place, "environment", variable), [text], parameters, nodes)
            if role.ready is not None and role.ready.command is not None:
                yield from _variables_in((*place, "ready", "command"), role.ready.command, parameters, nodes)

    def own_missing(self) -> list[Missing]:
        return [
            missing
            for name, role in self.parameters.roles.items()
            if not is_shell_line(role.command)
            for missing in program_missing(f"role {name}", role.command[0], role.environment.get("PATH"))
            if role.command[0].removeprefix("./") not in {file.file for file in role.files}
        ]

    def own_versions(self) -> dict[str, str]:
        return program_versions(
            (role.command[0], role.environment.get("PATH"))
            for role in self.parameters.roles.values()
            if not is_shell_line(role.command)
        )

    def start(self, stage: Stage) -> None:
        self._servers = []
        for name, role in self.parameters.roles.items():
            copy_files(stage, role.files, stage.folder / name)
            if role.ready is None:
                continue
            server = self._start(stage, name, name, role.command)
            self._servers.append(server)
            look = look_for(stage, server, role.ready, partial(self._start, stage, name, "probe"))
            await_ready(server, look, role.ready.within_ns / NS_PER_S)

    def load(self, stage: Stage) -> Load:
        asked, node = self.parameters, self.parameters.load
        command = asked.roles[node].command
        warm_up = asked.warm_up_command
        return OwnLoad(
            asked,
            lambda: self._start(stage, node, node, command),
            None if warm_up is None else lambda: self._start(stage, node, "warm-up", warm_up),
            stage.folder / node,
            self._words(stage, node, command),
        )

    def restart(self, stage: Stage, node: str) -> None:
        self._servers.append(self._start(stage, node, node, self.parameters.roles[node].command))

    def stop(self, stage: Stage) -> None:
        stop_servers(stage, self._servers)

    def _start(self, stage: Stage, node: str, name: str, command: list[str]) -> Process:
        """Start a command with its variables filled in; `name` is its name in logs and errors."""
        role = self.parameters.roles[node]
        environment = {key: self._fill(stage, node, text) for key, text in role.environment.items()}
        return stage.fabric.start(
            node, name, self._words(stage, node, command), cwd=stage.folder / node, env=environment
        )

    def _words(self, stage: Stage, node: str, command: list[str]) -> list[str]:
        return [self._fill(stage, node, word) for word in command]

    def _fill(self, stage: Stage, node: str, text: str) -> str:
        values = {
            SEED: str(stage.seed),
            FOLDER: str(stage.folder / node),
            DURATION: f"{(self.parameters.duration_ns or 0) / NS_PER_S:g}",
        }
        nodes = stage.fabric.nodes
        return filled(text, lambda name, of: nodes[of or ""].address if name == ADDRESS else values[name])


def _variables_in(
    place: tuple[str, ...], words: Collection[str], parameters: CommandParameters, nodes: Collection[str]
) -> Iterator[tuple[tuple[str | int, ...], str]]:
    for word in words:
        for message in variable_findings(word, nodes, has_duration=parameters.duration_ns is not None):
            yield place, message
