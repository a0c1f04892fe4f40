"""A user's compose file: its services on nodes, one of them the load."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from crosswind.app.base import Application, Load, Missing, Stage
from crosswind.app.command.files import copy_files
from crosswind.app.command.measured import NS_PER_S, TAIL_S
from crosswind.app.command.own_load import OwnLoad
from crosswind.app.command.programs import program_missing, program_versions
from crosswind.app.command.readiness import await_ready, command_look, look_for
from crosswind.app.compose.image import Images
from crosswind.app.compose.inside import inside
from crosswind.app.compose.order import start_order
from crosswind.app.compose.parameters import ComposeParameters
from crosswind.app.compose.root import make_root, room_for
from crosswind.app.compose.service import Mount, Service
from crosswind.app.compose.unpack import ImageConfiguration
from crosswind.app.compose.user import account_of
from crosswind.app.server import stop_servers
from crosswind.spec.declared import Figure
from crosswind.spec.node_limits import NodeLimits
from crosswind.testbed.agent import Ended
from crosswind.testbed.errors import TestbedError
from crosswind.testbed.fabric import Bind, Process, Root
from crosswind.testbed.folders import give, give_tree


@dataclass(frozen=True)
class Place:
    """Where a service runs, and as what."""

    command: list[str]
    environment: dict[str, str]
    working_dir: str
    root: Root | None
    account: tuple[int, int] | None = None

    @property
    def folder(self) -> Path:
        """The working folder, as the host sees it."""
        return Path(self.working_dir) if self.root is None else inside(self.root.folder, self.working_dir)


class Compose(Application):
    """The services of a compose file; see README.md beside this file."""

    name = "compose"
    summary = "your own compose file: a node for each service, one of them the load"
    Parameters = ComposeParameters
    parameters: ComposeParameters

    def __init__(self, parameters: ComposeParameters) -> None:
        super().__init__(parameters)
        self._images = Images(parameters.images)
        self._places: dict[str, Place] = {}
        self._running: dict[str, Process] = {}
        self._ready: set[str] = set()

    def figures(self) -> tuple[Figure, ...]:
        return self.parameters.figures()

    @classmethod
    def roles_missing(cls, nodes: Collection[str]) -> list[str]:
        return []

    @classmethod
    def misfits(
        cls, parameters: ComposeParameters, nodes: Collection[str]
    ) -> Iterator[tuple[tuple[str | int, ...], str]]:
        yield from parameters.findings(nodes)

    @classmethod
    def node_limits(cls, parameters: ComposeParameters) -> Mapping[str, NodeLimits]:
        return parameters.node_limits

    def own_missing(self) -> list[Missing]:
        missing = self._images.missing(self._image_names)
        for name, service in self.parameters.services.items():
            missing += [
                Missing(f"service {name}: {mount.source}: not on this machine", "name what is there")
                for mount in service.volumes
                if mount.source.startswith("/") and not Path(mount.source).exists()
            ]
            if service.user is not None and os.geteuid() != 0:
                what = f"service {name}: user {service.user}: without root every process runs as you"
                missing.append(Missing(what, "write sudo in front of crosswind, or leave `user` out"))
            if service.image is None:
                words = _words(service, ImageConfiguration())
                kept = {file.file for file in self.parameters.files}
                if words[0].removeprefix("./") not in kept:
                    missing += program_missing(f"service {name}", words[0], service.environment.get("PATH"))
        return missing

    def own_versions(self) -> dict[str, str]:
        return {
            **{f"image {name}": f"sha256:{self._images.digest(name)}" for name in self._image_names},
            **program_versions(
                (_words(service, ImageConfiguration())[0], service.environment.get("PATH"))
                for service in self.parameters.services.values()
                if service.image is None
            ),
        }

    def is_prepared(self, nodes: Collection[str]) -> bool:
        return all(self._images.is_unpacked(name) for name in self._image_names)

    def prepare(self, stage: Stage) -> None:
        for name in self._image_names:
            self._images.unpack(name, *stage.fabric.application_account)

    def start(self, stage: Stage) -> None:
        self._places, self._running, self._ready = {}, {}, set()
        services, account = self.parameters.services, stage.fabric.application_account
        for folder in ("services", "volumes"):
            (stage.folder / folder).mkdir()
            give(stage.folder / folder, *account)
        copy_files(stage, self.parameters.files, stage.folder / "files")
        for name in start_order(services)[0]:
            for other, dependency in services[name].depends_on.items():
                self._await(stage, other, dependency.condition)
            self._places[name] = self._furnish(stage, name)
            if name != self.parameters.load:
                self._running[name] = self._start(stage, name, name, self._places[name].command)
        for name in self._servers:
            self._await(stage, name, "service_healthy")

    def load(self, stage: Stage) -> Load:
        node, warm_up = self.parameters.load, self.parameters.warm_up_command
        place = self._places[node]
        return OwnLoad(
            self.parameters,
            lambda: self._start(stage, node, node, place.command),
            None if warm_up is None else lambda: self._start(stage, node, "warm-up", warm_up),
            place.folder,
            {"command": place.command},
        )

    def stop(self, stage: Stage) -> None:
        stop_servers(stage, [self._running[name] for name in self._servers])

    @property
    def _image_names(self) -> set[str]:
        return {service.image for service in self.parameters.services.values() if service.image is not None}

    @property
    def _servers(self) -> list[str]:
        """The services that have to stay up, in the order of their start."""
        return [name for name in self._running if name not in self.parameters.one_shots]

    def _start(self, stage: Stage, node: str, name: str, command: list[str]) -> Process:
        place = self._places[node]
        return stage.fabric.start(
            node,
            name,
            command,
            cwd=Path(place.working_dir),
            env=place.environment,
            root=place.root,
            account=place.account,
        )

    def _await(self, stage: Stage, name: str, condition: str) -> None:
        """Wait until a condition of a service holds."""
        process = self._running[name]
        if condition == "service_completed_successfully":
            ended = process.wait(TAIL_S)
            if ended is None:
                raise TestbedError(f"{process}: still running after {TAIL_S:g} s; {process.last_words()}")
            if ended != Ended(0, None):
                raise TestbedError(f"{process}: {ended}; its last words: {process.last_words()}")
        elif condition == "service_healthy" and name not in self._ready:
            start_probe = partial(self._start, stage, name, "probe")
            declared, health = self.parameters.ready.get(name), self.parameters.services[name].healthcheck
            if declared is not None:
                await_ready(
                    process, look_for(stage, process, declared, start_probe), declared.within_ns / NS_PER_S
                )
            if health is not None:
                look = command_look(lambda: start_probe(health.test), health.timeout_ns / NS_PER_S)
                await_ready(process, look, health.patience_ns / NS_PER_S)
            self._ready.add(name)

    def _furnish(self, stage: Stage, name: str) -> Place:
        """Make the root file system of a service, or its folder where it has no image."""
        service = self.parameters.services[name]
        folder = stage.folder / "services" / name
        if service.image is None:
            copy_files(stage, self.parameters.files, folder)
            return Place(
                _words(service, ImageConfiguration()),
                service.environment,
                service.working_dir or str(folder),
                None,
            )
        account = stage.fabric.application_account
        configuration = self._images.configuration(service.image)
        root = make_root(self._images.root(service.image), folder, account)
        working_dir = service.working_dir or configuration.working_dir
        room_for(folder, working_dir, account, is_folder=True)
        binds = tuple(self._bind(stage, folder, mount) for mount in service.volumes)
        user = None if service.user is None else account_of(service.user, folder)
        if user is not None:
            give_tree(folder, *user)
        return Place(
            _words(service, configuration),
            dict(entry.split("=", 1) for entry in configuration.environment) | service.environment,
            working_dir,
            Root(folder, (*root.binds, *binds)),
            user,
        )

    def _bind(self, stage: Stage, root: Path, mount: Mount) -> Bind:
        account = stage.fabric.application_account
        if not mount.is_bind:
            source = stage.folder / "volumes" / mount.source
            target = room_for(root, mount.target, account, is_folder=True)
            if not source.exists():
                # What an image has at this place is what a new volume begins with.
                subprocess.run(["cp", "-a", target, source], check=True)
                # Services that share it may run as different users.
                source.chmod(0o777)
        else:
            kept = stage.folder / "files" / self.parameters.kept_path(mount)
            source = Path(mount.source) if mount.source.startswith("/") else kept
            target = room_for(root, mount.target, account, is_folder=source.is_dir())
        return Bind(source, target, mount.read_only)


def _words(service: Service, configuration: ImageConfiguration) -> list[str]:
    """Return what is executed: an entrypoint of the service takes the place of the image's whole command."""
    if service.entrypoint is not None:
        return [*service.entrypoint, *(service.command or ())]
    command = configuration.command if service.command is None else service.command
    return [*configuration.entrypoint, *command]
