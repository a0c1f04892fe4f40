"""Whether nodes stayed within their limits of memory and CPU time; otherwise the trial has failed."""

from collections.abc import Iterator
from contextlib import contextmanager

from crosswind.results import Measurement
from crosswind.results.measurement import CpusLimit, MemoryLimit, NodeUsage
from crosswind.testbed import Fabric, TestbedError

# CPU time that only the runner checks is counted in ticks of 10 ms, at the start and at the end.
TICKS_NS = 20_000_000
# The load goes on while the window closes.
CPU_TOLERANCE = 0.02
_REMEDY = "run as root, or where control groups are delegated to you, or leave the limit out"


def check_limits(measurement: Measurement) -> None:
    """Check the nodes of a measurement.

    Raises: TestbedError: the kernel killed processes of a node because of a limit, or a node exceeded a limit
        that the kernel does not enforce here.
    """
    if broken := list(broken_limits(measurement)):
        raise TestbedError("; ".join(broken))


@contextmanager
def within_limits(fabric: Fabric) -> Iterator[None]:
    """Name a limit as the cause when something in the block fails because of it."""
    try:
        yield
    except TestbedError as failure:
        try:
            broken = list(broken_limits(fabric.read()))
        except TestbedError:
            # The agent is gone, and the first error is the one to show.
            broken = []
        if not broken or str(failure) == "; ".join(broken):
            raise
        raise TestbedError(f"{'; '.join(broken)}; then {failure}") from failure


def broken_limits(measurement: Measurement) -> Iterator[str]:
    """Yield each limit that a node exceeded, as a sentence."""
    for node in measurement.nodes:
        if node.memory_limit is not None:
            yield from _memory(node, node.memory_limit)
        if node.cpus_limit is not None:
            yield from _cpus(node, node.cpus_limit, measurement.window.length_ns)


def _memory(node: NodeUsage, limit: MemoryLimit) -> Iterator[str]:
    allowed, peak_bytes = _mebibytes(limit.bytes), node.memory_peak_bytes or 0
    if limit.kills:
        yield (
            f"node {node.node}: reached its memory limit of {allowed}, and the kernel killed {limit.kills} "
            "of its processes; raise `memory`, or make the workload smaller"
        )
    elif limit.kept_by == "checks" and peak_bytes > limit.bytes:
        yield (
            f"node {node.node}: used {_mebibytes(peak_bytes)} of memory, its limit is {allowed}; this "
            f"machine has no writable memory group that enforces it; {_REMEDY}"
        )


def _cpus(node: NodeUsage, limit: CpusLimit, window_ns: int) -> Iterator[str]:
    allowed_ns = limit.ppm * window_ns / 1_000_000
    used_ns = node.cpu_time_ns or 0
    if limit.kept_by == "checks" and used_ns > allowed_ns * (1 + CPU_TOLERANCE) + TICKS_NS:
        yield (
            f"node {node.node}: used {used_ns / window_ns:.2f} CPUs, its limit is {limit.ppm / 1_000_000:g}; "
            f"this machine has no writable CPU group that enforces it; {_REMEDY}"
        )


def _mebibytes(count: int) -> str:
    return f"{count / 2**20:.1f} MiB"
