"""A queueing system in virtual time that a machine disturbs: clients, a network, servers, one line.

The same random numbers give the same run without disturbances: the k-th operation that reaches the servers
has the same service time, whenever that is.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from heapq import heapify, heappop, heappush, heapreplace

import numpy as np
from numpy.typing import NDArray

MS = 1_000_000


class Pauses:
    """Times in which a part of the system stands still."""

    def __init__(self, spans: list[tuple[int, int]]) -> None:
        spans = sorted(spans)
        self.begins, self.ends = [begin for begin, _ in spans], [end for _, end in spans]
        # Half of all runs have no pause, and ask the most.
        if not spans:
            self.after = lambda at: at
            self.worked = lambda at, work: at + work

    def after(self, at: int) -> int:
        """Return the first instant from `at` on that is not in a pause."""
        index = bisect_right(self.begins, at) - 1
        return max(at, self.ends[index]) if index >= 0 else at

    def worked(self, at: int, work: int) -> int:
        """Return when `work` is done that begins at `at`."""
        at = self.after(at)
        index = bisect_right(self.begins, at)
        while index < len(self.begins) and self.begins[index] < at + work:
            work -= self.begins[index] - at
            at = self.ends[index]
            index += 1
        return at + work


NEVER = Pauses([])


@dataclass(frozen=True)
class System:
    """Attributes:
    service_ns: of each operation, in the order in which they reach the servers.
    intended_ns: when operations begin, in an open loop; None in a closed one.
    """

    connections: int
    servers: int
    delay_ns: int
    window_ns: int
    warm_up_ns: int
    service_ns: NDArray[np.int64]
    intended_ns: NDArray[np.int64] | None

    def run(self, network: Pauses, cpu: Pauses) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return when each operation of the window began and ended."""
        free = [0] * self.servers
        heapify(free)
        begun, ended = [], []
        from_ns, to_ns = self.warm_up_ns, self.warm_up_ns + self.window_ns
        service = iter(self.service_ns.tolist())

        def served(arrived: int) -> int:
            done = cpu.worked(max(arrived, free[0]), next(service))
            heapreplace(free, done)
            return cpu.after(network.after(done + self.delay_ns))

        if self.intended_ns is not None:
            for at in self.intended_ns.tolist():
                end = served(network.after(cpu.after(at) + self.delay_ns))
                if from_ns <= at < to_ns:
                    begun.append(at)
                    ended.append(end)
            return np.array(begun), np.array(ended)
        arrivals = []
        for connection in range(self.connections):
            heappush(arrivals, (connection * 1_000 + self.delay_ns, 0))
        while arrivals:
            arrived, at = heappop(arrivals)
            end = served(arrived)
            if at >= from_ns:
                begun.append(at)
                ended.append(end)
            if end < to_ns:
                heappush(arrivals, (network.after(end + self.delay_ns), end))
        return np.array(begun), np.array(ended)


@dataclass(frozen=True)
class Case:
    """A system, and what disturbs it: `placed` has instants in the measurement, `unplaced_ns` has not."""

    system: System
    network: Pauses
    cpu: Pauses
    placed: list[tuple[int, int]]
    unplaced_ns: int
    words: str


def drawn_case(seed: int, steal: str) -> Case:
    """Draw a case. `steal`: `none`, `placed` or `unplaced` slices in addition to stalls."""
    rng = np.random.default_rng(seed)
    open_loop = bool(rng.integers(2))
    servers = int(rng.choice([1, 1, 2, 4]))
    window_ns, warm_up_ns = int(rng.integers(2000, 6000)) * MS, 300 * MS
    mean_ns = float(np.exp(rng.uniform(np.log(0.5 * MS), np.log(3 * MS)))) * servers
    delay_ns = int(rng.choice([50_000, 1 * MS, 5 * MS]))
    sigma = float(rng.choice([0.2, 0.6, 1.0]))

    def services(many: int) -> NDArray[np.int64]:
        return (rng.lognormal(-sigma * sigma / 2, sigma, many) * mean_ns).astype(np.int64) + 1_000

    connections, intended = int(rng.choice([1, 4, 16])), None
    if open_loop:
        utilisation = rng.uniform(0.1, 0.8)
        gap = mean_ns / servers / utilisation
        many = int((window_ns + warm_up_ns) / gap * 1.3) + 50
        gaps = rng.exponential(gap, many) if rng.integers(2) else np.full(many, gap)
        intended = np.cumsum(gaps).astype(np.int64)
        intended = intended[intended < window_ns + warm_up_ns]
        service = services(len(intended))
    else:
        each_ns = (mean_ns + 2 * delay_ns) / connections
        service = services(int((window_ns + warm_up_ns) / each_ns * 1.5) + 500)
        utilisation = 0.0
    stalls = []
    for _ in range(int(rng.integers(1, 5)) if steal != "unplaced" or rng.integers(2) else 0):
        length = float(np.exp(rng.uniform(np.log(1 * MS), np.log(200 * MS))))
        # Stalls that add up to a tenth make a trial void.
        if sum(end - begin for begin, end in stalls) + length < window_ns / 10:
            begin = warm_up_ns + rng.uniform(0.02, 0.95) * window_ns
            stalls.append((int(begin), int(begin + length)))
    slices = []
    if steal != "none":
        taken = rng.uniform(0.005, 0.03) * window_ns
        while taken > 0.75 * MS:
            length = min(taken, float(np.exp(rng.uniform(np.log(0.75 * MS), np.log(8 * MS)))))
            begin = warm_up_ns + rng.uniform(0, 1) * window_ns
            slices.append((int(begin), int(begin + length)))
            taken -= length
    whole = bool(rng.integers(2))  # everything stands still, or the emulator alone
    network, cpu = list(stalls), list(stalls) if whole else []
    cpu += slices
    if steal == "placed":
        network += slices
    system = System(connections, servers, delay_ns, window_ns, warm_up_ns, service, intended)
    return Case(
        system,
        Pauses(_apart(network)),
        Pauses(_apart(cpu)),
        stalls + (slices if steal == "placed" else []),
        sum(end - begin for begin, end in slices) if steal == "unplaced" else 0,
        f"{'open' if open_loop else 'closed'} c={connections} s={servers} d={delay_ns / MS:g} "
        f"mean={mean_ns / MS:.2f} sigma={sigma} rho={utilisation:.2f} whole={whole} "
        f"stalls={[round((e - b) / MS) for b, e in stalls]} slices={len(slices)}",
    )


def _apart(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for begin, end in sorted(spans):
        if joined and begin <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((begin, end))
    return joined
