"""Stores with a configuration, faults, and what a correct check must find.

A configuration that confirms or reads too early loses something, or shows it too late, under these faults;
one that waits does not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True)
class Case:
    """A configuration of a store, what breaks, and what must be found.

    Attributes:
        members: how many servers there are, db0 first.
        faults: the steps of `at`.
        expected: the verdict; `violation` where the configuration does not promise the data.
        because: why that is expected.
        settings: further parameters of `history`.
        duration_s: of the measured phase.
    """

    store: str
    workload: str
    members: int
    faults: Mapping[str, Mapping[str, str]]
    expected: Literal["ok", "violation"]
    because: str
    settings: Mapping[str, object] = field(default_factory=dict)
    duration_s: int = 5

    @property
    def words(self) -> str:
        """The store and everything that sets it apart, in one line."""
        settings = ", ".join(f"{name}={value}" for name, value in self.settings.items())
        return " ".join([self.store, self.workload, settings]).strip()

    def experiment(self) -> dict[str, object]:
        """Return the experiment, with one trial."""
        nodes = [*(f"db{number}" for number in range(self.members)), "client"]
        return {
            "name": "histories",
            "topology": {
                "hosts": len(nodes),
                "uplink": {"rate": "1Gbit/s", "delay": "100us"},
                "nodes": {node: f"h{number}" for number, node in enumerate(nodes)},
                "wait": "sleep",  # Stores and clients need the CPUs.
            },
            "conditions": [{"faults": {"at": {at: dict(step) for at, step in self.faults.items()}}}],
            "application": {
                "history": {
                    "store": self.store,
                    "workload": self.workload,
                    "clients": 5,
                    "duration": f"{self.duration_s}s",
                    "warm_up": "500ms",
                    "timeout": "500ms",
                    **self.settings,
                }
            },
            # The verdict asks for the order of operations and not for their latency.
            "trials": {"repeat": 1, "rest": "0s", "seed": 7, "limits": {"void": "accept"}},
        }


# The primary answers clients, and its replicas no longer hear from it; then one of them takes over.
_ALONE = {"1s": {"partition": "db0 | db1"}}
_FAILOVER = {"at": "2500ms", "to": "db1"}
_MINORITY = {"1s": {"partition": "db0 | db1 db2"}}
_HEALED = {**_MINORITY, "3s": {"heal": "all"}}
_EARLY = "the primary confirms what the failover discards"
_WAITS = "no client got a confirmation that did not hold"


def _failed_over(store: str, workload: str, durability: str) -> Case:
    settings = {"durability": durability, "failover": _FAILOVER}
    return Case(store, workload, 2, _ALONE, "violation", _EARLY, settings)


# The primary goes on for ten seconds, until it notices that it has no majority, and another one is elected.
def _elected(workload: str, durability: str, read_concern: str, expected: Literal["ok", "violation"]) -> Case:
    settings = {"durability": durability, "read_concern": read_concern}
    because = {
        "w=1": "the primary confirms what the election discards",
        "majority": "clients read what no majority ever has" if read_concern == "local" else _WAITS,
    }[durability]
    return Case("mongodb", workload, 3, _MINORITY, expected, because, settings, duration_s=18)


LOSING = (
    *(_failed_over("redis", workload, "wait=0") for workload in ("set", "register", "append")),
    *(_failed_over("valkey", workload, "wait=0") for workload in ("set", "register", "append")),
    *(_failed_over("postgresql", workload, "local") for workload in ("set", "register", "append")),
    *(_elected(workload, "w=1", "local", "violation") for workload in ("set", "register", "append")),
)
STALE = (
    Case("redis", "register", 2, _ALONE, "violation", "a replica is read that is cut off", {"reads": "any"}),
    Case(
        "etcd",
        "register",
        3,
        _MINORITY,
        "violation",
        "a member is read that is cut off",
        {"durability": "serializable"},
    ),
    Case(
        "cassandra",
        "register",
        3,
        _MINORITY,
        "violation",
        "a server is read that is cut off",
        {"durability": "one"},
    ),
    _elected("register", "majority", "local", "violation"),
    Case(
        "mongodb",
        "register",
        3,
        {"1s": {"isolate": "db2"}},
        "violation",
        "a secondary is read that is cut off",
        {"durability": "majority", "read_concern": "majority", "reads": "any"},
    ),
)
RIGHT = (
    *(Case("etcd", workload, 3, _HEALED, "ok", _WAITS) for workload in ("register", "set", "append")),
    *(
        # Longer, since a write takes four round trips between three JVMs.
        Case("cassandra", workload, 3, _HEALED, "ok", _WAITS, {"durability": "serial"}, duration_s=10)
        for workload in ("register", "set", "append")
    ),
    *(
        Case("postgresql", workload, 2, _ALONE, "ok", _WAITS, {"durability": "on", "failover": _FAILOVER})
        for workload in ("register", "set", "append")
    ),
    *(
        Case(
            store,
            workload,
            1,
            {"1s": {"partition": "db0 | client"}, "2s": {"heal": "all"}},
            "ok",
            "there is one copy",
        )
        for store in ("redis", "valkey")
        for workload in ("register", "set", "append")
    ),
    *(_elected(workload, "majority", "linearizable", "ok") for workload in ("register", "set", "append")),
)
CASES = (*LOSING, *STALE, *RIGHT)
