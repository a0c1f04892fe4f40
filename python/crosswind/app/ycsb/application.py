"""YCSB as an application: parameters and load; each store starts its own servers."""

from collections.abc import Collection, Iterator
from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from crosswind.app.base import Application, Load, Stage
from crosswind.app.demand import Demand
from crosswind.app.load import latency_figures, offer_load
from crosswind.app.pace import Pace
from crosswind.app.requirements import OwnProgram, Requirement
from crosswind.app.stores.cassandra import Cassandra
from crosswind.app.stores.durability import Durability
from crosswind.app.stores.etcd import Etcd
from crosswind.app.stores.ferretdb import FerretDB
from crosswind.app.stores.mongodb import MongoDB
from crosswind.app.stores.postgresql import PostgreSQL
from crosswind.app.stores.redis import Redis
from crosswind.app.stores.store import FIELD_BYTES, PRIMARY, Store, members_of
from crosswind.app.stores.valkey import Valkey
from crosswind.spec.declared import FaultNodes, Figure
from crosswind.spec.quantities import Duration, PositiveDuration, Size
from crosswind.testbed.binaries import LOAD

CLIENT = "client"
# A record of 1 MB; etcd takes requests of 1.5 MiB.
FIELD_BYTES_MAX = 100_000
# The kinds of operations of each workload, as in the names of metrics; none if there is only one kind.
_KINDS = {
    "a": ("read", "update"),
    "b": ("read", "update"),
    "c": (),
    "d": ("read", "insert"),
    "e": ("scan", "insert"),
    "f": ("read", "read-modify-write"),
}
_STORES: dict[str, type[Store]] = {
    store.name: store for store in (PostgreSQL, Redis, Valkey, Etcd, MongoDB, FerretDB, Cassandra)
}


class YcsbParameters(Pace):
    """The store, its records, the workload, its clients, and its end."""

    store: Literal["postgresql", "redis", "valkey", "etcd", "mongodb", "ferretdb", "cassandra"] = Field(
        "postgresql", description="The database under test."
    )
    durability: Durability | None = Field(
        None,
        description=(
            "Guarantee of a confirmed operation, in the store's own terms: postgresql and ferretdb on (when "
            "absent), remote_apply, remote_write, local, off; redis and valkey wait=0 (when absent), wait=1, "
            "wait=2; etcd linearizable (when absent), serializable; mongodb w=1 (when absent), majority, "
            "w=0; cassandra quorum (when absent), one, all."
        ),
    )
    workload: Literal["a", "b", "c", "d", "e", "f"] = Field(description="A YCSB core workload.")
    records: Annotated[int, Field(ge=1, le=100_000_000)] = Field(
        10_000, description="Records of ten fields loaded before the first trial; 10000 when absent."
    )
    field_bytes: Annotated[Size, Field(le=FIELD_BYTES_MAX)] = Field(
        FIELD_BYTES, alias="field_length", description="Size of each field; 100B, YCSB's own, when absent."
    )
    operations: Annotated[int, Field(ge=1)] | None = Field(
        None, description="End of the measured phase, in operations; write this, `duration` or both."
    )
    duration_ns: PositiveDuration | None = Field(
        None, alias="duration", description="End of the measured phase, in time; the first of both ends it."
    )
    warm_up_ns: Duration = Field(
        1_000_000_000, alias="warm_up", description="Before the measured phase; 1s when absent."
    )
    clients: Annotated[int, Field(ge=1, le=150)] = Field(
        4, description="Connections, each with at most one operation in flight; 4 when absent."
    )

    @model_validator(mode="after")
    def _has_an_end(self) -> "YcsbParameters":
        if self.operations is None and self.duration_ns is None:
            raise ValueError("has no end; add `duration: 5s`, `operations: 50000` or both")
        return self


class Ycsb(Application):
    """A store on the nodes db0 (primary), db1, db2 ... (standbys), and the load generator on `client`."""

    name = "ycsb"
    summary = "a replicated database under the YCSB core workloads"
    Parameters = YcsbParameters
    requirements = (OwnProgram(LOAD),)
    variants: ClassVar[dict[str, tuple[Requirement, ...]]] = {
        name: store.requirements for name, store in _STORES.items()
    }
    parameters: YcsbParameters

    def __init__(self, parameters: YcsbParameters) -> None:
        super().__init__(parameters)
        self._store = _store(parameters)

    def load_may_end_sooner(self) -> bool:
        return self.parameters.operations is not None

    def expected_set_up_s(self) -> float:
        return self._store.set_up_s

    @property
    def variant(self) -> str:
        return self.parameters.store

    def figures(self) -> tuple[Figure, ...]:
        pooled = latency_figures(self.parameters.rate)
        # Kinds wait for different parts of the network: reads for the primary, updates also for a replica.
        kinds = _KINDS[self.parameters.workload]
        return (
            *pooled,
            *(Figure(f"{pooled[0].metric}.{kind}", "p99", "ns", f"{kind} P99", "lower") for kind in kinds),
        )

    @classmethod
    def roles_missing(cls, nodes: Collection[str]) -> list[str]:
        return [role for role in (PRIMARY, CLIENT) if role not in nodes]

    @classmethod
    def misfits(
        cls, parameters: YcsbParameters, nodes: Collection[str]
    ) -> Iterator[tuple[tuple[str | int, ...], str]]:
        if misfit := _store(parameters).misfit(nodes):
            yield ("durability",), f'"{parameters.durability}" {misfit}'

    @classmethod
    def faults_on(cls, parameters: YcsbParameters, nodes: Collection[str]) -> FaultNodes:
        return FaultNodes(frozenset(members_of(nodes)), frozenset({CLIENT}))

    def remarks(self) -> list[str]:
        remark = self._store.remark()
        return [] if remark is None else [remark]

    def demand(self, nodes: Collection[str]) -> Demand:
        return self._store.demand(nodes)

    def is_prepared(self, nodes: Collection[str]) -> bool:
        return self._store.is_prepared(nodes)

    def prepare(self, stage: Stage) -> None:
        self._store.prepare(stage, loader=CLIENT)

    def start(self, stage: Stage) -> None:
        self._store.start(stage)

    def load(self, stage: Stage) -> Load:
        asked = self.parameters
        arguments = [
            "ycsb",
            *self._store.target(stage),
            *("--workload", asked.workload),
            *self._store.table(),
            *(("--operations", str(asked.operations)) if asked.operations is not None else ()),
            *("--clients", str(asked.clients)),
            *asked.pace_arguments,
        ]
        return offer_load(
            stage,
            CLIENT,
            arguments,
            warm_up_ns=asked.warm_up_ns,
            duration_ns=asked.duration_ns,
            operations=asked.operations,
        )

    def restart(self, stage: Stage, node: str) -> None:
        self._store.restart(stage, node)

    def stop(self, stage: Stage) -> None:
        self._store.stop(stage)


def stores() -> tuple[type[Store], ...]:
    """Return all stores."""
    return tuple(_STORES.values())


def _store(parameters: YcsbParameters) -> Store:
    return _STORES[parameters.store](parameters.records, parameters.durability, parameters.field_bytes)
