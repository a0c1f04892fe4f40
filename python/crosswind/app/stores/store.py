"""The contract of a replicated database.

Its nodes are `db0` (takes the load) and `db1`, `db2` ... (replicas), as many as the topology has.
"""

import hashlib
import os
import re
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import ClassVar

from crosswind.app.base import Stage
from crosswind.app.demand import Demand
from crosswind.app.requirements import Program, Requirement
from crosswind.app.server import run_to_end, stop_servers
from crosswind.app.stores.data_folders import DataFolders, Manifest
from crosswind.app.stores.servers import FILLED_S, READY_S
from crosswind.testbed.binaries import LOAD, find_binary
from crosswind.testbed.fabric import Process
from crosswind.testbed.folders import cache_folder

PRIMARY = "db0"
# YCSB's default for the size of each of a record's ten fields.
FIELD_BYTES = 100
FIELDS = 10
# Stores read their records from disk, copy them to replicas and save them. Measured on a busy machine with a
# million records, 1 GB: Redis read them in 15 s, but had not copied them after 45 s more; PostgreSQL copied
# them within 60 s.
BYTES_PER_S_MIN = 5_000_000
# The records are the same in every trial and every experiment; only the requests depend on the seed.
DATA_SEED = 1


class Store(ABC):
    """A replicated database that starts every trial from the same prepared data.

    Args:
        records: number of records in it.
        durability: one of `durabilities`; the first when absent.
        field_bytes: length of each of a record's fields.

    Attributes:
        name: in experiment files.
        requirements: what it needs from this machine.
        durabilities: guarantees of a confirmed operation, in the database's own terms; the default first.
        in_memory: whether all records must fit into memory.
        set_up_s: time of a trial besides its load, on a quiet machine.
        settings: everything that determines the data besides version, records and replicas.
    """

    name: ClassVar[str]
    requirements: ClassVar[tuple[Requirement, ...]]
    durabilities: ClassVar[tuple[str, ...]]
    in_memory: ClassVar[bool] = False
    set_up_s: ClassVar[float] = 2.5
    settings: ClassVar[str]

    def __init__(self, records: int, durability: str | None = None, field_bytes: int = FIELD_BYTES) -> None:
        self.records = records
        self.field_bytes = field_bytes
        self.durability = durability or self.durabilities[0]
        self._servers: list[Process] = []

    def remark(self) -> str | None:
        """Return what a reader of the results must know about this durability, if anything."""
        return None

    def misfit(self, nodes: Collection[str]) -> str | None:
        """Return why this durability cannot be had, also with these nodes, and the remedy."""
        if self.durability not in self.durabilities:
            return f"is none of {self.name}; write {', '.join(self.durabilities)}"
        return None

    def demand(self, nodes: Collection[str]) -> Demand:
        """Return the resources for its records: every server has all, and every trial has its own copy."""
        records_bytes = self.bytes * len(members_of(nodes))
        return Demand(
            memory_bytes=records_bytes if self.in_memory else 0,
            work_bytes=records_bytes,
            kept_bytes=records_bytes,
            remedy="write fewer `records`",
        )

    @property
    def bytes(self) -> int:
        """The size of all fields of all records."""
        return self.records * FIELDS * self.field_bytes

    def is_prepared(self, nodes: Collection[str]) -> bool:
        """Return whether the data are in the cache."""
        return self.data(nodes).are_kept

    @abstractmethod
    def version(self) -> str:
        """Return the version of the server, such as `7.0.15`."""

    @abstractmethod
    def prepare(self, stage: Stage, loader: str) -> None:
        """Load the records from the node `loader`, replicate them, stop the servers and store their data."""

    @abstractmethod
    def start(self, stage: Stage) -> None:
        """Start `_servers` from a copy of the data; return when all replicas follow."""

    def restart(self, stage: Stage, node: str) -> None:
        """Start the server of a node that was killed again, from what it had written, and return at once."""
        self._servers.append(self.serve(stage, node))

    @abstractmethod
    def serve(self, stage: Stage, node: str) -> Process:
        """Start the server of a node as in a trial; it is ready some time later."""

    @abstractmethod
    def target(self, stage: Stage) -> list[str]:
        """Return the arguments with which `crosswind-load` connects to the database."""

    @property
    def whole_s(self) -> float:
        """Time limit for copying or reading all records, s."""
        return READY_S + self.bytes / BYTES_PER_S_MIN

    def stop(self, stage: Stage) -> None:
        """Stop the servers; raise TestbedError if one had ended during the load."""
        # The data are deleted afterwards, so a clean end is not needed.
        stop_servers(stage, self._servers, grace_s=0)

    def data(self, nodes: Collection[str]) -> DataFolders:
        """Return the data that trials on these nodes start from."""
        settings = hashlib.sha256(self.settings.encode()).hexdigest()[:8]
        replicas = len(replicas_of(nodes))
        records = f"{self.records}-records-of-{FIELDS * self.field_bytes}-B"
        name = f"{self.version()}-{records}-seed-{DATA_SEED}-{replicas}-replicas-{settings}"
        return DataFolders(cache_folder() / f"ycsb-{self.name}" / name)

    def keep(self, stage: Stage, nodes: Sequence[str]) -> None:
        """Store the data of stopped servers in the cache."""
        manifest = Manifest(
            version=self.version(),
            records=self.records,
            field_bytes=self.field_bytes,
            seed=DATA_SEED,
            nodes=list(nodes),
        )
        self.data(stage.fabric.nodes).keep(stage.folder, manifest)

    def table(self) -> list[str]:
        """Return the arguments that describe the records to `crosswind-load`."""
        return ["--records", str(self.records), "--field-length", str(self.field_bytes)]

    def fill(self, stage: Stage, loader: str) -> None:
        """Load the records into servers that are ready."""
        contents = [*self.target(stage), *self.table(), "--seed", str(DATA_SEED)]
        command = [find_binary(LOAD), "ycsb-prepare", *contents]
        run_to_end(stage, loader, "ycsb-prepare", command, timeout_s=FILLED_S + self.whole_s)


def replicas_of(nodes: Collection[str]) -> list[str]:
    """Return the replicas among the nodes of a topology, in order of their numbers."""
    found = [name for name in nodes if re.fullmatch(r"db[1-9][0-9]*", name)]
    return sorted(found, key=lambda name: int(name[2:]))


def members_of(nodes: Collection[str]) -> list[str]:
    """Return all nodes of the database; the first one takes the load."""
    return [PRIMARY, *replicas_of(nodes)]


def address_of(stage: Stage, node: str) -> str:
    """Return the address of a node."""
    return stage.fabric.nodes[node].address


def version_of(program: Program, *arguments: str) -> str:
    """Return the version that a program prints: the first number with a dot in it, such as `7.0.15`.

    Raises: ValueError: it prints none.
    """
    done = subprocess.run(
        [program.path, *arguments], capture_output=True, text=True, check=True, timeout=10, env=program.env
    )
    return parse_version(done.stdout)


def parse_version(printed: str) -> str:
    """Return the first number with a dot in it."""
    match = re.search(r"\d+(\.\d+)+", printed)
    if match is None:
        raise ValueError(f"no version in {printed!r}")
    return match[0]


def own_folder(stage: Stage, node: str) -> Path:
    """Make and return an empty folder for a server, owned by the account that it runs as."""
    folder = stage.folder / node
    folder.mkdir()
    os.chown(folder, *stage.fabric.application_account)
    return folder
