"""nsd: its configuration, its zone, and the queries for that zone."""

import random
from ipaddress import IPv4Address
from pathlib import Path

from crosswind.app.requirements import DebianPackages

NSD = DebianPackages("nsd", packages=("nsd",), programs=("nsd",))
PORT = 5353
ZONE = "crosswind.test"
# nsd prints this when its sockets are bound and its zone is loaded.
READY = "nsd started"

# Every path whose default is outside our folder is set; nothing is written during the measurement.
_CONFIGURATION = """\
server:
  ip-address: {address}@{port}
  server-count: {processes}
  tcp-count: {tcp_count}
  username: ""
  chroot: ""
  database: ""
  zonesdir: "{folder}"
  xfrdir: "{folder}"
  pidfile: "{folder}/nsd.pid"
  xfrdfile: "{folder}/xfrd.state"
  zonelistfile: "{folder}/zone.list"
  cookie-secret-file: "{folder}/cookie-secret"
  rrl-ratelimit: 0
  ipv4-edns-size: {edns_bytes}
remote-control:
  control-enable: no
zone:
  name: {zone}
  zonefile: zone
"""

_ZONE_HEAD = """\
$ORIGIN {zone}.
$TTL 3600
@ SOA ns hostmaster 1 3600 600 86400 60
@ NS ns
ns A {address}
"""
# The names have addresses of 10.0.0.0/8, which has 16 million.
_FIRST_ADDRESS = int(IPv4Address("10.0.0.0"))
# The longest string within a TXT record (RFC 1035, section 3.3).
_STRING_BYTES_MAX = 255
# Over UDP, an answer must fit into one packet on ordinary paths (DNS flag day 2020).
EDNS_BYTES = 1232
# Long enough that its repetition does not matter; at the end, dnsperf starts again from the beginning.
QUERIES = 100_000


def configuration(address: str, folder: Path, *, processes: int, connections: int) -> str:
    """Return the text of nsd.conf.

    Args:
        processes: number of processes that answer.
        connections: TCP connections of all clients together.
    """
    return _CONFIGURATION.format(
        address=address,
        port=PORT,
        folder=folder,
        zone=ZONE,
        processes=processes,
        # For each process: one of them may accept all connections.
        tcp_count=connections + 16,
        edns_bytes=EDNS_BYTES,
    )


def zone(address: str, names: int, text_bytes: int | None) -> str:
    """Return a zone file with the names h0 to h(`names` - 1).

    Args:
        text_bytes: size of the text of each name; None gives each name a different address.
    """
    if text_bytes is None:
        lines = [f"h{number} A {IPv4Address(_FIRST_ADDRESS + number)}\n" for number in range(names)]
    else:
        whole, rest = divmod(text_bytes, _STRING_BYTES_MAX)
        strings = ["x" * _STRING_BYTES_MAX] * whole + ["x" * rest] * (rest > 0)
        text = " ".join(f'"{string}"' for string in strings)
        lines = [f"h{number} TXT {text}\n" for number in range(names)]
    return _ZONE_HEAD.format(zone=ZONE, address=address) + "".join(lines)


def queries(names: int, record: str, seed: int) -> str:
    """Return a query file for dnsperf: names with equal probability, drawn with the seed.

    Args:
        record: `A` or `TXT`.
    """
    draw = random.Random(seed)
    return "".join(f"h{draw.randrange(names)}.{ZONE} {record}\n" for _ in range(QUERIES))
