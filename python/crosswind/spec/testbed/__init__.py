"""The testbed of an experiment: this machine, machines that ssh reaches, or machines that a provider makes.

There is a reader for each format of inventory, and each is a pure function of the file's content.
"""

from crosswind.spec.testbed.model import LOCAL, Ssh, Testbed, TestbedEntry
from crosswind.spec.testbed.provided import DeclaredProvider, Provided, ProviderParameters
from crosswind.spec.testbed.rules import placed_by_hand, testbed_findings

__all__ = [
    "LOCAL",
    "DeclaredProvider",
    "Provided",
    "ProviderParameters",
    "Ssh",
    "Testbed",
    "TestbedEntry",
    "placed_by_hand",
    "testbed_findings",
]
