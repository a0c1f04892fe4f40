"""What a database has to be able to do to be driven by YCSB.

Its nodes are `db0` (takes the load) and `db1`, `db2` ... (replicas), as many as the topology has.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Collection

from crosswind.app.base import Missing, Stage

# The contents are the same in every trial and every experiment; only the requests differ by seed.
DATA_SEED = 1


class Store(ABC):
    """A replicated database that starts every trial from the same prepared data.

    Args:
        records: number of records in it.
    """

    def __init__(self, records: int) -> None:
        self.records = records

    @classmethod
    @abstractmethod
    def missing(cls) -> list[Missing]:
        """Return what this machine lacks to run the database and to load it."""

    @classmethod
    @abstractmethod
    def versions(cls) -> dict[str, str]:
        """Return the versions of the programs, for provenance."""

    @abstractmethod
    def is_prepared(self, nodes: Collection[str]) -> bool:
        """Tell whether the data are in the cache."""

    @abstractmethod
    def prepare(self, stage: Stage, loader: str) -> None:
        """Load the records from the node `loader`, replicate them, and keep the stopped servers' data."""

    @abstractmethod
    def start(self, stage: Stage) -> None:
        """Start every server from a copy of the data; return when all replicas follow."""

    @abstractmethod
    def target(self, stage: Stage) -> list[str]:
        """Return the arguments with which `crosswind-load` reaches the database."""

    @abstractmethod
    def stop(self) -> None:
        """End the servers; raise TestbedError when one had died under the load."""


def replicas_of(nodes: Collection[str]) -> list[str]:
    """Return the names of the replicas among the nodes of a topology, in order of their number."""
    found = [name for name in nodes if re.fullmatch(r"db[1-9][0-9]*", name)]
    return sorted(found, key=lambda name: int(name[2:]))
