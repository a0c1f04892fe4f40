"""nsd: its configuration, its zone, and the questions about that zone."""

import random
from ipaddress import IPv4Address
from pathlib import Path

from crosswind.app.requirements import DebianPackages

NSD = DebianPackages("nsd", packages=("nsd",), programs=("nsd",))
PORT = 5353
ZONE = "crosswind.test"
# What nsd says when its sockets are bound and its zone is loaded.
READY = "nsd started"

# Every path that has a default outside of our folder is set, and nothing is written during the measurement.
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
# The addresses of the names are from 10.0.0.0/8: 16 million of them.
_FIRST_ADDRESS = int(IPv4Address("10.0.0.0"))
# The longest string within a TXT record (RFC 1035, section 3.3).
_STRING_BYTES_MAX = 255
# Over UDP an answer has to fit into one packet of an ordinary path (the DNS flag day of 2020).
EDNS_BYTES = 1232
# Long enough that its repetition is no pattern; dnsperf reads it again from its beginning.
QUERIES = 100_000


def configuration(address: str, folder: Path, *, processes: int, connections: int) -> str:
    """Return the text of nsd.conf.

    Args:
        processes: that answer.
        connections: over TCP, of all clients together.
    """
    return _CONFIGURATION.format(
        address=address,
        port=PORT,
        folder=folder,
        zone=ZONE,
        processes=processes,
        # Of each process; any one may accept all of them.
        tcp_count=connections + 16,
        edns_bytes=EDNS_BYTES,
    )


def zone(address: str, names: int, text_bytes: int | None) -> str:
    """Return a zone file with the names h0 to h(`names` - 1).

    Args:
        text_bytes: of the text that each name has; without it, each has an address of its own.
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
    """Return a query file for dnsperf: names with equal probability, in an order that follows from the seed.

    Args:
        record: `A` or `TXT`.
    """
    draw = random.Random(seed)
    return "".join(f"h{draw.randrange(names)}.{ZONE} {record}\n" for _ in range(QUERIES))
