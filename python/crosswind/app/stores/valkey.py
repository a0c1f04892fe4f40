"""Valkey, the fork of Redis 7.2 under its old license, with the protocol, options and replication of Redis.

Debian has it since version 13, and in the backports of version 12.

Source: Valkey 8 documentation, "Replication", WAIT.
"""

from typing import ClassVar

from crosswind.app.requirements import DebianPackages, Requirement
from crosswind.app.stores.redis import Redis


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
