"""Two machines that measure the network between them; both run `crosswind-agent between`.

Data sockets are open while the meeting lasts, and what they carry has a code with its key.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Self, TypeVar

from crosswind.fingerprint.between.answers import BulkReceived, BulkSent, DatagramsExchanged, SocketsOpened
from crosswind.fingerprint.between.delays import PairDelays, delays_between
from crosswind.fingerprint.measure.bulk import PART_S, WARM_UP_S, Bulk
from crosswind.stats import jain_index
from crosswind.testbed import Agent, AgentRefused, TestbedError
from crosswind.testbed.replies import Reply

# Ends of an agent's waits, one after the other; beyond them it is stuck.
_PATIENCE_S = 60.0

_First = TypeVar("_First")
_Second = TypeVar("_Second")


@dataclass(frozen=True)
class PairBulk:
    """A transfer, and the payload of its full segments."""

    bulk: Bulk
    mss_bytes: int


class Meeting:
    """Two machines with open data sockets; leaving the block closes them.

    Args:
        agents: of the near machine and of the far one.
        addresses: of the machines, at which they reach each other.
    """

    def __init__(self, agents: tuple[Agent, Agent], addresses: tuple[str, str]) -> None:
        self._agents = agents
        self._addresses = addresses
        # Of both ends, for datagrams and for connections.
        self._sockets: list[tuple[str, str]] = []

    def __enter__(self) -> Self:
        key = secrets.token_hex(32)

        def open_one(side: int) -> SocketsOpened:
            fields = {"address": self._addresses[side], "key": key, "side": side}
            return self._agents[side].request("open", SocketsOpened, fields)

        opened = _both(lambda: open_one(0), lambda: open_one(1))
        self._sockets = [one.at(address) for one, address in zip(opened, self._addresses, strict=True)]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for agent in self._agents:
            # One that is gone has closed them.
            with suppress(TestbedError):
                agent.request("close", Reply)

    def delays(self, packets: int, per_s: int) -> tuple[PairDelays, PairDelays]:
        """Return the delays from the near machine to the far one, and back.

        Raises: TestbedError: nothing passes, a machine is gone, or a clock was set.
        """

        def exchange(side: int) -> DatagramsExchanged:
            fields = {"to": self._sockets[1 - side][0], "count": packets, "per_s": per_s}
            wait_s = packets / per_s + _PATIENCE_S
            return self._agents[side].request("exchange", DatagramsExchanged, fields, wait_s)

        return delays_between(*_both(lambda: exchange(0), lambda: exchange(1)))

    def bulk(
        self, sender: int, connections: int, duration_s: float, warm_up_s: float = WARM_UP_S
    ) -> PairBulk:
        """Send as fast as TCP goes, and return what arrived.

        Args:
            sender: 0 for the near machine, 1 for the far one.
        Raises: TestbedError: nothing arrives, or a machine is gone.
        """
        window = {
            "connections": connections,
            "warm_up_ns": round(warm_up_s * 1e9),
            "window_ns": round(duration_s * 1e9),
            "part_ns": round(PART_S * 1e9),
        }
        wait_s = warm_up_s + duration_s + _PATIENCE_S
        receiver = self._agents[1 - sender]
        fields = {"to": self._sockets[1 - sender][1], "window": window}
        received, sent = _both(
            lambda: receiver.request("receive", BulkReceived, window, wait_s),
            lambda: self._agents[sender].request("send", BulkSent, fields, wait_s),
        )
        return PairBulk(
            bulk_of(received, sent, warm_up_s, duration_s), min(one.mss_bytes for one in sent.connections)
        )


def bulk_of(received: BulkReceived, sent: BulkSent, warm_up_s: float, duration_s: float) -> Bulk:
    """Return a transfer from what both machines counted. Pure.

    Raises: TestbedError: nothing arrived in the window, or the machines counted something else.
    """
    begin, end = (round(at_s / PART_S) for at_s in (warm_up_s, warm_up_s + duration_s))
    series = [one.series for one in received.connections]
    if len(sent.connections) != len(series) or any(len(one) != end for one in series):
        raise TestbedError("bulk transfer: the machines counted something else; are their agents the same?")
    parts_bps = [8 * sum(part) / PART_S for part in zip(*series, strict=True)]
    each_bps = [8 * sum(one[begin:end]) / duration_s for one in series]
    if not sum(each_bps):
        raise TestbedError("bulk transfer: not one byte arrived in its window; is the path cut?")
    return Bulk(
        tool="agent",
        goodput_bps=sum(each_bps),
        each_bps=each_bps,
        jain=jain_index(each_bps),
        retransmits=sum(one.retransmits for one in sent.connections),
        fastest_bps=max(parts_bps),
        parts_bps=parts_bps[begin:end],
        rtt_us=[one.rtt_us for one in sent.connections],
        sender_cpu_s=[one.cpu_ns / 1e9 for one in sent.connections],
        receiver_cpu_s=[one.cpu_ns / 1e9 for one in received.connections],
        window_s=duration_s,
        moved_bytes=sum(one.total_bytes for one in received.connections),
        began_ns=None,
        ended_ns=None,
    )


def _both(first: Callable[[], _First], second: Callable[[], _Second]) -> tuple[_First, _Second]:
    """Do something on both machines at once.

    Raises: TestbedError: it failed; where a machine is gone, the other one's complaint is left out.
    """
    with ThreadPoolExecutor(2) as pool:
        one, other = pool.submit(first), pool.submit(second)
        failures = [error for attempt in (one, other) if (error := attempt.exception()) is not None]
    for failure in failures:
        if not isinstance(failure, TestbedError):
            raise failure
    gone = [failure for failure in failures if not isinstance(failure, AgentRefused)]
    if failures:
        raise (gone or failures)[0]
    return one.result(), other.result()
