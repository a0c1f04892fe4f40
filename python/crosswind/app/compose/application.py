"""A user's compose file: its services on nodes, and a load, which is a service or a separate command."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from crosswind.app.base import Application, Load, Missing, Stage
from crosswind.app.command.files import copy_files
from crosswind.app.command.measured import NS_PER_S, TAIL_S
from crosswind.app.command.own_load import OwnLoad
from crosswind.app.command.programs import SEARCH_PATH, program_missing, program_versions
from crosswind.app.command.readiness import Look, command_look, look_for
from crosswind.app.command.variables import ADDRESS, DURATION, FOLDER, SEED, filled
from crosswind.app.compose.hosts import hosts_file
from crosswind.app.compose.image import Images
from crosswind.app.compose.inside import inside
from crosswind.app.compose.mounts import MountMaker, size_of, too_large
from crosswind.app.compose.order import start_order
from crosswind.app.compose.outside import OutsideLoad
from crosswind.app.compose.parameters import ComposeParameters, node_names
from crosswind.app.compose.readiness import WITHIN_S, await_service, listening_look
from crosswind.app.compose.root import make_root, room_for
from crosswind.app.compose.service import Service
from crosswind.app.compose.unpack import ImageConfiguration
from crosswind.app.compose.user import account_of
from crosswind.app.requirements import Requirement
from crosswind.app.server import stop_servers
from crosswind.spec.command_line import is_shell_line
from crosswind.spec.declared import FaultNodes, Figure
from crosswind.spec.document import Document
from crosswind.spec.node_limits import NodeLimits
from crosswind.testbed.agent import Ended
from crosswind.testbed.errors import TestbedError
from crosswind.testbed.fabric import Bind, Process, Root
from crosswind.testbed.folders import give, give_tree

_NAMES = "/etc/hosts"
_OWN_NAME = "/etc/hostname"


@dataclass(frozen=True)
class ExecutionContext:
    """Where the processes of a node run, and under which account."""

    command: list[str]
    environment: dict[str, str]
    working_dir: str
    root: Root | None
    account: tuple[int, int] | None = None

    @property
    def folder(self) -> Path:
        """The path of the working folder on the host."""
        return Path(self.working_dir) if self.root is None else inside(self.root.folder, self.working_dir)


class Compose(Application):
    """The services of a compose file; see README.md beside this file."""

    name = "compose"
    summary = "your own compose file: a node for each service; the load is one of them, or a command"
    Parameters = ComposeParameters
    uncounted = "the time until your services are ready, in each trial"
    brings_nodes = True
    parameters: ComposeParameters

    def needs_one_machine(self) -> str | None:
        for name, service in self.parameters.services.items():
            if service.own_image is not None:
                return (
                    f"the image of {name} is unpacked on this machine; write `x-crosswind: {{command: ...}}` "
                    "with a program of the machines"
                )
        return None

    def __init__(self, parameters: ComposeParameters) -> None:
        super().__init__(parameters)
        builds = {
            service.image: service.build
            for service in parameters.services.values()
            if service.own_image is not None and service.image is not None and service.build is not None
        }
        self._images = Images(parameters.images, builds)
        self._contexts: dict[str, ExecutionContext] = {}
        self._running: dict[str, Process] = {}
        self._ready: set[str] = set()

    def figures(self) -> tuple[Figure, ...]:
        return self.parameters.figures()

    @classmethod
    def roles_missing(cls, nodes: Collection[str]) -> list[str]:
        return []

    @classmethod
    def faults_on(cls, parameters: ComposeParameters, nodes: Collection[str]) -> FaultNodes:
        if parameters.file.says is None:  # It cannot be read, which is reported where it is named.
            return FaultNodes()
        # A service whose end others wait for has no process left when the load begins.
        running = {node for node, name in parameters.nodes.items() if name not in parameters.one_shots}
        return FaultNodes(frozenset(running - {parameters.load_node}), frozenset({parameters.load_node}))

    @classmethod
    def misfits(
        cls, parameters: ComposeParameters, nodes: Collection[str]
    ) -> Iterator[tuple[tuple[str | int, ...], str]]:
        yield from parameters.findings(nodes)

    @classmethod
    def own_nodes(cls, raw: object, document: Document) -> list[str]:
        return node_names(raw, document.named_file, document.files_below)

    @classmethod
    def node_limits(cls, parameters: ComposeParameters) -> Mapping[str, NodeLimits]:
        return parameters.node_limits

    def remarks(self) -> list[str]:
        return self.parameters.says.notes

    def notes(self) -> list[str]:
        says = self.parameters.says
        return [*says.notes, *self._readiness_notes(), *says.without_effect]

    def own_requirements(self) -> list[Requirement]:
        found = (
            service.on_host.requirement for service in self.parameters.services.values() if service.on_host
        )
        return list(dict.fromkeys(requirement for requirement in found if requirement is not None))

    def own_missing(self) -> list[Missing]:
        missing = self._images.missing(self._image_names)
        install = "crosswind apps install FILE (this experiment file)"
        missing += [
            Missing(what, requirement.remedy(install), tuple(requirement.commands()))
            for requirement in self.own_requirements()
            for what in requirement.missing()
        ]
        for name, service in self.parameters.services.items():
            if service.own_image is None:
                missing += self._program_missing(name, service)
                continue
            missing += [
                Missing(f"service {name}: {mount.source}: not on this machine", "name a path that exists")
                for mount in service.mounts
                if mount.kind == "host" and mount.read_only and not Path(mount.source).exists()
            ]
            for mount in service.mounts:
                if mount.kind == "host" and not mount.read_only and too_large(size_of(Path(mount.source))):
                    what = f"service {name}: {mount.source}: is too large to be copied for each trial"
                    missing.append(Missing(what, "append :ro, or bind a smaller part of it"))
            if service.user is not None and os.geteuid() != 0:
                what = f"service {name}: user {service.user}: without root, every process runs as you"
                missing.append(Missing(what, "write sudo in front of crosswind, or leave `user` out"))
        load = self.parameters.load
        if isinstance(load, OutsideLoad):
            kept = {file.file for file in load.files}
            if not is_shell_line(load.command) and load.command[0].removeprefix("./") not in kept:
                missing += program_missing("the load", load.command[0], load.environment.get("PATH"))
        return missing

    def own_versions(self) -> dict[str, str]:
        programs = [
            (self._words(service, ImageConfiguration())[0], service.environment.get("PATH"))
            for service in self.parameters.services.values()
            if service.own_image is None and (service.on_host is None or service.on_host.requirement is None)
        ]
        load = self.parameters.load
        if isinstance(load, OutsideLoad) and not is_shell_line(load.command):
            programs.append((load.command[0], load.environment.get("PATH")))
        found = {f"image {name}": self._images.identity(name) for name in self._image_names}
        for requirement in self.own_requirements():
            found |= requirement.versions()
        return {**found, **program_versions(programs)}

    def is_prepared(self, nodes: Collection[str]) -> bool:
        return all(self._images.is_unpacked(name) for name in self._image_names)

    def prepare(self, stage: Stage) -> None:
        for name in sorted(self._image_names):
            self._images.unpack(name, *stage.fabric.application_account, stage.files)

    def start(self, stage: Stage) -> None:
        self._contexts, self._running, self._ready = {}, {}, set()
        account = stage.fabric.application_account
        services, load = self.parameters.services, self.parameters.load
        (stage.folder / "services").mkdir()
        give(stage.folder / "services", *account)
        mounts = MountMaker(stage, services.values())
        for name in start_order(services)[0]:
            for other, dependency in services[name].depends_on.items():
                for node in self._nodes(other):
                    self._await(stage, node, dependency.condition)
            for node in self._nodes(name):
                self._contexts[node] = self._furnish(stage, mounts, name, node)
                if name != load:
                    self._running[node] = self._start(stage, node, node, self._contexts[node].command)
        if isinstance(load, OutsideLoad):
            self._contexts[load.node] = self._furnish_outside(stage, load)
        for node in self._servers:
            self._await(stage, node, "service_healthy")

    def load(self, stage: Stage) -> Load:
        node, warm_up = self.parameters.load_node, self.parameters.warm_up_command
        context = self._contexts[node]
        if warm_up is not None and isinstance(self.parameters.load, OutsideLoad):
            warm_up = [self._fill(stage, node, word) for word in warm_up]
        return OwnLoad(
            self.parameters,
            lambda: self._start(stage, node, node, context.command),
            None if warm_up is None else lambda: self._start(stage, node, "warm-up", warm_up),
            context.folder,
            context.command,
        )

    def restart(self, stage: Stage, node: str) -> None:
        self._running[node] = self._start(stage, node, node, self._contexts[node].command)

    def stop(self, stage: Stage) -> None:
        stop_servers(stage, [self._running[node] for node in self._servers])

    @property
    def _image_names(self) -> set[str]:
        found = (service.own_image for service in self.parameters.services.values())
        return {image for image in found if image is not None}

    @property
    def _servers(self) -> list[str]:
        """The nodes whose services must stay up, in the order of their start."""
        of, one_shots = self.parameters.nodes, self.parameters.one_shots
        return [node for node in self._running if of[node] not in one_shots]

    def _nodes(self, name: str) -> list[str]:
        return [node for node, service in self.parameters.nodes.items() if service == name]

    def _readiness_notes(self) -> list[str]:
        """Return a note on services that count as ready when they listen, for lack of other information."""
        asked = self.parameters
        found = [
            f"{name} ({', '.join(service.ports) or 'any port'})"
            for name, service in asked.services.items()
            if name not in asked.ready
            and service.healthcheck is None
            and name not in asked.one_shots
            and name != asked.load
        ]
        if not found:
            return []
        return [f"ready when they listen, without a healthcheck or `ready`: {', '.join(found)}"]

    def _program_missing(self, name: str, service: Service) -> list[Missing]:
        program = self._words(service, ImageConfiguration())[0]
        kept = {file.file for file in self.parameters.files}
        is_installed = service.on_host is not None and service.on_host.requirement is not None
        if is_installed or program.removeprefix("./") in kept:
            return []
        return program_missing(f"service {name}", program, service.environment.get("PATH"))

    def _start(self, stage: Stage, node: str, name: str, command: list[str]) -> Process:
        context = self._contexts[node]
        return stage.fabric.start(
            node,
            name,
            command,
            cwd=Path(context.working_dir),
            env=context.environment,
            root=context.root,
            account=context.account,
        )

    def _await(self, stage: Stage, node: str, condition: str) -> None:
        """Wait until the service on a node fulfils a condition."""
        process, name = self._running[node], self.parameters.nodes[node]
        if condition == "service_completed_successfully":
            ended = process.wait(TAIL_S)
            if ended is None:
                raise TestbedError(f"{process}: still running after {TAIL_S:g} s; {process.last_words()}")
            if ended != Ended(0, None):
                raise TestbedError(f"{process}: {ended}; end of its output: {process.last_words()}")
        elif condition == "service_healthy" and node not in self._ready:
            look, within_s = self._look(stage, node)
            self._running[node] = await_service(
                process,
                look,
                within_s,
                self.parameters.services[name].restart,
                lambda: self._start(stage, node, node, self._contexts[node].command),
            )
            self._ready.add(node)

    def _look(self, stage: Stage, node: str) -> tuple[Look, float]:
        """Return the check for readiness of the service on a node, and its time limit, s."""
        name = self.parameters.nodes[node]
        service = self.parameters.services[name]
        start_probe = partial(self._start, stage, node, "probe")
        declared, health = self.parameters.ready.get(name), service.healthcheck
        if declared is not None:
            look = look_for(stage, self._running[node], declared, start_probe)
            return look, declared.within_ns / NS_PER_S
        if health is not None:
            look = command_look(lambda: start_probe(health.test), health.timeout_ns / NS_PER_S)
            return look, health.patience_ns / NS_PER_S
        return listening_look(stage.fabric, node, service.ports), WITHIN_S

    def _furnish(self, stage: Stage, mounts: MountMaker, name: str, node: str) -> ExecutionContext:
        """Make the root file system of a node, or its folder if it uses the files of the host."""
        service = self.parameters.services[name]
        folder = stage.folder / "services" / node
        if service.own_image is None:
            copy_files(stage, self.parameters.files, folder)
            return self._on_host(service, folder)
        account = stage.fabric.application_account
        configuration = self._images.configuration(service.own_image)
        root = make_root(self._images.root(service.own_image), folder, account)
        working_dir = service.working_dir or configuration.working_dir
        room_for(folder, working_dir, account, is_folder=True)
        binds = mounts.binds(node, folder, service.mounts)
        names = self._names(stage, name, node, folder)
        user = None if service.user is None else account_of(service.user, folder)
        if user is not None:
            give_tree(folder, *user)
        named = {bind.to for bind in names}
        own = tuple(bind for bind in root.binds if bind.to not in named)
        return ExecutionContext(
            self._words(service, configuration),
            dict(entry.split("=", 1) for entry in configuration.environment) | service.environment,
            working_dir,
            Root(folder, (*own, *names, *binds), service.hostname),
            user,
        )

    def _names(self, stage: Stage, name: str, node: str, folder: Path) -> tuple[Bind, ...]:
        """Return the files with the names of other nodes and of the service itself."""
        services = self.parameters.services
        addresses = {each: found.address for each, found in stage.fabric.nodes.items()}
        texts = {_NAMES: hosts_file(name, node, services, addresses)}
        if services[name].hostname is not None:
            texts[_OWN_NAME] = f"{services[name].hostname}\n"
        binds = []
        for path, text in texts.items():
            source = stage.folder / "services" / f"{node}.{Path(path).name}"
            source.write_text(text)
            source.chmod(0o644)
            to = room_for(folder, path, stage.fabric.application_account, is_folder=False)
            binds.append(Bind(source, to, read_only=False))
        return tuple(binds)

    def _on_host(self, service: Service, folder: Path) -> ExecutionContext:
        environment, working_dir = dict(service.environment), str(folder)
        command = self._words(service, ImageConfiguration())
        if service.on_host is None:
            working_dir = service.working_dir or working_dir
        elif (program := service.on_host.program()) is not None:
            command = [str(program.path), *command[1:]]
            path = environment.get("PATH", SEARCH_PATH)
            # A healthcheck may use other programs of the package.
            environment = {**program.env, **environment, "PATH": f"{program.path.parent}:{path}"}
        return ExecutionContext(command, environment, working_dir, None)

    def _furnish_outside(self, stage: Stage, load: OutsideLoad) -> ExecutionContext:
        folder = stage.folder / "services" / load.node
        copy_files(stage, load.files, folder)
        command = [self._fill(stage, load.node, word) for word in load.command]
        environment = {name: self._fill(stage, load.node, text) for name, text in load.environment.items()}
        return ExecutionContext(command, environment, str(folder), None)

    def _fill(self, stage: Stage, node: str, text: str) -> str:
        values = {
            SEED: str(stage.seed),
            FOLDER: str(stage.folder / "services" / node),
            DURATION: f"{(self.parameters.duration_ns or 0) / NS_PER_S:g}",
        }
        nodes = stage.fabric.nodes
        return filled(text, lambda name, of: nodes[of or ""].address if name == ADDRESS else values[name])

    def _words(self, service: Service, configuration: ImageConfiguration) -> list[str]:
        """Return the words to execute; an entrypoint of the service replaces the image's whole command."""
        if service.on_host is not None:
            return service.on_host.command
        if service.entrypoint is not None:
            return [*service.entrypoint, *(service.command or ())]
        command = configuration.command if service.command is None else service.command
        return [*configuration.entrypoint, *command]
