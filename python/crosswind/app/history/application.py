"""`history` as an application: the servers of `ycsb`, our clients, and the check of what they saw."""

from collections.abc import Collection, Iterator

from crosswind.app.base import Load, Stage
from crosswind.app.history.load import HistoryLoad
from crosswind.app.history.parameters import HistoryParameters
from crosswind.app.load import latency_figures, offer_load, seconds
from crosswind.app.server import READY_S, run_to_end
from crosswind.app.stores.application import CLIENT, OnStore, by_name
from crosswind.app.stores.cassandra import Cassandra
from crosswind.app.stores.etcd import Etcd
from crosswind.app.stores.mongodb import MongoDB
from crosswind.app.stores.postgresql import PostgreSQL
from crosswind.app.stores.redis import Redis
from crosswind.app.stores.store import Store, address_of, replicas_of
from crosswind.app.stores.valkey import Valkey
from crosswind.spec.declared import Figure
from crosswind.testbed.binaries import LOAD, find_binary

# The stores' prepared data have records, which this application does not use; one is the fewest.
_RECORDS = 1
VIOLATIONS = Figure("violations", "count", "count", "violations", "lower")
UNDECIDED = Figure("undecided", "count", "count", "undecided keys", "lower")


class History(OnStore):
    """A store on the nodes db0 (primary), db1, db2 ... (replicas), and the clients on `client`."""

    name = "history"
    summary = "concurrent clients of a replicated database: is the data still right?"
    Parameters = HistoryParameters
    stores = by_name(PostgreSQL, Redis, Valkey, Etcd, MongoDB, Cassandra)
    parameters: HistoryParameters

    @classmethod
    def store_of(cls, parameters: HistoryParameters) -> Store:
        return cls.stores[parameters.store](_RECORDS, parameters.durability)

    def figures(self) -> tuple[Figure, ...]:
        return (VIOLATIONS, UNDECIDED, *latency_figures(self.parameters.rate))

    @classmethod
    def misfits(
        cls, parameters: HistoryParameters, nodes: Collection[str]
    ) -> Iterator[tuple[tuple[str | int, ...], str]]:
        yield from super().misfits(parameters, nodes)
        if parameters.store in (Etcd.name, Cassandra.name) and parameters.reads == "any":
            yield (
                ("reads",),
                f"each client of {parameters.store} has a server of its own already; leave `reads` out",
            )
        yield from _of_mongodb(parameters)
        if (failover := parameters.failover) is None:
            return
        replicas = replicas_of(nodes)
        if parameters.store in (Etcd.name, MongoDB.name):
            yield ("failover",), f"{parameters.store} elects its leader itself; leave `failover` out"
        elif parameters.store == Cassandra.name:
            yield ("failover",), "servers of cassandra are equal; leave `failover` out"
        elif failover.to not in replicas:
            there = f"write {', '.join(replicas)}" if replicas else "add nodes db1, db2 ..."
            yield ("failover", "to"), f'"{failover.to}" is no replica; {there}'
        if failover.at_ns >= parameters.duration_ns:
            yield (
                ("failover", "at"),
                f"the measured phase ends after {parameters.duration_ns / 1e9:g}s; write an earlier instant",
            )

    def start(self, stage: Stage) -> None:
        super().start(stage)
        command = [find_binary(LOAD), "history-prepare", *self.store.target(stage)]
        run_to_end(stage, CLIENT, "history-prepare", command, timeout_s=READY_S)

    def load(self, stage: Stage) -> Load:
        asked, target = self.parameters, self.store.target(stage)
        lines, edn = stage.folder / "history.jsonl", stage.folder / "history.edn"
        port = target[target.index("--server") + 1].rpartition(":")[2]
        replicas = replicas_of(stage.fabric.nodes)
        servers = ",".join(f"{address_of(stage, replica)}:{port}" for replica in replicas)
        arguments = [
            "history",
            *target,
            *(("--replicas", servers) if servers else ()),
            *("--workload", asked.workload),
            *("--keys", str(asked.key_count)),
            *("--clients", str(asked.clients)),
            *("--rate", f"{asked.rate:g}"),
            *("--reads", asked.reads),
            *(("--read-concern", asked.read_concern) if asked.read_concern is not None else ()),
            *("--history", str(lines)),
            *("--edn", str(edn)),
        ]
        if (failover := asked.failover) is not None:
            arguments += ["--promote", str(1 + replicas.index(failover.to))]
            arguments += ["--promote-after", seconds(failover.at_ns)]
        offered = offer_load(
            stage,
            CLIENT,
            arguments,
            warm_up_ns=asked.warm_up_ns,
            duration_ns=asked.duration_ns,
            outlive_ns=asked.timeout_ns,
        )
        return HistoryLoad(offered, lines, edn, asked)


def _of_mongodb(parameters: HistoryParameters) -> Iterator[tuple[tuple[str | int, ...], str]]:
    concern = parameters.read_concern
    if parameters.store != MongoDB.name:
        if concern is not None:
            yield ("read_concern",), f"{parameters.store} has none; leave `read_concern` out"
        return
    if parameters.durability == "w=0":
        yield ("durability",), '"w=0" confirms no write, so no outcome is known; write w=1 or majority'
    if concern == "linearizable" and parameters.reads == "any":
        yield ("reads",), "only the primary has linearizable reads; leave `reads` out"
