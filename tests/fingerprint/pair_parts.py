"""Pairs of machines that tests have measured."""

from __future__ import annotations

from pathlib import Path

from crosswind.fingerprint.between.delays import PairDelays
from crosswind.fingerprint.between.direction import Direction
from crosswind.fingerprint.between.document import BetweenDocument, BetweenMachine
from crosswind.fingerprint.between.folder import make_folder, write_between, write_direction
from crosswind.fingerprint.measure.bulk import Bulk
from crosswind.fingerprint.measure.sent_bytes import SentBytes

US = 1_000


def transfer(goodput_bps: float) -> Bulk:
    return Bulk(
        tool="agent",
        goodput_bps=goodput_bps,
        each_bps=[goodput_bps],
        jain=1.0,
        retransmits=0,
        fastest_bps=goodput_bps,
        parts_bps=[goodput_bps],
        rtt_us=[300],
        sender_cpu_s=[0.1],
        receiver_cpu_s=[0.1],
        window_s=0.5,
        moved_bytes=1000,
        began_ns=None,
        ended_ns=None,
    )


def direction(source: str, target: str, delay_us: float, goodput_bps: float = 1e9) -> Direction:
    """Return one with 400 probes, 4 of them lost; half of them are 2 us later than the others."""
    delay_ns = [round(delay_us * US) + 2 * US * (number % 2) for number in range(396)]
    delays = PairDelays(400, delay_ns, 50 * US, [round(2 * delay_us * US)] * 396, 0)
    return Direction(source, target, delays, [(4, transfer(goodput_bps))], 1448)


def write(folder: Path, machines: list[BetweenMachine], directions: list[Direction]) -> BetweenDocument:
    """Write a measurement as the command does."""
    make_folder(folder, [machine.name for machine in machines])
    pairs = [write_direction(folder, found, {}) for found in directions]
    return write_between(folder, machines, 1, pairs, SentBytes(None), {})
