"""etcd as a judge: a partition finds the fault of its issue 20221 in one release, and not in a later one.

A watch may begin at a revision that is yet to come. A member that was cut off for so long that the leader
sends it a snapshot moves its watches to those that have to catch up, and forgets where such a watch began:
it gets older events. etcd's robustness tests found this with members that are cut off until a snapshot.

Source: etcd issue 20221, fixed by pull request 20281 in 3.4.38, 3.5.22 and 3.6.2.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import crosswind
from crosswind.app.requirements import Program
from crosswind.errors import CrosswindError

MEMBERS = ("db0", "db1", "db2")
CLIENT_PORT, PEER_PORT = 2379, 2380
_CLIENT = Path(__file__).with_name("etcd_client.py")
# A leader sends a snapshot to a member that lacks more than this many of the entries before its own snapshot,
# which is taken after every hundredth entry. The first is a constant of etcd 3.4.
_CATCH_UP, _SNAPSHOT_EVERY = 5000, 100
_BEHIND = _CATCH_UP + 4 * _SNAPSHOT_EVERY
# So far ahead of all writes until the partition ends does the watch begin.
_AHEAD = 320
_LONGEST_S = 120.0


@dataclass(frozen=True)
class Watched:
    """What a watch on the member that was cut off got.

    Attributes:
        start: the revision from which it was asked to watch.
        events: the revisions of its events, in their order.
        found_s: from the cut to the first event before `start`; None where there was none.
    """

    start: int
    events: list[int]
    found_s: float | None

    @property
    def too_early(self) -> list[int]:
        """The events before `start`."""
        return [revision for revision in self.events if revision < self.start]


def network() -> crosswind.Fabric:
    """Return a network with three members and a client."""
    nodes = {name: f"h{number}" for number, name in enumerate((*MEMBERS, "client"))}
    uplink = {"rate": "1Gbit/s", "delay": "100us"}
    return crosswind.Fabric({"hosts": len(nodes), "uplink": uplink, "nodes": nodes, "wait": "sleep"})


def start_cluster(net: crosswind.Fabric, etcd: Program, folder: Path) -> None:
    """Start a member on each node but the client's; they have a leader when this returns."""
    peers = ",".join(f"{member}=http://{member}:{PEER_PORT}" for member in MEMBERS)
    for member in MEMBERS:
        address = net.address(member)
        command = [
            str(etcd.path),
            *("--name", member),
            *("--data-dir", str(folder / member)),
            *("--listen-peer-urls", f"http://{address}:{PEER_PORT}"),
            *("--initial-advertise-peer-urls", f"http://{member}:{PEER_PORT}"),
            *("--listen-client-urls", f"http://{address}:{CLIENT_PORT}"),
            *("--advertise-client-urls", f"http://{member}:{CLIENT_PORT}"),
            *("--initial-cluster", peers),
            *("--snapshot-count", str(_SNAPSHOT_EVERY)),
        ]
        with (folder / f"{member}.log").open("w") as log:
            net.popen(member, command, stdout=log, stderr=subprocess.STDOUT, env={**os.environ, **etcd.env})
    for member in MEMBERS:
        net.await_port(member, CLIENT_PORT, timeout=_LONGEST_S)
    _put(net, MEMBERS[0], 16)


def watch_through_partition(net: crosswind.Fabric, member: str) -> Watched:
    """Cut a member off until it needs a snapshot; watch it meanwhile from a revision that is yet to come."""
    other = MEMBERS[MEMBERS.index(member) - 1]
    before = _put(net, other, 16)
    # The client reaches all members.
    cut_ns = net.partition([[member], [each for each in MEMBERS if each != member]])
    start = before + _BEHIND + _AHEAD
    watch = net.popen("client", _words("watch", net.address(member), start), stdout=subprocess.PIPE)
    assert watch.stdout is not None
    if watch.stdout.readline() != "created\n":
        raise CrosswindError(f"{member}: its watch was not created")
    written = _put(net, other, _BEHIND)
    net.heal()
    _await_revision(net, member, written)
    # Twice as many as are missing until the watch may get its first event.
    _put(net, other, 2 * _AHEAD)
    events: list[int] = []
    found_s = None
    for line in watch.stdout:
        revision, at = line.split()
        events.append(int(revision))
        if events[-1] < start and found_s is None:
            found_s = float(at) - cut_ns / 1e9
        if events[-1] >= start + _AHEAD // 2:
            break
    return Watched(start, events, found_s)


def _put(net: crosswind.Fabric, member: str, count: int) -> int:
    """Put a key so often; return its last revision."""
    done = net.exec("client", _words("put", net.address(member), count), timeout=_LONGEST_S)
    if done.returncode != 0:
        raise CrosswindError(f"put: {done.stderr}")
    return int(done.stdout)


def _await_revision(net: crosswind.Fabric, member: str, revision: int) -> None:
    """Wait until a member has applied a revision."""
    deadline = time.monotonic() + _LONGEST_S
    while True:
        done = net.exec("client", _words("revision", net.address(member)), timeout=_LONGEST_S)
        if done.returncode == 0 and int(done.stdout) >= revision:
            return
        if time.monotonic() > deadline:
            raise CrosswindError(
                f"{member}: not at revision {revision} within {_LONGEST_S:g} s: {done.stdout}{done.stderr}"
            )
        time.sleep(0.2)


def _words(verb: str, *arguments: object) -> list[str]:
    return [sys.executable, str(_CLIENT), verb, *(str(argument) for argument in arguments)]
