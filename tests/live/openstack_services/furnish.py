"""Put into a bare cloud what a site has: services, projects, flavours, an image, an external network.

Runs in the services' own virtual environment. Usage: furnish.py JSON, then furnish.py furnish
"""

import json
import sys

import openstack


def main() -> None:
    arguments = json.loads(sys.argv[1])
    cloud = openstack.connect(cloud="admin")
    for service, name, url in arguments["endpoints"]:
        made = cloud.identity.create_service(name=name, type=service)
        for interface in ("public", "internal", "admin"):
            cloud.identity.create_endpoint(
                service_id=made.id, interface=interface, url=url, region_id="RegionOne"
            )
    # Services accept a token of another service only from accounts with this role.
    service, account = cloud.identity.find_role("service"), cloud.identity.find_user("admin")
    cloud.identity.assign_project_role_to_user(cloud.identity.find_project("admin"), account, service)
    member = cloud.identity.find_role("member")
    for name in arguments["projects"]:
        project = cloud.identity.create_project(name=name, domain_id="default")
        user = cloud.identity.create_user(name=name, password=arguments["password"], domain_id="default")
        cloud.identity.assign_project_role_to_user(project, user, member)


def furnish() -> None:
    cloud = openstack.connect(cloud="admin")
    for name, cores, memory_mib in (("small", 1, 512), ("large", 4, 4096), ("huge", 64, 65536)):
        cloud.compute.create_flavor(name=name, vcpus=cores, ram=memory_mib, disk=1)
    cloud.create_image(
        "debian", data=b"not a disk", disk_format="raw", container_format="bare", visibility="public"
    )
    outside = cloud.network.create_network(
        name="public",
        is_router_external=True,
        provider_network_type="flat",
        provider_physical_network="public",
    )
    cloud.network.create_subnet(
        network_id=outside.id, ip_version=4, cidr="203.0.113.0/24", is_dhcp_enabled=False
    )


if __name__ == "__main__":
    if sys.argv[1] == "furnish":
        furnish()
    else:
        main()
