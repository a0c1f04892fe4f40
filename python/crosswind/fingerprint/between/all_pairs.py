"""Measure all ordered pairs of machines, round by round; a machine that fails loses its own pairs alone."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from crosswind.errors import CrosswindError
from crosswind.fingerprint.between.direction import Direction
from crosswind.fingerprint.between.meeting import Meeting
from crosswind.fingerprint.between.schedule import Pair, schedule
from crosswind.fingerprint.measure.bulk import PART_S, WARM_UP_S, Bulk
from crosswind.fingerprint.measure.capacity import DURATION_S
from crosswind.fingerprint.measure.one_way import PACKETS, PACKETS_PER_S
from crosswind.fingerprint.measure.sent_bytes import SentBytes
from crosswind.testbed import Agent, MachineAt, TestbedError

CONNECTIONS, REPETITIONS = (4,), 1


@dataclass(frozen=True)
class PairExtent:
    """How much is measured from each machine to each other one.

    Attributes:
        packets, packets_per_s: small ones, for delays.
        connections: numbers of parallel connections of bulk transfers; empty: none.
        repetitions: of each of these numbers.
        duration_s: of a transfer, after its warm-up.
    """

    packets: int = PACKETS
    packets_per_s: int = PACKETS_PER_S
    connections: Sequence[int] = CONNECTIONS
    repetitions: int = REPETITIONS
    duration_s: float = DURATION_S


class MeasuringMachines:
    """Machines of which each runs `crosswind-agent between`; leaving the block ends all of them.

    An agent that is gone is started again when its machine is needed next.
    """

    def __init__(self, places: Sequence[MachineAt]) -> None:
        self.places = {place.name: place for place in places}
        self._agents: dict[str, Agent] = {}
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._agents:
            with ThreadPoolExecutor(len(self._agents)) as pool:
                list(pool.map(Agent.close, self._agents.values()))
        self._agents.clear()

    def agent(self, name: str) -> Agent:
        """Return the agent of a machine.

        Raises: TestbedError: it cannot be started.
        """
        with self._lock:
            agent = self._agents.get(name)
        if agent is not None:
            try:
                agent.check()
                return agent
            except TestbedError:
                agent.close()
        with self._lock:
            self._agents.pop(name, None)
        agent = Agent(self.places[name].transport)
        with self._lock:
            self._agents[name] = agent
        return agent

    def meeting(self, pair: Pair) -> Meeting:
        """Return a meeting of two machines.

        Raises: TestbedError: the agent of one cannot be started.
        """
        with ThreadPoolExecutor(2) as pool:
            near, far = pool.map(self.agent, pair)
        addresses = self.places[pair[0]].address, self.places[pair[1]].address
        return Meeting((near, far), addresses)


def measure_all(
    machines: MeasuringMachines,
    extent: PairExtent,
    sent: SentBytes,
    say: Callable[[str], None] = lambda _: None,
    done: Collection[Pair] = (),
) -> Iterator[Direction]:
    """Measure all pairs, and yield both directions of each as soon as it is measured.

    Args:
        sent: counts what is sent, up to its limit.
        say: is called with each round before it begins.
        done: pairs that are left out.
    Raises: TooMuch: a transfer would exceed the limit; what was measured before was yielded.
    """
    rounds = schedule(list(machines.places))
    counted = _Counted(sent)
    for number, all_pairs in enumerate(rounds, 1):
        pairs = [pair for pair in all_pairs if pair not in done]
        if not pairs:
            continue
        say(f"round {number} of {len(rounds)}: {', '.join(f'{near} and {far}' for near, far in pairs)}")
        with ThreadPoolExecutor(max(1, len(pairs))) as pool:
            attempts = [pool.submit(_measure, machines, pair, extent, counted) for pair in pairs]
            for attempt in as_completed(attempts):
                yield from attempt.result()
        if counted.refusal is not None:
            raise counted.refusal


def _measure(
    machines: MeasuringMachines, pair: Pair, extent: PairExtent, counted: _Counted
) -> tuple[Direction, Direction]:
    near, far = pair
    there, back = Direction(near, far), Direction(far, near)
    try:
        with machines.meeting(pair) as meeting:
            there.delays, back.delays = meeting.delays(extent.packets, extent.packets_per_s)
            for sender, direction in enumerate((there, back)):
                _transfer(meeting, sender, direction, extent, counted)
    except CrosswindError as error:
        complete = extent.repetitions * len(extent.connections)
        for direction in (there, back):
            if direction.delays is None or len(direction.transfers) < complete:
                direction.ended = str(error)
        if not isinstance(error, TestbedError):
            counted.refusal = error
    return there, back


def _transfer(
    meeting: Meeting, sender: int, direction: Direction, extent: PairExtent, counted: _Counted
) -> None:
    what = f"bulk transfer from {direction.source} to {direction.target}"
    if extent.connections and counted.is_limited:
        # Its rate predicts what the others will take.
        counted.count(meeting.bulk(sender, 1, PART_S, 0.0).bulk)
    for _ in range(extent.repetitions):
        for connections in extent.connections:
            counted.expect_seconds(WARM_UP_S + extent.duration_s, what)
            transfer = meeting.bulk(sender, connections, extent.duration_s)
            counted.count(transfer.bulk)
            direction.transfers.append((connections, transfer.bulk))
            direction.mss_bytes = transfer.mss_bytes


class _Counted:
    """What all meetings of a round send together.

    Attributes:
        refusal: why no more may be sent.
    """

    def __init__(self, sent: SentBytes) -> None:
        self._sent = sent
        self._lock = threading.Lock()
        self.refusal: CrosswindError | None = None

    @property
    def is_limited(self) -> bool:
        return self._sent.most_bytes is not None

    def expect_seconds(self, seconds: float, what: str) -> None:
        with self._lock:
            self._sent.expect_seconds(seconds, what)

    def count(self, transfer: Bulk) -> None:
        with self._lock:
            self._sent.count(transfer)
