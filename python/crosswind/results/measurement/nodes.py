"""What nodes used, and the limits that they had."""

from __future__ import annotations

from typing import Literal

from crosswind.results.part import StoredPart

# `checks`: the kernel does not enforce the limit here, and the runner compares.
KeptBy = Literal["cgroup-v1", "cgroup-v2", "checks"]


class MemoryLimit(StoredPart):
    """A limit of memory; `kills` counts processes that the kernel killed because of it."""

    bytes: int
    kept_by: KeptBy
    kills: int = 0


class CpusLimit(StoredPart):
    """A limit of CPU time, in millionths of one CPU; `throttled_ns` is how long it held processes back."""

    ppm: int
    kept_by: KeptBy
    throttled_ns: int | None = None


class NodeUsage(StoredPart):
    """What the processes of a node used.

    Attributes:
        memory_peak_bytes: most memory seen since the fabric came up; None where the node is gone.
        cpu_time_ns: in the window; None where the node is gone.
        memory_limit, cpus_limit: None without a limit.
    """

    node: str
    memory_peak_bytes: int | None = None
    cpu_time_ns: int | None = None
    memory_limit: MemoryLimit | None = None
    cpus_limit: CpusLimit | None = None
