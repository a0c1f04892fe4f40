"""YCSB as an application: parameters and load; each store starts its own servers."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from crosswind.app.base import Load, Stage
from crosswind.app.load import latency_figures, offer_load
from crosswind.app.pace import Pace
from crosswind.app.stores.application import CLIENT, OnStore, by_name
from crosswind.app.stores.cassandra import Cassandra
from crosswind.app.stores.durability import Durability
from crosswind.app.stores.etcd import Etcd
from crosswind.app.stores.ferretdb import FerretDB
from crosswind.app.stores.mongodb import MongoDB
from crosswind.app.stores.postgresql import PostgreSQL
from crosswind.app.stores.redis import Redis
from crosswind.app.stores.store import FIELD_BYTES, Store
from crosswind.app.stores.valkey import Valkey
from crosswind.spec.declared import Figure
from crosswind.spec.quantities import Duration, PositiveDuration, Size

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
            "w=0; cassandra quorum (when absent), one, all, serial."
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


class Ycsb(OnStore):
    """A store on the nodes db0 (primary), db1, db2 ... (standbys), and the load generator on `client`."""

    name = "ycsb"
    summary = "a replicated database under the YCSB core workloads"
    Parameters = YcsbParameters
    stores = by_name(PostgreSQL, Redis, Valkey, Etcd, MongoDB, FerretDB, Cassandra)
    parameters: YcsbParameters

    @classmethod
    def store_of(cls, parameters: YcsbParameters) -> Store:
        return cls.stores[parameters.store](parameters.records, parameters.durability, parameters.field_bytes)

    def load_may_end_sooner(self) -> bool:
        return self.parameters.operations is not None

    def figures(self) -> tuple[Figure, ...]:
        pooled = latency_figures(self.parameters.rate)
        # Kinds wait for different parts of the network: reads for the primary, updates also for a replica.
        kinds = _KINDS[self.parameters.workload]
        return (
            *pooled,
            *(Figure(f"{pooled[0].metric}.{kind}", "p99", "ns", f"{kind} P99", "lower") for kind in kinds),
        )

    def remarks(self) -> list[str]:
        remark = self.store.remark()
        return [] if remark is None else [remark]

    def load(self, stage: Stage) -> Load:
        asked = self.parameters
        arguments = [
            "ycsb",
            *self.store.target(stage),
            *("--workload", asked.workload),
            *self.store.table(),
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
