"""FerretDB: MongoDB's wire protocol in front of the PostgreSQL cluster.

It is a stateless gateway on db0 that translates each command into SQL, for machines without mongod (other
than x86-64). An operation needs far more CPU time than with PostgreSQL, which hides small effects of the
network. A scan (workload e) reads the whole collection.

Durability is that of PostgreSQL: FerretDB 1.24 ignores a write concern, and always sends an answer.

Source: FerretDB 1.24 documentation, "Flags".
"""

import signal
from typing import ClassVar

from crosswind.app.base import Stage
from crosswind.app.requirements import PatchedGoProgram, Requirement
from crosswind.app.stores.postgresql import PORT as POSTGRESQL_PORT
from crosswind.app.stores.postgresql import POSTGRESQL, USER, PostgreSQL
from crosswind.app.stores.servers import await_answer, end
from crosswind.app.stores.store import PRIMARY, address_of, own_folder
from crosswind.testbed.binaries import LOAD, find_binary
from crosswind.testbed.fabric import Process

_VERSION = "v1.24.0"
FERRETDB = PatchedGoProgram(
    "ferretdb",
    module="github.com/FerretDB/FerretDB",
    version=_VERSION,
    package="github.com/FerretDB/FerretDB/cmd/ferretdb",
    # Releases are built with this file. The module has a different one, with which the program refuses to
    # start.
    patches=(("build/version/version.txt", _VERSION),),
)
PORT = 27017
_DATABASE = "ferretdb"


class FerretDB(PostgreSQL):
    """The gateway on db0, and PostgreSQL's primary and standbys behind it."""

    name = "ferretdb"
    requirements: ClassVar[tuple[Requirement, ...]] = (POSTGRESQL, FERRETDB)

    def version(self) -> str:
        return f"{_VERSION}-on-{super().version()}"

    def start(self, stage: Stage) -> None:
        super().start(stage)
        own_folder(stage, _DATABASE)
        self._servers.append(self._serve_gateway(stage))

    def restart(self, stage: Stage, node: str) -> None:
        super().restart(stage, node)
        if node == PRIMARY:
            # It ends when it cannot reach PostgreSQL at its start.
            self._await_ready(stage, self._servers[-1:], [])
            self._servers.append(self._start_gateway(stage))

    def target(self, stage: Stage) -> list[str]:
        return ["--store", "mongodb", "--server", f"{address_of(stage, PRIMARY)}:{PORT}"]

    def fill(self, stage: Stage, loader: str) -> None:
        self.sql(stage, "create-database", f"CREATE DATABASE {_DATABASE}")
        own_folder(stage, _DATABASE)
        gateway = self._serve_gateway(stage)
        super().fill(stage, loader)
        end(gateway, signal.SIGTERM)
        self.sql(stage, "settle-ferretdb", "VACUUM (FREEZE, ANALYZE)", _DATABASE)

    def _serve_gateway(self, stage: Stage) -> Process:
        """Start the gateway; return when it answers."""
        gateway = self._start_gateway(stage)
        server = ["--server", f"{address_of(stage, PRIMARY)}:{PORT}"]
        ping = [find_binary(LOAD), "mongodb-command", *server, "--command", '{"ping": 1}']
        await_answer(stage, PRIMARY, "ping", ping, lambda _: True, alive=[gateway])
        return gateway

    def _start_gateway(self, stage: Stage) -> Process:
        folder, address = stage.folder / _DATABASE, address_of(stage, PRIMARY)
        command = [
            FERRETDB.program().path,
            "--handler=postgresql",
            "--telemetry=disable",
            f"--state-dir={folder}",
            f"--listen-addr={address}:{PORT}",
            "--debug-addr=-",
            f"--postgresql-url=postgres://{USER}@{address}:{POSTGRESQL_PORT}/{_DATABASE}",
        ]
        return stage.fabric.start(PRIMARY, "ferretdb", command, cwd=folder)
