"""Make servers where the file wants them, and say where they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from crosswind.testbed.errors import TestbedError
from crosswind.testbed.providers.openstack.parameters import Servers
from crosswind.testbed.providers.openstack.project import Project

if TYPE_CHECKING:
    from openstack.compute.v2.server import Server

# The scheduler and the hypervisor, not the boot: that is waited for over ssh.
_ACTIVE_S = 600
_LOOK_S = 1


@dataclass(frozen=True)
class Surroundings:
    """What every server of a group gets.

    Attributes:
        security_group, image_id, flavor_id, network_id: by their ids; the group by its name.
    """

    tag: str
    security_group: str
    image_id: str
    flavor_id: str
    network_id: str


@dataclass
class MadeServers:
    """Servers that exist, by the names of their machines."""

    servers: dict[str, Server] = field(default_factory=dict)

    def ids(self, names: Sequence[str]) -> list[str]:
        """Return the ids of machines."""
        return [self.servers[name].id for name in names]


def make_servers(
    project: Project, around: Surroundings, group: Servers, names: Sequence[str], made: MadeServers
) -> dict[str, Server]:
    """Make the servers of one group, and return them when all are active, by the names of their machines.

    Args:
        made: those of earlier groups.

    Raises: TestbedError: the scheduler finds no host, or a hypervisor fails.
    """
    compute, hints = project.connection.compute, _hints(project, around.tag, group, names[0], made)
    with project.explained("server"):
        started = {
            name: compute.create_server(
                name=f"{around.tag}-{name}",
                image_id=around.image_id,
                flavor_id=around.flavor_id,
                key_name=around.tag,
                networks=[{"uuid": around.network_id}],
                security_groups=[{"name": around.security_group}],
                tags=[around.tag],
                **({"availability_zone": group.zone} if group.zone is not None else {}),
                **({"scheduler_hints": hints} if hints else {}),
            )
            for name in names
        }
        return {name: _active(project, name, server) for name, server in started.items()}


def _hints(
    project: Project, tag: str, group: Servers, first: str, made: MadeServers
) -> Mapping[str, str | list[str]]:
    """Return the hints for the scheduler; the server group is made here."""
    hints: dict[str, str | list[str]] = {}
    if group.policy is not None:
        with project.explained("server group"):
            # It cannot have a tag; the name finds it again.
            of_servers = project.connection.compute.create_server_group(
                name=f"{tag}-{first}", policy=group.policy
            )
        hints["group"] = of_servers.id
    if group.same_host:
        hints["same_host"] = made.ids(group.same_host)
    if group.different_host:
        hints["different_host"] = made.ids(group.different_host)
    return hints


def _active(project: Project, name: str, server: Server) -> Server:
    from openstack.exceptions import ResourceFailure

    try:
        return project.connection.compute.wait_for_server(server, interval=_LOOK_S, wait=_ACTIVE_S)
    except ResourceFailure:
        failed = project.connection.compute.get_server(server.id)
        why = (failed.fault or {}).get("message", "no reason given")
        raise TestbedError(
            f"testbed.openstack: {project.title}: machine {name} was not started: {why.rstrip('. ')}; choose "
            "another placement, flavor or zone, or ask who runs the cloud"
        ) from None


def fixed_address(server: Server) -> str:
    """Return the server's own IPv4 address.

    Raises: TestbedError: it has none.
    """
    for ports in (server.addresses or {}).values():
        for port in ports:
            if port.get("version") == 4 and port.get("OS-EXT-IPS:type", "fixed") == "fixed":
                address: str = port["addr"]
                return address
    raise TestbedError(
        f"testbed.openstack: server {server.name} has no IPv4 address; its network needs a subnet"
    )


def labels(project: Project, server: Server) -> dict[str, str]:
    """Return where a server is.

    Only administrators see a host's own name; others see one that differs from project to project.
    """
    host = server.hypervisor_hostname or f"{project.id[:8]}/{(server.host_id or '')[:12]}"
    return {"host": host, "zone": server.availability_zone or "", "project": project.id}
