"""MongoDB: a replica set of all database nodes, whose primary is db0.

`mongod` is the user's: no registry that Crosswind uses has it. Records are loaded once and every trial starts
from a copy of all members' data. db0 has the highest priority, so it is elected before the condition comes
into force. Should another member be elected under a condition, db0 refuses writes and the trial fails with
that reason.

`durability` is the write concern. The study that this reproduces used w=0, which waits for nothing.

Source: MongoDB documentation, "Replica Set Configuration", "Write Concern".
"""

import json
import signal
from collections.abc import Sequence

from crosswind.app.base import Stage
from crosswind.app.requirements import OnPath
from crosswind.app.ycsb.mongodb_status import follows
from crosswind.app.ycsb.servers import await_answer, end, run_to_end
from crosswind.app.ycsb.store import PRIMARY, Store, address_of, members_of, own_folder, version_of
from crosswind.testbed.binaries import LOAD, find_binary
from crosswind.testbed.fabric import Process

MONGOD = OnPath("mongod", "install MongoDB Community Server, 5.0 or newer, so that `mongod` is on PATH")
PORT = 27017
_REPLICA_SET = "crosswind"
# The default is half of the memory of the machine, which all members here share.
_CACHE_GB = "1"
# The default of ten seconds would be the longest part of every trial.
_ELECTION_TIMEOUT_MS = 2000


class MongoDB(Store):
    """A replica set; or a primary alone."""

    name = "mongodb"
    requirements = (MONGOD,)
    durabilities = ("w=1", "majority", "w=0")
    settings = f"cache {_CACHE_GB} GB, election timeout {_ELECTION_TIMEOUT_MS} ms"

    def version(self) -> str:
        return version_of(MONGOD.program(), "--version")

    def remark(self) -> str | None:
        if self.durability == "w=0":
            return (
                "MongoDB with w=0 never waits for the network: the latency of a write is that of handing it "
                "to the kernel, whatever the condition, and a write that the server refuses is not seen. The "
                "ICPE '23 study used it; `durability: majority` waits for the replicas."
            )
        if self.durability == "w=1":
            return (
                "MongoDB with w=1 confirms a write before any secondary has it: what the network between the "
                "database's nodes does is not in its latency. `durability: majority` waits."
            )
        return None

    def prepare(self, stage: Stage, loader: str) -> None:
        members = members_of(stage.fabric.nodes)
        for member in members:
            own_folder(stage, member)
        servers = self._serve_all(stage)
        self._await(stage, "ping", {"ping": 1}, servers)
        self._initiate(stage, members)
        self._await_members(stage, servers)
        self.fill(stage, loader)
        # The primary ends last, so that no election moves its role.
        for server in reversed(servers):
            end(server, signal.SIGTERM)
        self.keep(stage, members)

    def start(self, stage: Stage) -> None:
        self.data(stage.fabric.nodes).lay_out(stage.folder)
        self._servers = self._serve_all(stage)
        self._await_members(stage, self._servers)

    def target(self, stage: Stage) -> list[str]:
        server = f"{address_of(stage, PRIMARY)}:{PORT}"
        return ["--store", "mongodb", "--server", server, "--durability", self.durability]

    def _serve_all(self, stage: Stage) -> list[Process]:
        """Start all members; they are ready only after `_await_members`."""
        return [self._serve(stage, member) for member in members_of(stage.fabric.nodes)]

    def _serve(self, stage: Stage, node: str) -> Process:
        folder = stage.folder / node
        place = ["--dbpath", folder, "--bind_ip", address_of(stage, node), "--port", str(PORT)]
        options = ["--replSet", _REPLICA_SET, "--nounixsocket", "--wiredTigerCacheSizeGB", _CACHE_GB]
        return stage.fabric.start(node, "mongod", [MONGOD.program().path, *place, *options], cwd=folder)

    def _initiate(self, stage: Stage, members: Sequence[str]) -> None:
        # Members know each other by name: data outlive the addresses of the fabric they came from.
        configuration = {
            "_id": _REPLICA_SET,
            "members": [
                {"_id": number, "host": f"{member}:{PORT}", "priority": 10 if member == PRIMARY else 1}
                for number, member in enumerate(members)
            ],
            "settings": {"electionTimeoutMillis": _ELECTION_TIMEOUT_MS},
        }
        command = _command(stage, {"replSetInitiate": configuration})
        run_to_end(stage, PRIMARY, "initiate", command)

    def _await_members(self, stage: Stage, servers: Sequence[Process]) -> None:
        """Wait until db0 is the primary and all others have its data and follow it."""
        command = _command(stage, {"replSetGetStatus": 1})
        primary, members = f"{PRIMARY}:{PORT}", len(servers)
        await_answer(
            stage, PRIMARY, "status", command, lambda said: follows(said, primary, members), alive=servers
        )

    def _await(self, stage: Stage, name: str, document: object, servers: Sequence[Process]) -> None:
        await_answer(stage, PRIMARY, name, _command(stage, document), lambda _: True, alive=servers)


def _command(stage: Stage, document: object) -> list[object]:
    server = ["--server", f"{address_of(stage, PRIMARY)}:{PORT}"]
    return [find_binary(LOAD), "mongodb-command", *server, "--command", json.dumps(document)]
