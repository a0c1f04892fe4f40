"""Read the kernel's tables of sockets to find the addresses of listening sockets. Pure functions.

Source: the kernel's Documentation/networking/proc_net_tcp.rst. Addresses are hexadecimal words in the byte
order of the machine; the agent is built for little-endian machines only.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Collection, Iterator

ANYWHERE = ("0.0.0.0", "::")

# States: TCP_LISTEN of a TCP socket, and TCP_CLOSE of an unconnected UDP socket.
_LISTENING = {"tcp": "0A", "udp": "07"}


def listening_addresses(tables: str, port: int, protocol: str = "tcp") -> set[str]:
    """Return the addresses of sockets that listen on a port.

    Args:
        tables: content of /proc/net/tcp and tcp6, or udp and udp6.
    """
    return {
        address for address, at, state in _sockets(tables) if at == port and state == _LISTENING[protocol]
    }


def listening_ports(tables: str, addresses: Collection[str], protocol: str = "tcp") -> set[int]:
    """Return the ports of sockets that listen on one of `addresses`.

    Args:
        tables: as for `listening_addresses`.
    """
    return {
        at
        for address, at, state in _sockets(tables)
        if address in addresses and state == _LISTENING[protocol]
    }


def _sockets(tables: str) -> Iterator[tuple[str, int, str]]:
    for line in tables.splitlines():
        fields = line.split()
        # The heading of a table does not begin with a number.
        if len(fields) > 3 and fields[0].rstrip(":").isdecimal():
            address, _, port = fields[1].rpartition(":")
            yield _address(address), int(port, 16), fields[3]


def _address(text: str) -> str:
    words = [int(text[at : at + 8], 16).to_bytes(4, "little") for at in range(0, len(text), 8)]
    return str(ipaddress.ip_address(b"".join(words)))
