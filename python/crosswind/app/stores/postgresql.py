"""PostgreSQL with synchronous standbys: a primary (db0) that confirms a write when any one standby has it.

The cluster has its own data folders, and its own ports inside the nodes; servers of the system are not used.
Records are loaded and standbys copied once, in a fabric with the empty condition. Every trial starts from a
copy of those files, so bloat, caches and logs do not carry over from trial to trial.

`_SETTINGS` has all changed settings with their reasons; all others are PostgreSQL's defaults, fsync included.
`durability` is `synchronous_commit`.
"""

import signal
from pathlib import Path
from typing import ClassVar

from crosswind.app.base import Stage
from crosswind.app.requirements import DebianPackages, Requirement
from crosswind.app.server import run_to_end
from crosswind.app.stores.servers import READY_S, end
from crosswind.app.stores.store import PRIMARY, Store, address_of, replicas_of, version_of
from crosswind.testbed.fabric import Process

POSTGRESQL = DebianPackages(
    "postgresql",
    packages=("postgresql",),
    programs=("initdb", "postgres", "pg_basebackup", "pg_isready", "psql"),
    folders=("usr/lib/postgresql/*/bin",),
)
PORT = 5432
USER = DATABASE = "postgres"

# Its hash names the prepared data, so changing a comment here prepares them again.
_SETTINGS = """
listen_addresses = '*'
port = 5432
unix_socket_directories = ''
max_connections = 200
max_wal_senders = 32
wal_keep_size = 1GB
# The default is five seconds, longer than many trials.
wal_retrieve_retry_interval = 100ms
# Segments below /dev/shm would outlive a server that is killed.
dynamic_shared_memory_type = mmap
# Neither a checkpoint nor a vacuum may fall into some trials and not into others.
checkpoint_timeout = 1h
max_wal_size = 8GB
autovacuum = off
"""
_ACCESS = """
host all all 10.77.0.0/16 trust
host replication all 10.77.0.0/16 trust
"""
# One session waits for the standbys, instead of a new process for each check.
_AWAIT_STANDBYS = """
DO $$ BEGIN
  WHILE (SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming' AND sync_state = 'quorum') <
  {count} LOOP
    PERFORM pg_sleep(0.01);
    PERFORM pg_stat_clear_snapshot();
  END LOOP;
END $$
"""


# With these, a write is confirmed before a standby has done anything.
_LOCAL = ("local", "off")


class PostgreSQL(Store):
    """Primary and standbys with `synchronous_standby_names = 'ANY 1 (db1, db2, ...)'`; or a primary alone."""

    name = "postgresql"
    requirements: ClassVar[tuple[Requirement, ...]] = (POSTGRESQL,)
    durabilities = ("on", "remote_apply", "remote_write", *_LOCAL)
    settings = _SETTINGS + _ACCESS

    def version(self) -> str:
        return version_of(POSTGRESQL.program("postgres"), "--version")

    def remark(self) -> str | None:
        if self.durability not in _LOCAL:
            return None
        return (
            f"PostgreSQL with synchronous_commit = {self.durability} confirms a write before any standby has "
            "it: the network between the database's nodes is not in its latency."
        )

    def prepare(self, stage: Stage, loader: str) -> None:
        """Load the records, replicate them, stop the servers, and store the data folders in the cache."""
        standbys = replicas_of(stage.fabric.nodes)
        self._initialise(stage)
        primary = self._serve(stage, PRIMARY)
        self._await_ready(stage, [primary], [])
        self.fill(stage, loader)
        # Otherwise reads of a trial would write hint bits.
        self.sql(stage, "settle", "VACUUM (FREEZE, ANALYZE)")
        for standby in standbys:
            self._copy_to_standby(stage, standby)
        followers = [self._serve(stage, standby) for standby in standbys]
        self._await_ready(stage, [primary, *followers], [])
        self.sql(stage, "checkpoint", "CHECKPOINT")
        # The primary ends first, so that its last record, the shutdown checkpoint, reaches every standby.
        for server in [primary, *followers]:
            end(server, signal.SIGINT)
        self.keep(stage, [PRIMARY, *standbys])

    def start(self, stage: Stage) -> None:
        standbys = replicas_of(stage.fabric.nodes)
        self.data(stage.fabric.nodes).lay_out(stage.folder)
        self._servers = [self.serve(stage, node) for node in (PRIMARY, *standbys)]
        self._await_ready(stage, self._servers, standbys)

    def serve(self, stage: Stage, node: str) -> Process:
        if node != PRIMARY:
            return self._serve(stage, node)
        standbys = replicas_of(stage.fabric.nodes)
        names = f"ANY 1 ({', '.join(standbys)})" if standbys else ""
        replication = (
            *("-c", f"synchronous_standby_names={names}"),
            *("-c", f"synchronous_commit={self.durability}"),
        )
        return self._serve(stage, PRIMARY, *replication)

    def target(self, stage: Stage) -> list[str]:
        server = f"{address_of(stage, PRIMARY)}:{PORT}"
        return ["--store", "postgresql", "--server", server, "--user", USER, "--database", DATABASE]

    def sql(self, stage: Stage, name: str, statement: str, database: str = DATABASE) -> None:
        """Run a statement on the primary; `name` is the name of its log."""
        options = ["-X", "-q", "-v", "ON_ERROR_STOP=1"]
        server = ["-h", address_of(stage, PRIMARY), "-p", str(PORT), "-U", USER, "-d", database]
        command = [_path("psql"), *options, *server, "-c", statement]
        run_to_end(stage, PRIMARY, name, command, env=POSTGRESQL.env, timeout_s=self.whole_s)

    def _initialise(self, stage: Stage) -> None:
        data = stage.folder / PRIMARY
        options = ["-A", "trust", "-U", USER, "-E", "UTF8", "--locale", "C", "--no-sync", "--no-instructions"]
        command = [_path("initdb"), "-D", data, *options]
        run_to_end(stage, PRIMARY, "initdb", command, timeout_s=READY_S, env=POSTGRESQL.env)
        with (data / "postgresql.conf").open("a") as settings:
            settings.write(_SETTINGS)
        with (data / "pg_hba.conf").open("a") as access:
            access.write(_ACCESS)

    def _copy_to_standby(self, stage: Stage, standby: str) -> None:
        # By name: in another topology, the primary may have another address.
        data, server = stage.folder / standby, ["-h", PRIMARY, "-p", str(PORT), "-U", USER]
        command = [
            _path("pg_basebackup"),
            "-D",
            data,
            *server,
            "-c",
            "fast",
            "-X",
            "stream",
            "-R",
            "--no-sync",
        ]
        run_to_end(stage, standby, "pg_basebackup", command, env=POSTGRESQL.env, timeout_s=self.whole_s)
        with (data / "postgresql.auto.conf").open("a") as settings:
            settings.write(
                f"primary_conninfo = 'host={PRIMARY} port={PORT} user={USER} application_name={standby}'\n"
            )

    def _serve(self, stage: Stage, node: str, *options: str) -> Process:
        """Start a server; it is ready after `_await_ready`."""
        data = stage.folder / node
        command = [_path("postgres"), "-D", data, *options]
        return stage.fabric.start(node, "postgres", command, cwd=data, env=POSTGRESQL.env)

    def _await_ready(self, stage: Stage, servers: list[Process], synchronous: list[str]) -> None:
        """Wait until every server answers and every synchronous standby is part of the quorum."""
        for server in servers:
            host = address_of(stage, server.node)
            probe = [_path("pg_isready"), "-q", "-h", host, "-p", str(PORT), "-U", USER]
            stage.fabric.probe(
                server.node,
                "pg_isready",
                probe,
                cwd=stage.folder,
                timeout_s=self.whole_s,
                alive=servers,
                env=POSTGRESQL.env,
            )
        if synchronous:
            self.sql(stage, "await-standbys", _AWAIT_STANDBYS.format(count=len(synchronous)))


def _path(name: str) -> Path:
    return POSTGRESQL.program(name).path
