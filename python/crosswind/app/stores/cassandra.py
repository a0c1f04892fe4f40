"""Apache Cassandra: a ring of all database nodes, each of which has every record; db0 takes the load.

Records are loaded once, and every trial starts from a copy of all nodes' data. Nodes use the addresses of
their current fabric: the stored state of the ring is ignored (`cassandra.load_ring_state`), because its
addresses may be outdated. All nodes are seeds with fixed tokens, so none waits for another before it joins,
and a start takes only as long as starting Java.

`durability` is the consistency level of reads and writes; with `serial`, writes are lightweight transactions.
The node that a client talks to coordinates and is itself a replica; of `ycsb` it is db0. All nodes are in one
rack, so the snitch prefers the coordinator.

Source: Apache Cassandra 5.0, `bin/cassandra`, `conf/jvm17-server.options`, `conf/cassandra.yaml`.
"""

from collections.abc import Sequence

from crosswind.app.base import Stage
from crosswind.app.requirements import DebianPackages, MavenArtifacts
from crosswind.app.stores.cassandra_files import LOGGING, RACK, java_options, settings_text
from crosswind.app.stores.cluster import Cluster
from crosswind.app.stores.servers import await_answer
from crosswind.app.stores.store import PRIMARY, address_of, members_of
from crosswind.testbed.binaries import LOAD, find_binary
from crosswind.testbed.fabric import Process
from crosswind.testbed.folders import give

VERSION = "5.0.6"
CASSANDRA = MavenArtifacts("cassandra", (f"org.apache.cassandra:cassandra-all:{VERSION}",))
# The newest Java that Cassandra 5.0 supports.
JAVA = DebianPackages(
    "java-17",
    ("openjdk-17-jre-headless",),
    programs=("java",),
    folders=("usr/lib/jvm/java-17-openjdk-*/bin",),
)
PORT = 9042
_MAIN = "org.apache.cassandra.service.CassandraDaemon"
# Three virtual machines that start together on two busy cores take almost a minute; after this they hang.
_READY_S = 150.0


class Cassandra(Cluster):
    """A ring with as many replicas of every record as there are database nodes."""

    name = "cassandra"
    requirements = (CASSANDRA, JAVA)
    durabilities = ("quorum", "one", "all", "serial")
    # As many virtual machines as nodes; 23 to 27 s on two cores under a load average of 15 (2026-11-25).
    set_up_s = 10.0
    settings = "ycsb.usertable of columns, one token a node, every node a replica"

    def version(self) -> str:
        return VERSION

    def remark(self) -> str | None:
        if self.durability != "one":
            return None
        return (
            "Cassandra with consistency ONE confirms a write when one node has it, and the node that is "
            "asked answers reads from its own data: the network between the database's nodes is not in the "
            "latency, and a read may be stale. `durability: quorum` waits for the replicas."
        )

    def form(self, stage: Stage, servers: Sequence[Process]) -> None:
        members = members_of(stage.fabric.nodes)
        # Nodes that join after a schema was made get it only a minute later.
        for member in members:
            self._await(stage, member, f"joined-{member}", "SELECT key FROM system.local", "one", servers)
        replication = f"{{'class': 'SimpleStrategy', 'replication_factor': {len(members)}}}"
        create = f"CREATE KEYSPACE IF NOT EXISTS ycsb WITH replication = {replication}"
        self._await(stage, PRIMARY, "create-keyspace", create, "one", servers)

    def gather(self, stage: Stage, servers: Sequence[Process]) -> None:
        # Answered only when all replicas have answered db0.
        read = "SELECT y_id FROM ycsb.usertable LIMIT 1"
        self._await(stage, PRIMARY, "replicas", read, "all", servers)

    def target(self, stage: Stage) -> list[str]:
        return ["--store", "cassandra", "--server", _server(stage, PRIMARY), "--durability", self.durability]

    def serve(self, stage: Stage, node: str) -> Process:
        members = members_of(stage.fabric.nodes)
        seeds, number = [address_of(stage, member) for member in members], members.index(node)
        folder = stage.folder / node
        conf, scratch = folder / "conf", folder / "scratch"
        for own in (conf, scratch):
            own.mkdir(exist_ok=True)
            give(own, *stage.fabric.application_account)
        (conf / "cassandra.yaml").write_text(settings_text(number, seeds))
        (conf / "cassandra-rackdc.properties").write_text(RACK)
        (conf / "logback.xml").write_text(LOGGING)
        command = [
            JAVA.program("java").path.resolve(),
            *java_options(folder, agent=next(CASSANDRA.folder.glob("jamm-*.jar"))),
            *("-cp", f"{conf}:{CASSANDRA.folder}/*", _MAIN),
        ]
        return stage.fabric.start(node, "cassandra", command, cwd=folder, env=JAVA.env)

    def _await(
        self,
        stage: Stage,
        node: str,
        name: str,
        statement: str,
        consistency: str,
        servers: Sequence[Process],
    ) -> None:
        """Run a statement on a node until it succeeds."""
        command = [
            *(find_binary(LOAD), "cassandra-command", "--server", _server(stage, node)),
            *("--statement", statement, "--consistency", consistency),
        ]
        await_answer(stage, node, name, command, lambda _: True, alive=servers, timeout_s=_READY_S)


def _server(stage: Stage, node: str) -> str:
    return f"{address_of(stage, node)}:{PORT}"
