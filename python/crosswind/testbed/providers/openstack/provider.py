"""OpenStack as a provider of machines."""

from __future__ import annotations

from crosswind.spec.resolved import ResolvedMachine
from crosswind.testbed.providers.base import Found, Order, Provider
from crosswind.testbed.providers.openstack.network import (
    make_floating_address,
    make_key_pair,
    make_network,
    make_security_group,
    subnets_of,
)
from crosswind.testbed.providers.openstack.parameters import OpenstackParameters, Servers
from crosswind.testbed.providers.openstack.project import Project
from crosswind.testbed.providers.openstack.quota import check_project
from crosswind.testbed.providers.openstack.removal import found_in, remove
from crosswind.testbed.providers.openstack.servers import (
    MadeServers,
    Surroundings,
    fixed_address,
    labels,
    make_servers,
)


class Openstack(Provider):
    """Servers with a network, a security group and a key pair, all for one run."""

    name = "openstack"
    summary = "servers of an OpenStack cloud"
    Parameters = OpenstackParameters
    parameters: OpenstackParameters

    def check(self) -> None:
        for cloud, project in self._projects().items():
            check_project(project, self.parameters, self._of(cloud))

    def up(self, order: Order) -> list[ResolvedMachine]:
        parameters, projects = self.parameters, self._projects()
        peers = self._subnets(projects)
        security_groups, own_networks = {}, {}
        for cloud, project in projects.items():
            make_key_pair(project, order.tag, order.key.with_suffix(".pub"))
            others = [subnet for other, subnets in peers.items() if other != cloud for subnet in subnets]
            security_groups[cloud] = make_security_group(project, order.tag, others)
            if any(self._network(each) is None for each in self._of(cloud)):
                external = parameters.external and project.network(parameters.external, external=True)
                own_networks[cloud] = make_network(project, order.tag, external or None)
        made, machines = MadeServers(), []
        for group, names in parameters.named():
            cloud = self._cloud(group)
            project, network = projects[cloud], self._network(group)
            flavor = project.flavor(group.flavor or parameters.flavor)
            around = Surroundings(
                tag=order.tag,
                security_group=security_groups[cloud].id,
                image_id=project.image(parameters.image).id,
                flavor_id=flavor.id,
                network_id=(own_networks[cloud] if network is None else project.network(network)).id,
            )
            made.servers |= make_servers(project, around, group, names, made)
            for name in names:
                server = made.servers[name]
                address = fixed_address(server)
                reached = address
                if parameters.external is not None:
                    outside = project.network(parameters.external, external=True)
                    reached = make_floating_address(project, order.tag, outside, server.id)
                machines.append(
                    ResolvedMachine(
                        name=name,
                        address=address,
                        cores=flavor.vcpus,
                        host_name=reached,
                        user=parameters.user,
                        identity=str(order.key),
                        known_hosts=str(order.known_hosts),
                        labels=labels(project, server),
                    )
                )
        return machines

    def down(self, tag: str) -> None:
        for project in self._projects().values():
            remove(project, tag)

    def found(self) -> list[Found]:
        return [found for project in self._projects().values() for found in found_in(project)]

    def _projects(self) -> dict[str | None, Project]:
        return {cloud: Project(cloud) for cloud in dict.fromkeys(map(self._cloud, self.parameters.servers))}

    def _of(self, cloud: str | None) -> list[Servers]:
        return [each for each in self.parameters.servers if self._cloud(each) == cloud]

    def _cloud(self, group: Servers) -> str | None:
        return group.cloud or self.parameters.cloud

    def _network(self, group: Servers) -> str | None:
        return group.network or self.parameters.network

    def _subnets(self, projects: dict[str | None, Project]) -> dict[str | None, set[str]]:
        """Return the ranges of addresses of the machines of each project."""
        if len(projects) == 1:
            return {}
        return {
            cloud: {
                subnet
                for each in self._of(cloud)
                if (name := self._network(each)) is not None
                for subnet in subnets_of(project, project.network(name))
            }
            for cloud, project in projects.items()
        }
