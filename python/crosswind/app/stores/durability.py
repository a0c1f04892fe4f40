"""The words of all stores for what a confirmed operation means; `Store.durabilities` has those of each."""

from typing import Literal

Durability = Literal[
    "on",
    "remote_apply",
    "remote_write",
    "local",
    "off",
    "wait=0",
    "wait=1",
    "wait=2",
    "linearizable",
    "serializable",
    "w=1",
    "majority",
    "w=0",
    "quorum",
    "one",
    "all",
    "serial",
]
