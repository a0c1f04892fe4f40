"""The agents of several machines, joined by a tunnel, and their clocks; they live for many fabrics.

The first machine's clock counts: instants of the others are translated to it.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from crosswind.results.measurement import SAME_CLOCK
from crosswind.results.measurement.clock import ClockComparison, ClockEstimate, ClockLine, line_from
from crosswind.testbed.agent import Agent
from crosswind.testbed.at_once import at_once
from crosswind.testbed.errors import TestbedError
from crosswind.testbed.files import MachineFiles, files_of
from crosswind.testbed.folders import WorkFolder
from crosswind.testbed.join import MachineAt, join
from crosswind.testbed.replies import Clocks, Hello, PeerClock

# Exchanges take half a second; on a machine that swaps longer.
ESTIMATE_S = 10.0
# The shortest round trip of half a second, which is the bound, is close to the shortest of all.
EXCHANGES_MIN = 50
_LOOK_S = 0.02


@dataclass(frozen=True)
class ClocksAt:
    """The clocks of all machines at an instant of the first one's; `others` are in order."""

    here_ns: int
    others: list[ComparedClock]

    @property
    def lines(self) -> list[ClockLine]:
        """The clock of every machine as a line over the first one's."""
        return [SAME_CLOCK, *(other.line for other in self.others)]


@dataclass(frozen=True)
class ComparedClock:
    """The clock of one machine against that of the first, at one instant."""

    comparison: ClockComparison
    estimate: ClockEstimate

    @property
    def line(self) -> ClockLine:
        """The clock as a line, for instants close to this one."""
        return line_from(self.comparison, self.estimate.skew_ppb)


class Machines:
    """Agents on several machines; entering the block starts and joins them, leaving it ends them.

    Args:
        places: the machines, the one whose clock counts first.
        work: the work folder of the run; on every machine it has the same path.
        programs: folders of programs that are copied to each.
    """

    def __init__(self, places: Sequence[MachineAt], work: WorkFolder, programs: Sequence[Path] = ()) -> None:
        self.places = list(places)
        self._work = work
        self._programs = programs
        self.files: list[MachineFiles] = []
        self.agents: list[Agent] = []
        self.round_trip_ns = 0  # Of a request to the slowest agent.
        self._generation = 0
        self._ahead_ns = 0  # The first machine's clock minus that of this process.
        self._stack = ExitStack()

    @property
    def names(self) -> list[str]:
        """The names of the machines, in order."""
        return [place.name for place in self.places]

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            self.agents = at_once(lambda place: Agent(place.transport), self.places, Agent.close)
            for agent in self.agents:
                stack.enter_context(agent)
            if len(self.agents) > 1:
                join(self.places, self.agents)
            self.round_trip_ns = max(at_once(_round_trip_ns, self.agents))
            self.files = at_once(lambda agent: files_of(agent, self._work), self.agents)
            at_once(lambda files: files.send_programs(self._programs), self.files)
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.__exit__(kind, error, trace)

    def next_generation(self) -> int | None:
        """Return the number of the next fabric, by which all machines know it; None for one machine."""
        if len(self.agents) == 1:
            return None
        self._generation += 1
        return self._generation

    def check(self) -> None:
        """Raise an error that names the machine, if an agent is gone or its emulator failed."""
        for agent in self.agents:
            agent.check()

    def compare(self) -> ClocksAt:
        """Return the clocks of the other machines against that of the first.

        Raises: TestbedError: a machine exchanges nothing with the first one.
        """
        deadline = time.monotonic() + ESTIMATE_S
        while True:
            asked_ns = time.monotonic_ns()
            found = self.agents[0].request("clocks", Clocks)
            self._ahead_ns = found.now_ns - (asked_ns + time.monotonic_ns()) // 2
            estimates = {peer.domain: peer for peer in found.peers}
            silent = [
                name
                for domain, name in enumerate(self.names)
                if domain and not _is_known(estimates.get(domain))
            ]
            if not silent:
                others = range(1, len(self.places))
                return ClocksAt(
                    found.now_ns, [_compared(found.now_ns, estimates[domain]) for domain in others]
                )
            if time.monotonic() > deadline:
                first = self.names[0]
                raise TestbedError(
                    f"machine {silent[0]}: no answer to {first} over {_how(self.places[0])}, both ways"
                )
            time.sleep(_LOOK_S)

    def now_ns(self) -> int:
        """Return the present on the first machine's clock, as exact as the latest answer of its agent."""
        return time.monotonic_ns() + self._ahead_ns


def _how(first: MachineAt) -> str:
    if first.native is not None:
        return (
            f"raw Ethernet within {ESTIMATE_S:g} s; let frames of EtherType 0x88B5 pass between their "
            "interfaces"
        )
    return (
        f"UDP within {ESTIMATE_S:g} s; let UDP pass between {first.address} and the other machines' addresses"
    )


def _is_known(estimate: PeerClock | None) -> bool:
    return estimate is not None and estimate.offset_ns is not None and estimate.exchanges >= EXCHANGES_MIN


def _round_trip_ns(agent: Agent) -> int:
    """Return the shortest of a few round trips of a request."""
    each = []
    for _ in range(3):
        asked_ns = time.monotonic_ns()
        agent.request("hello", Hello)
        each.append(time.monotonic_ns() - asked_ns)
    return min(each)


def _compared(now_ns: int, estimate: ClockEstimate) -> ComparedClock:
    assert estimate.offset_ns is not None
    comparison = ClockComparison(now_ns, now_ns + estimate.offset_ns, estimate.bound_ns or 0)
    return ComparedClock(comparison, estimate)
