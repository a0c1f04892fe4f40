"""The names and ports of a service: `networks`, `network_mode`, `ports` and `expose`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from crosswind.app.compose import keys
from crosswind.app.compose.located import Located
from crosswind.app.compose.merge import as_mapping
from crosswind.app.compose.service import node_name
from crosswind.app.compose.service_text import ServiceText
from crosswind.spec.quantities import QuantityError, shown

DEFAULT_NETWORK = "default"
_PORT = re.compile(
    r"(?:[0-9.]+:|\[[0-9a-fA-F:]+\]:)?(?:[0-9-]*:)?(?P<first>[0-9]+)(?:-(?P<last>[0-9]+))?(?:/(?P<protocol>tcp|udp))?"
)


def read_networks(service: ServiceText) -> Located:
    """Return the names of the service in each of its networks, and note how networks are used."""
    mode, written = service.items.get("network_mode"), service.items.get("networks")
    names = [str(item.value) for key in ("container_name",) if (item := service.items.get(key)) is not None]
    if mode is not None:
        _check_mode(service, mode)
    if written is None or not written.value:
        return service.written.made({DEFAULT_NETWORK: names})
    found: dict[str, list[str]] = {}
    defined = service.context.tree.items.get("networks")
    for name, item in as_mapping(written, names=True).items.items():
        if name != DEFAULT_NETWORK and (defined is None or name not in defined.items):
            raise QuantityError(
                f"has {shown(name)}, which is not a network of the file; add networks: {{{name}: }}"
            )
        found[name] = [*names, *_aliases(service, name, item)]
    if found.keys() != {DEFAULT_NETWORK}:
        service.note(
            "networks",
            "decide which names a service with an image resolves; every address can be reached",
            matters=True,
        )
    return written.made(found)


def _aliases(service: ServiceText, network: str, item: Located) -> list[str]:
    for key, value in item.items.items():
        if key in ("ipv4_address", "ipv6_address"):
            _check_address(service, str(value.value), value)
        elif key not in (
            "aliases",
            "priority",
            "gw_priority",
            "interface_name",
            "mac_address",
            "link_local_ips",
            "driver_opts",
        ):
            raise QuantityError(f'has "{key}" for {network}, which is not a key of a network; leave it out')
    aliases = item.items.get("aliases")
    return [] if aliases is None else [str(alias.value) for alias in aliases.list]


def _check_address(service: ServiceText, address: str, item: Located) -> None:
    """Refuse a fixed address of the service that other parts of the file use."""
    for other in _texts(service.context.tree):
        if other.place != item.place and re.search(
            rf"(?<![0-9.]){re.escape(address)}(?![0-9.])", other.value
        ):
            raise QuantityError(
                f"has the address {address}, which line {other.place.line} uses, but Crosswind "
                f"assigns addresses to nodes; write the name {node_name(service.name)} there, and leave "
                "the address out"
            )
    service.context.note(
        item.key, "ipv4_address", "is ignored: Crosswind assigns addresses to nodes", matters=True
    )


def _check_mode(service: ServiceText, mode: Located) -> None:
    text = str(mode.value)
    if text.startswith(("service:", "container:")) or text == "none":
        what = "means no network" if text == "none" else "shares the network of another service"
        raise QuantityError(f"{what} ({shown(text)}), but every node has a network of its own; leave it out")
    if text == "host":
        service.note("network_mode", "is ignored: the service has its own node", matters=True)
    else:
        service.note("network_mode", "has no effect: the service has its own node")


def read_ports(service: ServiceText) -> Located | None:
    """Return the ports inside the service, each once; None where the file names none."""
    found: list[str] = []
    place = service.items.get("ports") or service.items.get("expose")
    for key in ("ports", "expose"):
        item = service.items.get(key)
        if item is None:
            continue
        if not isinstance(item.value, list):
            raise QuantityError(f"{shown(item.value)} must be a list; write such as [80]")
        found += [port for entry in item.value for port in _ports_of(entry)]
        service.note(key, keys.PORTS)
    return place.made(list(dict.fromkeys(found))) if place is not None else None


def _texts(item: Located) -> Iterator[Located]:
    """Yield every text below a value."""
    if isinstance(item.value, str):
        yield item
    for entry in (*item.items.values(), *item.list):
        yield from _texts(entry)


def _ports_of(item: Located) -> list[str]:
    """Return the ports inside the service that an entry of `ports` or `expose` names, such as `80/tcp`."""
    if isinstance(item.value, dict):
        values = item.plain()
        text = f"{values.get('target')}/{values.get('protocol', 'tcp')}"
    else:
        text = str(item.value)
    match = _PORT.fullmatch(text)
    if match is None or isinstance(item.value, bool):
        raise QuantityError(f'{shown(text)} is not a port; write such as "8080:80"')
    first, last = int(match["first"]), int(match["last"] or match["first"])
    if not 1 <= first <= last <= 65535:
        raise QuantityError(f"{shown(text)} is outside 1 to 65535")
    return [f"{port}/{match['protocol'] or 'tcp'}" for port in range(first, min(last, first + 99) + 1)]
