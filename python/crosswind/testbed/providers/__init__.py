"""Providers of machines: they make machines for a run, and remove them, as plugins.

Each is an entry point of the group `crosswind.providers` that names a subclass of
`crosswind.testbed.providers.base.Provider`. A testbed uses the name of the entry point. Crosswind's own
providers have a folder here.
"""

from crosswind.testbed.providers.base import Found, Order, Provider
from crosswind.testbed.providers.deployment import Deployment
from crosswind.testbed.providers.find import find, provider_of
from crosswind.testbed.providers.removal import Removal, remove_ended
from crosswind.testbed.providers.up import provided_machines

__all__ = [
    "Deployment",
    "Found",
    "Order",
    "Provider",
    "Removal",
    "find",
    "provided_machines",
    "provider_of",
    "remove_ended",
]
