"""Everything that carries a tag in a project: listed, and removed in the order that the cloud needs."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from crosswind.testbed.errors import TestbedError
from crosswind.testbed.providers.base import Found
from crosswind.testbed.providers.openstack.project import Project

_TAG = re.compile(r"crosswind-[0-9a-f]{8}(?![0-9a-f])")
_GONE_S = 300.0
_LOOK_S = 1.0


def found_in(project: Project) -> list[Found]:
    """Return everything with any tag."""
    compute, network = project.connection.compute, project.connection.network
    kinds: tuple[tuple[str, Callable[[], Iterable[Any]]], ...] = (
        # In this order they can be removed: what depends on another thing first.
        ("floating address", network.ips),
        ("server", lambda: compute.servers(details=True)),
        ("server group", compute.server_groups),
        ("router", network.routers),
        ("network", network.networks),
        ("security group", network.security_groups),
        ("key pair", compute.keypairs),
    )
    with project.explained("what is there"):
        return [
            found for kind, listed in kinds for each in listed() if (found := _found(kind, each)) is not None
        ]


def _found(kind: str, thing: Any) -> Found | None:
    """Return a thing that is Crosswind's; None for any other.

    A thing may lack its tags: they are set after it is made, and not every kind has them.
    """
    written = [
        thing.name or "",
        getattr(thing, "description", None) or "",
        *(getattr(thing, "tags", None) or ()),
    ]
    for text in written:
        if (match := _TAG.match(text)) is not None:
            name = getattr(thing, "floating_ip_address", None) or thing.name
            return Found(match[0], kind, str(name), str(thing.id))
    return None


def remove(project: Project, tag: str) -> None:
    """Remove everything with a tag.

    Raises: TestbedError: something is left.
    """
    own = [found for found in found_in(project) if found.tag == tag]
    with project.explained("removal"):
        for found in own:
            if found.kind == "server":
                project.connection.compute.delete_server(found.id, ignore_missing=True)
        _await_gone(project, [found.id for found in own if found.kind == "server"])
        for found in own:
            _remove_one(project, found)
    left = [found for found in found_in(project) if found.tag == tag]
    if left:
        raise TestbedError(
            f"testbed.openstack: {project.title}: {left[0].kind} {left[0].name} is left; run "
            "`crosswind cleanup` again"
        )


def _remove_one(project: Project, found: Found) -> None:
    compute, network = project.connection.compute, project.connection.network
    match found.kind:
        case "floating address":
            network.delete_ip(found.id, ignore_missing=True)
        case "server group":
            compute.delete_server_group(found.id, ignore_missing=True)
        case "router":
            for port in _interfaces(project, found.id):
                network.remove_interface_from_router(found.id, port=port)
            network.delete_router(found.id, ignore_missing=True)
        case "network":
            # With it go its subnets.
            network.delete_network(found.id, ignore_missing=True)
        case "security group":
            network.delete_security_group(found.id, ignore_missing=True)
        case "key pair":
            compute.delete_keypair(found.name, ignore_missing=True)


def _interfaces(project: Project, router_id: str) -> Iterator[str]:
    for port in project.connection.network.ports(device_id=router_id):
        if port.device_owner != "network:router_gateway":
            yield str(port.id)


def _await_gone(project: Project, server_ids: list[str]) -> None:
    """Wait for the servers' ports to go, too: a network with ports cannot be removed."""
    deadline = time.monotonic() + _GONE_S
    for server_id in server_ids:
        while project.connection.compute.find_server(server_id, ignore_missing=True) is not None:
            if time.monotonic() > deadline:
                raise TestbedError(
                    f"testbed.openstack: {project.title}: server {server_id} is not gone within "
                    f"{_GONE_S:g} s; ask who runs the cloud"
                )
            time.sleep(_LOOK_S)
