"""Check, before anything is made, that a project has what servers need: flavours, image, room in quotas."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from crosswind.testbed.errors import NotHere
from crosswind.testbed.providers.openstack.parameters import OpenstackParameters, Servers
from crosswind.testbed.providers.openstack.project import Project

# Without a limit.
_UNLIMITED = -1
# Of the security group: two that Neutron makes for what leaves, and ours (network.py).
_RULES = 5


@dataclass(frozen=True)
class QuotaDemand:
    """What servers of one project take of one quota.

    Attributes:
        limit, used: as the cloud reports them; `limit` -1: none.
    """

    what: str
    needed: int
    limit: int
    used: int

    @property
    def fits(self) -> bool:
        """Whether the quota has room."""
        return self.limit == _UNLIMITED or self.used + self.needed <= self.limit


def check_project(project: Project, parameters: OpenstackParameters, own: Sequence[Servers]) -> None:
    """Check everything that can be known before.

    Args:
        own: the servers of this project.

    Raises: NotHere: something is missing or does not fit.
    """
    image = project.image(parameters.image)
    if parameters.external is not None:
        project.network(parameters.external, external=True)
    for each in own:
        flavor = project.flavor(each.flavor or parameters.flavor)
        if (image.min_ram or 0) > flavor.ram or 0 < flavor.disk < (image.min_disk or 0):
            raise NotHere(
                f"testbed.openstack.flavor: {flavor.name} has {flavor.ram} MiB of memory and {flavor.disk} "
                f"GiB of disk, and image {parameters.image} needs {image.min_ram or 0} MiB and "
                f"{image.min_disk or 0} GiB; take a larger flavor"
            )
        if (network := each.network or parameters.network) is not None:
            project.network(network)
        _check_zone(project, each)
    lacking = [demand for demand in _quota_demands(project, parameters, own) if not demand.fits]
    if lacking:
        each_one = ", ".join(
            f"{demand.needed} {demand.what} (of {demand.limit}, {demand.used} are in use)"
            for demand in lacking
        )
        raise NotHere(
            f"testbed.openstack.machines: the quota of {project.title} has no room for {each_one}; take "
            "fewer or smaller machines, remove some, or ask for a larger quota"
        )


def _check_zone(project: Project, servers: Servers) -> None:
    if servers.zone is None:
        return
    with project.explained("availability zones"):
        zones = [zone.name for zone in project.connection.compute.availability_zones()]
    # With a colon, it names a host, which administrators may.
    if servers.zone.partition(":")[0] not in zones:
        raise NotHere(
            f'testbed.openstack.machines: {project.title} has no availability zone "{servers.zone}"; it has '
            f"{', '.join(zones)}"
        )


def _quota_demands(
    project: Project, parameters: OpenstackParameters, own: Sequence[Servers]
) -> Iterator[QuotaDemand]:
    count = sum(each.count for each in own)
    flavors = {name: project.flavor(name) for name in {each.flavor or parameters.flavor for each in own}}
    taken = [(each.count, flavors[each.flavor or parameters.flavor]) for each in own]
    cores = sum(each * flavor.vcpus for each, flavor in taken)
    memory_mib = sum(each * flavor.ram for each, flavor in taken)
    with project.explained("quotas"):
        limits = project.connection.compute.get_limits().absolute
        quota = project.connection.network.get_quota(project.id, details=True)
    groups = [each for each in own if each.policy is not None]
    largest = max((each.count for each in groups), default=0)
    yield QuotaDemand("servers", count, limits.instances, limits.instances_used)
    yield QuotaDemand("cores", cores, limits.total_cores, limits.total_cores_used)
    yield QuotaDemand("MiB of memory", memory_mib, limits.total_ram, limits.total_ram_used)
    yield QuotaDemand("server groups", len(groups), limits.server_groups, limits.server_groups_used)
    yield QuotaDemand("members of a server group", largest, limits.server_group_members, 0)
    own_network = parameters.network is None and any(each.network is None for each in own)
    for what, needed, found in (
        ("ports", count, quota.ports),
        ("security groups", 1, quota.security_groups),
        ("rules of security groups", _RULES, quota.security_group_rules),
        ("networks", int(own_network), quota.networks),
        ("subnets", int(own_network), quota.subnets),
        ("routers", int(own_network and parameters.external is not None), quota.routers),
        ("floating addresses", count if parameters.external is not None else 0, quota.floating_ips),
    ):
        yield QuotaDemand(what, needed, found["limit"], found["used"] + found.get("reserved", 0))
