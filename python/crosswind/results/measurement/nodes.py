"""What nodes used, and the limits that they had."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from crosswind.results.part import StoredPart
from crosswind.spec.resolved.part import left_out_if_empty

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


class CountedProgram(StoredPart):
    """A program, how many of its processes there were, and why what happened to them did."""

    program: str
    count: int
    why: str = ""


class CountedCall(StoredPart):
    """A system call that was refused, and how often."""

    call: str
    count: int


class CounterReads(StoredPart):
    """A program that read the time-stamp counter, the file whose code did, and how often at least."""

    program: str
    file: str
    reads: int

    def words(self) -> str:
        """Return the file, where it is not the program's own, and the number."""
        where = "" if self.file == self.program else f"in {self.file}, "
        return f"{where}{self.reads} times or more"


class NodeClocks(StoredPart):
    """How the clocks of a node's programs were slowed down (docs/reference/contracts.md, section 3).

    Attributes:
        undilated: programs that ran in real time.
        killed: programs that were killed because they would have.
        refused: calls that cannot be slowed down.
        counters: programs that read the time-stamp counter, which is not slowed down.
    """

    undilated: list[CountedProgram] = Field(default_factory=list)
    killed: list[CountedProgram] = Field(default_factory=list)
    refused: list[CountedCall] = Field(default_factory=list)
    counters: list[CounterReads] = Field(default_factory=list)

    def faults(self) -> Iterator[str]:
        """Yield what was not slowed down, in words."""
        yield from (f"{each.program} ran in real time ({each.count})" for each in self.undilated)
        yield from (f"{each.program} was killed: {each.why} ({each.count})" for each in self.killed)
        yield from (f"{each.call} was refused ({each.count})" for each in self.refused)
        counter = "the time-stamp counter, which is not slowed down"
        yield from (f"{each.program} read {counter} ({each.words()})" for each in self.counters)


class NodeUsage(StoredPart):
    """What the processes of a node used.

    Attributes:
        memory_peak_bytes: most memory seen since the fabric came up; None where the node is gone.
        cpu_time_ns: in the window; None where the node is gone.
        memory_limit, cpus_limit: None without a limit.
        dilation: None where its programs have real clocks.
    """

    node: str
    memory_peak_bytes: int | None = None
    cpu_time_ns: int | None = None
    memory_limit: MemoryLimit | None = None
    cpus_limit: CpusLimit | None = None
    dilation: NodeClocks | None = left_out_if_empty(None)
