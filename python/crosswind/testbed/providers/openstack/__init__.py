"""Machines of an OpenStack cloud: servers with their network, security group and key pair.

Needs `openstacksdk`, which `pip install "crosswind[openstack]"` brings. It is imported only when a testbed
with this provider is used.
"""

from crosswind.testbed.providers.openstack.parameters import OpenstackParameters, Servers
from crosswind.testbed.providers.openstack.provider import Openstack

__all__ = ["Openstack", "OpenstackParameters", "Servers"]
