"""What a database has to be able to do to be driven by YCSB.

Its nodes are `db0` (takes the load) and `db1`, `db2` ... (replicas), as many as the topology has.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Collection
from typing import ClassVar

from crosswind.app.base import Stage
from crosswind.app.requirements import Requirement

# The contents are the same in every trial and every experiment; only the requests differ by seed.
DATA_SEED = 1


class Store(ABC):
    """A replicated database that starts every trial from the same prepared data.

    Args:
        records: number of records in it.

    Attributes:
        requirements: what it needs from this machine.
    """

    requirements: ClassVar[tuple[Requirement, ...]]

    def __init__(self, records: int) -> None:
        self.records = records

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
