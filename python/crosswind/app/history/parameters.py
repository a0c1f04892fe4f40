"""The parameters of `history`."""

from typing import Annotated, Literal

from pydantic import Field

from crosswind.app.stores.durability import Durability
from crosswind.spec.base import SpecModel
from crosswind.spec.quantities import Duration, OperationRate, PositiveDuration

# As of an idle machine: more operations make no violation likelier, and their check takes longer.
RATE_PER_S = 200.0
_S = 1_000_000_000


class Failover(SpecModel):
    """A failover by hand: a replica becomes the primary, and the clients go there."""

    at_ns: PositiveDuration = Field(
        alias="at", description="When, from the begin of the measured phase on; before its end."
    )
    to: str = Field(description="The replica that becomes the primary, such as db1.")


class HistoryParameters(SpecModel):
    """The store, what the clients do to it, and how long."""

    workload: Literal["register", "set", "append"] = Field(
        description="register: read, write and compare-and-set values; set: add elements and read all; "
        "append: append to lists and read them."
    )
    store: Literal["postgresql", "redis", "valkey", "etcd", "mongodb", "cassandra"] = Field(
        description="The database under test."
    )
    durability: Durability | None = Field(
        None,
        description="Guarantee of a confirmed operation, as for `ycsb`; the store's default when absent.",
    )
    read_concern: Literal["local", "majority", "linearizable"] | None = Field(
        None,
        description="What a read of MongoDB may return: whatever the server has (local, when absent), what a "
        "majority has confirmed to it, or what a majority confirms at the read.",
    )
    # Not `keys`: `dict` treats every object with an attribute of that name as a mapping.
    key_count: Annotated[int, Field(ge=1, le=1000)] = Field(
        5, alias="keys", description="Keys that all clients share, each checked by itself; 5 when absent."
    )
    clients: Annotated[int, Field(ge=1, le=50)] = Field(
        6, description="Clients, each with at most one operation in flight; 6 when absent."
    )
    duration_ns: PositiveDuration = Field(alias="duration", description="Length of the measured phase.")
    warm_up_ns: Duration = Field(
        _S, alias="warm_up", description="Before the measured phase, and checked with it; 1s when absent."
    )
    rate: OperationRate = Field(
        RATE_PER_S, description="Operations per second of all clients together; 200/s when absent."
    )
    timeout_ns: PositiveDuration = Field(
        _S,
        alias="timeout",
        description="Longest operation; after it the outcome is unknown. 1s when absent.",
    )
    reads: Literal["primary", "any"] = Field(
        "primary",
        description="Which servers clients read: the one that takes writes (when absent), or any, so that "
        "each client has one of its own. Each client of etcd and Cassandra has a server of its own in any "
        "case.",
    )
    failover: Failover | None = Field(
        None, description="A replica is made the primary by hand; none when absent."
    )
    check_limit_ns: PositiveDuration = Field(
        60 * _S,
        alias="check_limit",
        description="Time for the check of a trial; a key that is not checked by then is undecided. 60s when "
        "absent.",
    )
