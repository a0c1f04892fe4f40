"""Valkey, the fork of Redis 7.2 under its old licence: protocol, options and replication are as in `redis`.

Debian has it from version 13 on, and for version 12 in its backports.

Source: Valkey 8 documentation, "Replication", WAIT.
"""

from typing import ClassVar

from crosswind.app.requirements import DebianPackages, Requirement
from crosswind.app.ycsb.redis import Redis


class Valkey(Redis):
    """A primary and replicas; or a primary alone."""

    name = "valkey"
    title = "Valkey"
    packages: ClassVar = DebianPackages(
        "valkey",
        ("valkey-server",),
        programs=("valkey-server", "valkey-cli"),
        only_in_backports_of="bookworm",
    )
    requirements: ClassVar[tuple[Requirement, ...]] = (packages,)
