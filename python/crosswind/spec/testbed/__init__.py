"""The testbed of an experiment: this machine, or machines that ssh reaches, and inventories that list them.

There is a reader for each format of inventory, and each is a pure function of the file's content.
"""

from crosswind.spec.testbed.model import LOCAL, Ssh, Testbed, TestbedEntry
from crosswind.spec.testbed.rules import placed_by_hand, ssh_findings

__all__ = ["LOCAL", "Ssh", "Testbed", "TestbedEntry", "placed_by_hand", "ssh_findings"]
