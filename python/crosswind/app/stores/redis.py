"""Redis: a primary (db0) and replicas that follow it asynchronously.

Records are loaded once and saved as an RDB file. In every trial, the primary loads that file and each replica
copies everything from the primary, before the condition is applied. A trial writes nothing to disk, because a
snapshot or a rewrite of the log would happen during some trials and not during others.

`durability` is `wait=N`: the client sends WAIT N after every write, and the write is complete when N replicas
have acknowledged it. With `wait=0`, Redis' default, no write waits for the network between the database's
nodes.

Source: Redis 7 documentation, "Replication", WAIT.
"""

import signal
from collections.abc import Collection
from typing import ClassVar

from crosswind.app.base import Stage
from crosswind.app.requirements import DebianPackages, Program, Requirement
from crosswind.app.server import run_to_end
from crosswind.app.stores.redis_replication import online_replicas
from crosswind.app.stores.servers import await_answer, end
from crosswind.app.stores.store import (
    PRIMARY,
    Store,
    address_of,
    own_folder,
    replicas_of,
    version_of,
)
from crosswind.testbed.fabric import Process

PORT = 6379
# By default the first replica waits five seconds for its data, longer than many trials take.
_SETTINGS = (
    *("--protected-mode", "no"),
    *("--save", ""),
    *("--appendonly", "no"),
    *("--repl-diskless-sync", "yes"),
    *("--repl-diskless-sync-delay", "0"),
)


class Redis(Store):
    """A primary and replicas; or a primary alone.

    Attributes:
        title: its official name.
        packages: with the server and its client, `<name>-server` and `<name>-cli`.
    """

    name = "redis"
    title = "Redis"
    packages: ClassVar = DebianPackages("redis", ("redis-server",), programs=("redis-server", "redis-cli"))
    requirements: ClassVar[tuple[Requirement, ...]] = (packages,)
    in_memory = True
    durabilities = ("wait=0", "wait=1", "wait=2")
    settings = " ".join(_SETTINGS)

    def version(self) -> str:
        return version_of(self._program("server"), "--version")

    def misfit(self, nodes: Collection[str]) -> str | None:
        if unknown := super().misfit(nodes):
            return unknown
        awaited, replicas = int(self.durability.partition("=")[2]), len(replicas_of(nodes))
        if awaited <= replicas:
            return None
        return f"waits for {awaited} replicas of {replicas}; add nodes db1, db2 ... or write wait={replicas}"

    def remark(self) -> str:
        if self.durability == "wait=0":
            return (
                f"{self.title} replicates asynchronously: a write is confirmed before any replica has it, so "
                "the network between the database's nodes is not in its latency. `durability: wait=1` waits."
            )
        return (
            f"{self.title} replicates asynchronously; with {self.durability} the client waits for that many "
            "replicas to acknowledge each write, in memory: it may still be lost when all of them fail."
        )

    def prepare(self, stage: Stage, loader: str) -> None:
        own_folder(stage, PRIMARY)
        primary = self._serve(stage, PRIMARY)
        self._await_replicas(stage, [primary])
        self.fill(stage, loader)
        save = self._ask(stage, "SAVE")
        run_to_end(stage, PRIMARY, "save", save, env=self.packages.env, timeout_s=self.whole_s)
        end(primary, signal.SIGTERM)
        self.keep(stage, [PRIMARY])

    def start(self, stage: Stage) -> None:
        self.data(stage.fabric.nodes).lay_out(stage.folder)
        self._servers = [self.serve(stage, PRIMARY)]
        for replica in replicas_of(stage.fabric.nodes):
            own_folder(stage, replica)
            self._servers.append(self.serve(stage, replica))
        self._await_replicas(stage, self._servers)

    def serve(self, stage: Stage, node: str) -> Process:
        follows = () if node == PRIMARY else ("--replicaof", PRIMARY, str(PORT))
        return self._serve(stage, node, *follows)

    def target(self, stage: Stage) -> list[str]:
        server = f"{address_of(stage, PRIMARY)}:{PORT}"
        return ["--store", "redis", "--server", server, "--durability", self.durability]

    def _serve(self, stage: Stage, node: str, *options: str) -> Process:
        folder, address = stage.folder / node, address_of(stage, node)
        server = self._program("server")
        place = ["--bind", address, "--port", str(PORT), "--dir", folder, "--daemonize", "no"]
        command = [server.path, *place, *_SETTINGS, *options]
        return stage.fabric.start(node, f"{self.name}-server", command, cwd=folder, env=server.env)

    def _await_replicas(self, stage: Stage, servers: list[Process]) -> None:
        """Wait until the primary has loaded its data and every replica has copied them and follows."""
        wanted = len(servers) - 1
        await_answer(
            stage,
            PRIMARY,
            "info-replication",
            self._ask(stage, "INFO", "replication"),
            lambda said: online_replicas(said) == wanted,
            alive=servers,
            env=self.packages.env,
            timeout_s=self.whole_s,
        )

    def _ask(self, stage: Stage, *words: str) -> list[object]:
        client = self._program("cli").path
        # Without -e, an error, such as while data are loaded, would have exit status 0.
        return [client, "-e", "-h", address_of(stage, PRIMARY), "-p", str(PORT), *words]

    def _program(self, part: str) -> Program:
        return self.packages.program(f"{self.name}-{part}")
