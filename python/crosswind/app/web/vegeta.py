"""vegeta, a common open-loop client: its targets, its command, and its results as operations.

vegeta records when it sent each request, by CLOCK_REALTIME, and how long the answer took. It does not record
when a request was due, but that follows from its rate: hit n is due n periods after the first. So the time
that a hit waited for a free worker is part of its response time, as in our own client.
"""

import csv
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TextIO

from crosswind.app.load import seconds
from crosswind.app.requirements import GoProgram
from crosswind.testbed.errors import TestbedError

VEGETA = GoProgram(
    "vegeta",
    module="github.com/tsenart/vegeta/v12",
    version="v12.12.0",
    package="github.com/tsenart/vegeta/v12",
)

# As in our own client.
TIMEOUT_NS = 30_000_000_000
# Of measured requests; as `--error-share-max` of our own client.
ERROR_SHARE_MAX = 0.01
# Long enough that its repetition does not matter, short enough to be read at once.
_TARGETS = 10_000
_NS_PER_S = 1_000_000_000
_FIELDS = 12
_HEADER = "operation,connection,intended_ns,started_ns,finished_ns,ok,measured\n"


@dataclass(frozen=True)
class Hit:
    """One request; `number` counts from 0 in the order of sending, `started_ns` is on CLOCK_REALTIME.

    `error` is empty for statuses 200 to 399.
    """

    number: int
    started_ns: int
    latency_ns: int
    status: int
    error: str
    url: str


@dataclass(frozen=True)
class VegetaTotals:
    """The totals of the measured phase.

    Attributes:
        payload_bytes: of successful hits.
        not_started: hits that were due and never sent, because no worker was free; None without a rate.
    """

    operations: int
    errors: int
    payload_bytes: int
    span_ns: int
    first_error: str | None
    not_started: int | None


def targets(base: str, object_bytes: Sequence[int], seed: int) -> str:
    """Return a targets file: objects with equal probability, in an order that follows from the seed."""
    draw = random.Random(seed)
    return "".join(f"GET {base}/{draw.choice(object_bytes)}\n" for _ in range(_TARGETS))


def attack(
    folder: Path,
    *,
    connections: int,
    rate: float | None,
    length_ns: int,
    timeout_ns: int,
    results: Path,
    table: Path,
) -> list[object]:
    """Return the command that attacks the targets in `folder` and then writes its results as a table.

    Args:
        rate: hits per second; None is as fast as the workers can.
        length_ns: of warm-up and measured phase together.
        timeout_ns: after which a hit without an answer fails.
        results: file in vegeta's own format, which is fast to write during the attack.
        table: CSV file with the same content, written afterwards.
    """
    # vegeta expects a whole number of hits per whole number of seconds.
    pace = Fraction(rate or 0).limit_denominator(1000)
    options = [
        *("-targets", folder / "targets"),
        *("-rate", f"{pace.numerator}/{pace.denominator}s"),
        *("-duration", f"{seconds(length_ns)}s"),
        *("-timeout", f"{seconds(timeout_ns)}s"),
        # One worker for each connection, from the start.
        *("-workers", connections),
        *("-max-workers", connections),
        *("-connections", connections),
        *("-max-connections", connections),
        # Bodies are read to their end, but not stored.
        *("-max-body", 0),
        *("-output", results),
    ]
    script = (
        'vegeta=$1 results=$2 table=$3; shift 3; "$vegeta" attack "$@" && '
        'exec "$vegeta" encode -to csv -output "$table" "$results"'
    )
    return ["/bin/sh", "-c", script, "sh", VEGETA.program().path, results, table, *options]


def read_hits(table: TextIO) -> Iterator[Hit]:
    """Yield the rows of the output of `vegeta encode -to csv`.

    Raises: TestbedError: a row does not have vegeta's fields; the file may be cut off.
    """
    for number, row in enumerate(csv.reader(table), start=1):
        try:
            if len(row) != _FIELDS:
                raise ValueError(f"{len(row)} fields")
            yield Hit(
                number=int(row[8]),
                started_ns=int(row[0]),
                latency_ns=int(row[2]),
                status=int(row[1]),
                error=row[5],
                url=row[10],
            )
        except ValueError as error:
            raise TestbedError(
                f"vegeta: row {number} of its results is not one of {_FIELDS} fields ({error})"
            ) from error


def write_operations(
    hits: Iterable[Hit],
    operations: TextIO,
    *,
    realtime_minus_monotonic_ns: int,
    rate: float | None,
    warm_up_ns: int,
    duration_ns: int,
) -> VegetaTotals:
    """Write the hits as operations (docs/reference/contracts.md, section 4) and return their totals.

    Args:
        rate: hits per second that were asked for; None in a closed loop.
        warm_up_ns, duration_ns: lengths that were asked for.
    Raises: TestbedError: there are no hits.
    """
    ordered = sorted(hits, key=lambda hit: hit.number)
    if not ordered:
        raise TestbedError("vegeta: its results are empty; it sent no request")
    first_ns = ordered[0].started_ns
    period_ns = None if rate is None else _NS_PER_S / rate
    count, errors, payload_bytes, last_ns, first_error = 0, 0, 0, first_ns + warm_up_ns, None
    operations.write(_HEADER)
    for hit in ordered:
        due_ns = hit.started_ns if period_ns is None else first_ns + round(hit.number * period_ns)
        # The first hit is itself a little late, so others may seem early by the same time.
        intended_ns = min(due_ns, hit.started_ns)
        ok, measured = hit.status == 200, intended_ns >= first_ns + warm_up_ns
        instants = (intended_ns, hit.started_ns, hit.started_ns + hit.latency_ns)
        row = ",".join(str(ns - realtime_minus_monotonic_ns) for ns in instants)
        operations.write(f"get,0,{row},{ok:d},{measured:d}\n")
        if not ok and first_error is None:
            first_error = hit.error or f"status {hit.status}"
        if measured:
            count += 1
            errors += not ok
            payload_bytes += int(hit.url.rpartition("/")[2]) if ok else 0
            last_ns = max(last_ns, hit.started_ns + hit.latency_ns)
    # vegeta sends hits in their order and ends on time, so those that are missing are the last ones.
    due = None if rate is None else int(rate * (warm_up_ns + duration_ns) / _NS_PER_S)
    return VegetaTotals(
        operations=count,
        errors=errors,
        payload_bytes=payload_bytes,
        span_ns=last_ns - first_ns - warm_up_ns,
        first_error=first_error,
        not_started=None if due is None else max(0, due - len(ordered)),
    )


def check(totals: VegetaTotals, error_share_max: float = ERROR_SHARE_MAX) -> None:
    """Check that requests were answered: vegeta exits with 0 even if none was.

    Args:
        error_share_max: share of the measured requests that may have failed.
    Raises: TestbedError: no request was measured, or too many failed; has the first error.
    """
    if totals.operations == 0:
        raise TestbedError(f"vegeta: no request was measured; first error: {totals.first_error or 'none'}")
    if totals.errors > error_share_max * totals.operations:
        raise TestbedError(
            f"vegeta: {totals.errors} of {totals.operations} requests failed, more than the "
            f"share of {error_share_max:g}; first error: {totals.first_error}"
        )
