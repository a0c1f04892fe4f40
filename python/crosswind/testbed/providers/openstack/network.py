"""What servers need besides themselves: a key pair, a security group, and a network with a way in.

Every name is the run's tag, because a name is there from the first moment; tags of Neutron follow it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from crosswind.testbed.providers.openstack.project import Project

if TYPE_CHECKING:
    from openstack.network.v2.network import Network
    from openstack.network.v2.security_group import SecurityGroup

# Outside of the addresses of nodes (10.77.0.0/16), and rare in offices.
OWN_SUBNET = "10.78.0.0/20"
_SSH_PORT = 22


class _Tagged(Protocol):
    """A thing of Neutron that can have tags."""

    id: str


def make_key_pair(project: Project, tag: str, public_key: Path) -> None:
    """Give the project the public half of the run's key."""
    with project.explained("key pair"):
        project.connection.compute.create_keypair(name=tag, public_key=public_key.read_text().strip())


def make_security_group(project: Project, tag: str, peers: list[str]) -> SecurityGroup:
    """Let in ssh from everywhere, and UDP and ICMP from the other machines.

    Agents take any free UDP port, so all are open, but to the machines of this run only.

    Args:
        peers: subnets with machines of other projects.
    """
    networks = project.connection.network
    with project.explained("security group"):
        group = networks.create_security_group(name=tag, description="Made by crosswind for one run.")
        _mark(project, group, tag)
        common = {"security_group_id": group.id, "direction": "ingress", "ether_type": "IPv4"}
        networks.create_security_group_rule(
            **common, protocol="tcp", port_range_min=_SSH_PORT, port_range_max=_SSH_PORT
        )
        for protocol in ("udp", "icmp"):
            networks.create_security_group_rule(**common, protocol=protocol, remote_group_id=group.id)
            for subnet in peers:
                networks.create_security_group_rule(**common, protocol=protocol, remote_ip_prefix=subnet)
    return group


def make_network(project: Project, tag: str, external: Network | None) -> Network:
    """Make a network for the run, with a router to the external one."""
    networks = project.connection.network
    with project.explained("network"):
        network = networks.create_network(name=tag)
        _mark(project, network, tag)
        subnet = networks.create_subnet(name=tag, network_id=network.id, ip_version=4, cidr=OWN_SUBNET)
        _mark(project, subnet, tag)
        if external is not None:
            router = networks.create_router(name=tag, external_gateway_info={"network_id": external.id})
            _mark(project, router, tag)
            networks.add_interface_to_router(router, subnet=subnet.id)
    return network


def make_floating_address(project: Project, tag: str, external: Network, server_id: str) -> str:
    """Give a server an address of the external network, and return it."""
    networks = project.connection.network
    with project.explained("floating address"):
        (port, *_) = networks.ports(device_id=server_id)
        # It has no name; the description is there from the first moment.
        made = networks.create_ip(floating_network_id=external.id, port_id=port.id, description=tag)
        _mark(project, made, tag)
    address: str = made.floating_ip_address
    return address


def subnets_of(project: Project, network: Network) -> list[str]:
    """Return the ranges of addresses of a network."""
    with project.explained("subnets"):
        return [each.cidr for each in project.connection.network.subnets(network_id=network.id)]


def _mark(project: Project, thing: _Tagged, tag: str) -> None:
    project.connection.network.set_tags(thing, [tag])  # type: ignore[arg-type]
