"""Whether nodes kept within their memory and processor limits; a trial in which one did not has failed."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from crosswind.testbed import RunningFabric, TestbedError

# Processor time that only we check is counted in ticks of 10 ms, at the start and at the end,
TICKS_NS = 20_000_000
# and the load runs on while the window closes.
CPU_TOLERANCE = 0.02
_REMEDY = "run as root, or where control groups are delegated to you, or leave the limit out"


def check_limits(measurement: Mapping[str, Any]) -> None:
    """Check the nodes of a measurement (contracts.md, section 3).

    Raises: TestbedError: a node reached a limit that the kernel kept by killing, or went beyond one that
        nobody keeps here.
    """
    if broken := list(broken_limits(measurement)):
        raise TestbedError("; ".join(broken))


@contextmanager
def within_limits(fabric: RunningFabric) -> Iterator[None]:
    """Name a limit as the cause when something in the block fails because of it."""
    try:
        yield
    except TestbedError as failure:
        try:
            broken = list(broken_limits(fabric.read()))
        except TestbedError:
            # The agent is gone; the first error is the one to show.
            broken = []
        if not broken or str(failure) == "; ".join(broken):
            raise
        raise TestbedError(f"{'; '.join(broken)}; then {failure}") from failure


def broken_limits(measurement: Mapping[str, Any]) -> Iterator[str]:
    """Yield what nodes did that their limits forbid."""
    window_ns = measurement["window"]["ended_ns"] - measurement["window"]["started_ns"]
    # An agent of an earlier version says nothing, and refuses limits.
    for node in measurement.get("nodes", []):
        if (memory := node["memory_limit"]) is not None:
            yield from _memory(node, memory)
        if (cpus := node["cpus_limit"]) is not None:
            yield from _cpus(node, cpus, window_ns)


def _memory(node: Mapping[str, Any], limit: Mapping[str, Any]) -> Iterator[str]:
    allowed = _mebibytes(limit["bytes"])
    if limit["kills"]:
        yield (
            f"node {node['node']}: reached its memory limit of {allowed}, and the kernel killed "
            f"{limit['kills']} of its processes; raise `memory`, or make the workload smaller"
        )
    elif limit["kept_by"] == "checks" and (node["memory_peak_bytes"] or 0) > limit["bytes"]:
        yield (
            f"node {node['node']}: used {_mebibytes(node['memory_peak_bytes'])} of memory, its limit is "
            f"{allowed}; this machine has no writable memory group that would have kept it; {_REMEDY}"
        )


def _cpus(node: Mapping[str, Any], limit: Mapping[str, Any], window_ns: int) -> Iterator[str]:
    allowed_ns = limit["ppm"] * window_ns / 1_000_000
    used_ns = node["cpu_time_ns"] or 0
    if limit["kept_by"] == "checks" and used_ns > allowed_ns * (1 + CPU_TOLERANCE) + TICKS_NS:
        yield (
            f"node {node['node']}: used {used_ns / window_ns:.2f} processors, its limit is "
            f"{limit['ppm'] / 1_000_000:g}; this machine has no writable processor group that would have "
            f"kept it; {_REMEDY}"
        )


def _mebibytes(count: int) -> str:
    return f"{count / 2**20:.1f} MiB"
