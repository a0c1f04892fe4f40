"""How much the load generator itself affects the numbers of a trial.

A generator that uses all of its CPU time, or that starts operations late although their connection is free,
adds to the measured latency. Clients that measure at different times give sums that never occurred at one
time.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crosswind.results import Measurement
from crosswind.results.reading import Operations


@dataclass(frozen=True)
class Generator:
    """The load generator of one trial; None where the folder does not record it."""

    busy_share: float | None  # CPU time in the window, as a share of what was available
    late_share: float | None  # P99 of its own lateness over P99 of the response time; None in a closed loop
    common_share: float | None  # time in which all nodes sent over that in which any did; None for one node


def generator(operations: Operations, measurement: Measurement | None, cores: int | None) -> Generator:
    """Return the figures of a trial's load generator.

    Args:
        operations: of one trial, at least one.
        measurement: of the same trial.
        cores: of the machine; None if unknown.
    """
    nodes, node = np.unique(operations.node, return_inverse=True)
    clients = np.unique(node * (operations.connection.max() + 1) + operations.connection).size
    spans = [(_first(operations, node == i), _last(operations, node == i)) for i in range(len(nodes))]
    return Generator(
        _busy_share(measurement, [str(name) for name in nodes], clients, cores),
        _late_share(operations),
        _common_share(spans) if len(spans) > 1 else None,
    )


def _busy_share(
    measurement: Measurement | None, nodes: list[str], clients: int, cores: int | None
) -> float | None:
    """Return the CPU time used, as a share of one core for each client, or of all available cores."""
    if cores is None or measurement is None:
        return None
    used_ns = {row.node: row.cpu_time_ns for row in measurement.nodes}
    of_nodes_ns = [time_ns for node in nodes if (time_ns := used_ns.get(node)) is not None]
    if len(of_nodes_ns) < len(nodes):
        return None
    # The emulator uses one core for each domain unless it sleeps.
    taken = 0 if measurement.wait_mode == "sleep" else measurement.domains
    left = max(1, cores - taken)
    return sum(of_nodes_ns) / (measurement.window.length_ns * min(clients, left))


def _late_share(operations: Operations) -> float | None:
    if not (operations.started_ns > operations.intended_ns).any():
        return None
    free_ns = free_since_ns(operations)
    follows = free_ns > 0
    if not follows.any():
        return None
    late = operations.started_ns - np.maximum(operations.intended_ns, free_ns)
    response = operations.finished_ns - operations.intended_ns
    return float(np.quantile(late[follows], 0.99) / np.quantile(response[follows], 0.99))


def free_since_ns(operations: Operations) -> NDArray[np.int64]:
    """Return when the connection of each operation became free: the end of the operation before, or 0.

    An operation of an open loop can start when it is due and its connection is free.
    """
    _, node = np.unique(operations.node, return_inverse=True)
    order = np.lexsort((operations.started_ns, operations.connection, node))
    connection, node = operations.connection[order], node[order]
    follows = (connection[1:] == connection[:-1]) & (node[1:] == node[:-1])
    free_ns = np.zeros(order.size, dtype=np.int64)
    free_ns[order[1:]] = np.where(follows, operations.finished_ns[order[:-1]], 0)
    return free_ns


def _first(operations: Operations, mine: NDArray[np.bool_]) -> int:
    return int(operations.started_ns[mine].min())


def _last(operations: Operations, mine: NDArray[np.bool_]) -> int:
    return int(operations.finished_ns[mine].max())


def _common_share(spans: list[tuple[int, int]]) -> float:
    first, last = min(begin for begin, _ in spans), max(end for _, end in spans)
    common = min(end for _, end in spans) - max(begin for begin, _ in spans)
    return max(0, common) / (last - first)
