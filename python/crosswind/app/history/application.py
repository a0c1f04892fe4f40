"""`history` as an application: the servers of `ycsb`, our clients, and the check of what they saw."""

from collections.abc import Collection, Iterator
from typing import ClassVar

from crosswind.app.base import Application, Load, Stage
from crosswind.app.demand import Demand
from crosswind.app.history.load import HistoryLoad
from crosswind.app.history.parameters import HistoryParameters
from crosswind.app.load import latency_figures, offer_load, seconds
from crosswind.app.requirements import OwnProgram, Requirement
from crosswind.app.server import READY_S, run_to_end
from crosswind.app.stores.etcd import Etcd
from crosswind.app.stores.mongodb import MongoDB
from crosswind.app.stores.postgresql import PostgreSQL
from crosswind.app.stores.redis import Redis
from crosswind.app.stores.store import PRIMARY, Store, address_of, members_of, replicas_of
from crosswind.app.stores.valkey import Valkey
from crosswind.spec.declared import FaultNodes, Figure
from crosswind.testbed.binaries import LOAD, find_binary

CLIENT = "client"
_STORES: dict[str, type[Store]] = {store.name: store for store in (PostgreSQL, Redis, Valkey, Etcd, MongoDB)}
# The stores' prepared data have records, which this application does not use; one is the fewest.
_RECORDS = 1
VIOLATIONS = Figure("violations", "count", "count", "violations", "lower")
UNDECIDED = Figure("undecided", "count", "count", "undecided keys", "lower")


class History(Application):
    """A store on the nodes db0 (primary), db1, db2 ... (replicas), and the clients on `client`."""

    name = "history"
    summary = "concurrent clients of a replicated database: is the data still right?"
    Parameters = HistoryParameters
    requirements = (OwnProgram(LOAD),)
    variants: ClassVar[dict[str, tuple[Requirement, ...]]] = {
        name: store.requirements for name, store in _STORES.items()
    }
    parameters: HistoryParameters

    def __init__(self, parameters: HistoryParameters) -> None:
        super().__init__(parameters)
        self._store = _store(parameters)

    def expected_set_up_s(self) -> float:
        return self._store.set_up_s

    @property
    def variant(self) -> str:
        return self.parameters.store

    def figures(self) -> tuple[Figure, ...]:
        return (VIOLATIONS, UNDECIDED, *latency_figures(self.parameters.rate))

    @classmethod
    def roles_missing(cls, nodes: Collection[str]) -> list[str]:
        return [role for role in (PRIMARY, CLIENT) if role not in nodes]

    @classmethod
    def misfits(
        cls, parameters: HistoryParameters, nodes: Collection[str]
    ) -> Iterator[tuple[tuple[str | int, ...], str]]:
        if misfit := _store(parameters).misfit(nodes):
            yield ("durability",), f'"{parameters.durability}" {misfit}'
        if parameters.store == Etcd.name and parameters.reads == "any":
            yield ("reads",), "each client of etcd has a member of its own already; leave `reads` out"
        yield from _of_mongodb(parameters)
        if (failover := parameters.failover) is None:
            return
        replicas = replicas_of(nodes)
        if parameters.store in (Etcd.name, MongoDB.name):
            yield ("failover",), f"{parameters.store} elects its leader itself; leave `failover` out"
        elif failover.to not in replicas:
            there = f"write {', '.join(replicas)}" if replicas else "add nodes db1, db2 ..."
            yield ("failover", "to"), f'"{failover.to}" is no replica; {there}'
        if failover.at_ns >= parameters.duration_ns:
            yield (
                ("failover", "at"),
                f"the measured phase ends after {parameters.duration_ns / 1e9:g}s; write an earlier instant",
            )

    @classmethod
    def faults_on(cls, parameters: HistoryParameters, nodes: Collection[str]) -> FaultNodes:
        return FaultNodes(frozenset(members_of(nodes)), frozenset({CLIENT}))

    def demand(self, nodes: Collection[str]) -> Demand:
        return self._store.demand(nodes)

    def is_prepared(self, nodes: Collection[str]) -> bool:
        return self._store.is_prepared(nodes)

    def prepare(self, stage: Stage) -> None:
        self._store.prepare(stage, loader=CLIENT)

    def start(self, stage: Stage) -> None:
        self._store.start(stage)
        command = [find_binary(LOAD), "history-prepare", *self._store.target(stage)]
        run_to_end(stage, CLIENT, "history-prepare", command, READY_S)

    def restart(self, stage: Stage, node: str) -> None:
        self._store.restart(stage, node)

    def load(self, stage: Stage) -> Load:
        asked, target = self.parameters, self._store.target(stage)
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

    def stop(self, stage: Stage) -> None:
        self._store.stop(stage)


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


def _store(parameters: HistoryParameters) -> Store:
    return _STORES[parameters.store](_RECORDS, parameters.durability)
