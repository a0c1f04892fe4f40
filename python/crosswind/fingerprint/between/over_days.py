"""Measure all pairs again and again, with a rest after each round, into a file that is continued."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial

from crosswind.fingerprint.between.all_pairs import MeasuringMachines, PairExtent, measure_all
from crosswind.fingerprint.between.document import figures_of
from crosswind.fingerprint.between.rounds import PairMeasured, RoundsRecorder
from crosswind.fingerprint.measure.sent_bytes import SentBytes


def measure_rounds(
    machines: MeasuringMachines,
    extent: PairExtent,
    recorder: RoundsRecorder,
    wanted_s: float,
    rest_s: float,
    sent: SentBytes,
    say: Callable[[str], None] = lambda _: None,
) -> None:
    """Measure until all sittings together have lasted `wanted_s`; a round that has begun is completed.

    Args:
        rest_s: after each round.
        sent: counts what is sent, up to its limit.
        say: is called with what is measured.
    Raises: TooMuch: a transfer would exceed the limit; what was measured before is in the file.
    """
    began_s = time.monotonic()
    left_s = wanted_s - recorder.before.measured_s
    recorder.sit(_now())
    number, done = recorder.before.next_round()
    while True:
        for found in measure_all(machines, extent, sent, partial(_say, say, number), done):
            recorder.add(
                PairMeasured(
                    round=number,
                    at=_now(),
                    after_s=round(time.monotonic() - began_s, 3),
                    sent_bytes=sum(bulk.moved_bytes for _, bulk in found.transfers),
                    figures=figures_of(found, found.document({}), None),
                )
            )
        if time.monotonic() - began_s + rest_s >= left_s:
            return
        say(f"{number}: rest")
        time.sleep(rest_s)
        number, done = number + 1, []


def _say(say: Callable[[str], None], number: int, text: str) -> None:
    say(f"{number}: {text}")


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
