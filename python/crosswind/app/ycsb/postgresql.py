"""PostgreSQL with synchronous standbys: a primary (db0) that confirms a write when any one standby has it.

The cluster is Crosswind's own: own data folders, own ports inside the nodes, never the system's. Records are
loaded and standbys copied once, in a fabric with the empty condition; every trial starts from a copy of those
files, so no trial inherits the bloat, the cache or the log of the one before.

What is set, and why, stands in `_SETTINGS`; everything else is PostgreSQL's default, fsync included.
"""

import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Collection, Sequence
from pathlib import Path

from crosswind.app.base import Stage
from crosswind.app.requirements import DebianPackages
from crosswind.app.ycsb.store import DATA_SEED, Store, replicas_of
from crosswind.store.durable import write_text
from crosswind.testbed.agent import Ended
from crosswind.testbed.binaries import LOAD, find_binary
from crosswind.testbed.errors import TestbedError
from crosswind.testbed.fabric import Process
from crosswind.testbed.folders import cache_folder

POSTGRESQL = DebianPackages(
    "postgresql",
    packages=("postgresql",),
    programs=("initdb", "postgres", "pg_basebackup", "pg_isready", "psql"),
    folders=("usr/lib/postgresql/*/bin",),
)
PRIMARY = "db0"
PORT = 5432
USER = DATABASE = "postgres"
READY_S = 60.0

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
# One session waits for the standbys, instead of one process for each look.
_AWAIT_STANDBYS = """
DO $$ BEGIN
  WHILE (SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming' AND sync_state = 'quorum') <
  {count} LOOP
    PERFORM pg_sleep(0.01);
    PERFORM pg_stat_clear_snapshot();
  END LOOP;
END $$
"""


class PostgreSQL(Store):
    """Primary and standbys with `synchronous_standby_names = 'ANY 1 (db1, db2, ...)'`; or a primary alone."""

    requirements = (POSTGRESQL,)

    def __init__(self, records: int) -> None:
        super().__init__(records)
        self._servers: list[Process] = []

    def is_prepared(self, nodes: Collection[str]) -> bool:
        return self._cached(nodes).is_dir()

    def prepare(self, stage: Stage, loader: str) -> None:
        """Load, replicate, stop, and put the data folders into the cache."""
        standbys = replicas_of(stage.fabric.nodes)
        self._initialise(stage)
        primary = self._serve(stage, PRIMARY)
        self._await_ready(stage, [primary], [])
        self._run(stage, loader, "ycsb-prepare", [find_binary(LOAD), "ycsb-prepare", *self._contents(stage)])
        # Visibility is settled now, so that no read of a trial has to write hint bits.
        self._sql(stage, "settle", "VACUUM (FREEZE, ANALYZE)")
        for standby in standbys:
            self._copy_to_standby(stage, standby)
        followers = [self._serve(stage, standby) for standby in standbys]
        self._await_ready(stage, [primary, *followers], [])
        self._sql(stage, "checkpoint", "CHECKPOINT")
        # The primary ends first: its last record, the shutdown checkpoint, then reaches every standby.
        for server in [primary, *followers]:
            _end(server, signal.SIGINT)
        self._keep(stage, [PRIMARY, *standbys])

    def start(self, stage: Stage) -> None:
        standbys = replicas_of(stage.fabric.nodes)
        for node in (PRIMARY, *standbys):
            _copy_tree(self._cached(stage.fabric.nodes) / node, stage.folder / node)
        # A write of the trial would otherwise wait for these files: a journalling file system flushes them
        # first.
        subprocess.run(["sync", "--file-system", stage.folder], check=True)
        names = f"ANY 1 ({', '.join(standbys)})" if standbys else ""
        primary = self._serve(stage, PRIMARY, "-c", f"synchronous_standby_names={names}")
        self._servers = [primary, *(self._serve(stage, standby) for standby in standbys)]
        self._await_ready(stage, self._servers, standbys)

    def target(self, stage: Stage) -> list[str]:
        server = f"{stage.fabric.nodes[PRIMARY].address}:{PORT}"
        return ["--store", "postgresql", "--server", server, "--user", USER, "--database", DATABASE]

    def stop(self) -> None:
        dead = [server for server in self._servers if server.ended is not None]
        if dead:
            raise TestbedError(
                "; ".join(
                    f"{server}: ended under the load ({server.ended}): {server.last_words()}"
                    for server in dead
                )
            )
        # The data are thrown away, so an immediate shutdown loses nothing that anybody wants.
        for server in self._servers:
            _end(server, signal.SIGQUIT)

    def _cached(self, nodes: Collection[str]) -> Path:
        """Return the folder of data for these nodes; it exists once they are prepared."""
        version = _version().split()[0]
        settings = hashlib.sha256((_SETTINGS + _ACCESS).encode()).hexdigest()[:8]
        standbys = len(replicas_of(nodes))
        name = f"{version}-{self.records}-records-seed-{DATA_SEED}-{standbys}-standbys-{settings}"
        return cache_folder() / "ycsb-postgresql" / name

    def _contents(self, stage: Stage) -> list[str]:
        return [*self.target(stage), "--records", str(self.records), "--seed", str(DATA_SEED)]

    def _initialise(self, stage: Stage) -> None:
        data = stage.folder / PRIMARY
        options = ["-A", "trust", "-U", USER, "-E", "UTF8", "--locale", "C", "--no-sync", "--no-instructions"]
        self._run(stage, PRIMARY, "initdb", [_path("initdb"), "-D", data, *options])
        with (data / "postgresql.conf").open("a") as settings:
            settings.write(_SETTINGS)
        with (data / "pg_hba.conf").open("a") as access:
            access.write(_ACCESS)

    def _copy_to_standby(self, stage: Stage, standby: str) -> None:
        data, host = stage.folder / standby, stage.fabric.nodes[PRIMARY].address
        source = ["-h", host, "-p", str(PORT), "-U", USER, "-c", "fast", "-X", "stream", "-R", "--no-sync"]
        self._run(stage, standby, "pg_basebackup", [_path("pg_basebackup"), "-D", data, *source])
        with (data / "postgresql.auto.conf").open("a") as settings:
            settings.write(
                f"primary_conninfo = 'host={host} port={PORT} user={USER} application_name={standby}'\n"
            )

    def _serve(self, stage: Stage, node: str, *options: str) -> Process:
        """Start a server; it is ready only after `_await_ready`."""
        data = stage.folder / node
        command = [_path("postgres"), "-D", data, *options]
        return stage.fabric.start(node, "postgres", command, cwd=data, env=POSTGRESQL.env)

    def _await_ready(self, stage: Stage, servers: list[Process], synchronous: list[str]) -> None:
        """Wait until every server answers and every synchronous standby is part of the quorum."""
        for server in servers:
            host = stage.fabric.nodes[server.node].address
            probe = [_path("pg_isready"), "-q", "-h", host, "-p", str(PORT), "-U", USER]
            stage.fabric.probe(
                server.node,
                "pg_isready",
                probe,
                cwd=stage.folder,
                timeout_s=READY_S,
                alive=servers,
                env=POSTGRESQL.env,
            )
        if synchronous:
            self._sql(stage, "await-standbys", _AWAIT_STANDBYS.format(count=len(synchronous)))

    def _sql(self, stage: Stage, name: str, statement: str) -> None:
        host = stage.fabric.nodes[PRIMARY].address
        connection = [
            "-X",
            "-q",
            "-v",
            "ON_ERROR_STOP=1",
            "-h",
            host,
            "-p",
            str(PORT),
            "-U",
            USER,
            "-d",
            DATABASE,
        ]
        self._run(stage, PRIMARY, name, [_path("psql"), *connection, "-c", statement])

    def _run(self, stage: Stage, node: str, name: str, command: Sequence[object]) -> None:
        """Run a command to its end.

        Raises: TestbedError: it failed or took more than `READY_S`; carries its last words.
        """
        process = stage.fabric.start(node, name, command, cwd=stage.folder, env=POSTGRESQL.env)
        ended = process.wait(READY_S)
        if ended is None:
            process.stop(1)
            raise TestbedError(f"{process}: not done after {READY_S:g} s; {process.last_words()}")
        if ended != Ended(0, None):
            raise TestbedError(f"{process}: {ended}; {process.last_words()}")

    def _keep(self, stage: Stage, nodes: list[str]) -> None:
        """Put the data into the cache: all of them at once, or none."""
        cached = self._cached(stage.fabric.nodes)
        cached.parent.mkdir(exist_ok=True)
        partial = Path(tempfile.mkdtemp(prefix=".part-", dir=cached.parent))
        try:
            partial.chmod(0o755)
            for node in nodes:
                _copy_tree(stage.folder / node, partial / node)
            manifest = {
                "version": _version(),
                "records": self.records,
                "seed": DATA_SEED,
                "nodes": nodes,
            }
            write_text(partial / "manifest.json", json.dumps(manifest, indent=2) + "\n")
            os.sync()
            # Another run may have prepared the same data meanwhile; either copy will do.
            if not cached.exists():
                partial.rename(cached)
        finally:
            shutil.rmtree(partial, ignore_errors=True)


def _path(name: str) -> Path:
    return POSTGRESQL.program(name).path


def _version() -> str:
    """Return what `postgres --version` prints behind its name, such as `15.13 (Debian 15.13-0+deb12u1)`."""
    program = POSTGRESQL.program("postgres")
    done = subprocess.run(
        [program.path, "--version"], capture_output=True, text=True, check=True, timeout=10, env=program.env
    )
    return re.sub(r"^.*?(?=\d)", "", done.stdout.strip())


def _end(server: Process, number: signal.Signals) -> None:
    server.signal(number)
    if server.wait(READY_S) is None:
        server.stop(0)
        raise TestbedError(f"{server}: still there {READY_S:g} s after {number.name}; {server.last_words()}")


def _copy_tree(source: Path, target: Path) -> None:
    """Copy files with owner and mode; as clones of the same blocks where the file system can."""
    done = subprocess.run(
        ["cp", "-a", "--reflink=auto", source, target], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise TestbedError(f"copy {source.name}: {done.stderr.strip().splitlines()[-1]}")
