"""`crosswind fingerprint --regime`: measure a network under one access pattern, over hours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from crosswind.errors import CrosswindError

if TYPE_CHECKING:
    from pydantic import JsonValue

    from crosswind.fingerprint.measure.ends import Ends, Network
    from crosswind.fingerprint.measure.machines import Bounds
    from crosswind.fingerprint.regime.record import Header, Record

CONNECTIONS = 4


def measure_regime(
    network: Network,
    header_of: Callable[..., Header],
    regime: str,
    wanted_ns: int | None,
    point_ns: int | None,
    out: Path,
    most_bytes: int | None,
    seed: int,
    bounds: Bounds,
) -> None:
    """Measure a regime into a file, or continue one, and print the statistics of its rates.

    Args:
        network: between the sending end and the receiving one.
        header_of: returns the header, from the arguments of the regime.
        wanted_ns: total length, rests included.
        point_ns: between points; the default of the regime if None.
        most_bytes: limit of the payload in the file; None is no limit.
        bounds: limits for other load on the machine at the start; those that are not given are as when the
            file was begun. The provenance has the load at that time.
    """
    from rich.console import Console

    from crosswind.fingerprint.measure.machines import Busy, facts_here, refuse_busy
    from crosswind.fingerprint.measure.sent_bytes import SentBytes
    from crosswind.fingerprint.regime.measure import is_complete, keep_measuring
    from crosswind.fingerprint.regime.pattern import Pattern
    from crosswind.fingerprint.regime.points import RegimePoint
    from crosswind.fingerprint.regime.record import Recorder, read_record
    from crosswind.machine.provenance import provenance
    from crosswind.text.quantities import rate_text

    if wanted_ns is None:
        raise CrosswindError("--regime: has no length; add --for, such as --for 24h")
    try:
        pattern = Pattern.read(regime)
    except ValueError as error:
        raise CrosswindError(f"--regime: {error}") from None
    wanted_s = wanted_ns / 1e9
    point_s = pattern.usual_point_s if point_ns is None else point_ns / 1e9
    here = facts_here()
    refuse_busy([Busy.of(here)], bounds)
    header = header_of(
        regime=str(pattern),
        point_s=point_s,
        connections=CONNECTIONS,
        provenance=provenance(Path.cwd(), seed, {}).as_json() | {"state": here.state.as_json()},
        bounds=bounds,
    )
    # The user is not asked during the transfer, which would not wait for the answer.
    sent = SentBytes(most_bytes)
    with Recorder.open(out, header, wanted_s) as recorder, Console(stderr=True).status("") as status:

        def count(point: RegimePoint) -> float:
            rate_bps = 8e9 * point.payload_bytes / (point.end_ns - point.begin_ns)
            sent.add(point.payload_bytes)
            sent.fastest_bps = max(sent.fastest_bps, rate_bps)
            return rate_bps

        def say(point: RegimePoint) -> None:
            status.update(f"{regime}: {rate_text(count(point))}")
            sent.expect_seconds(point_s, "the next point")

        for point in recorder.before.points:
            count(point)
        if not is_complete(recorder.before, pattern, wanted_s):
            refuse_busy([Busy.of(here)], recorder.before.header.bounds.replaced_by(bounds))
            sent.expect_seconds(point_s, "the next point")
            keep_measuring(network, pattern, wanted_s, recorder, say)
    click.echo(described(read_record(out.read_bytes())))
    click.echo(f"regime: {out}")


def header_of_ends(
    ends: Ends,
    words: Sequence[str],
    *,
    regime: str,
    point_s: float,
    connections: int,
    provenance: dict[str, JsonValue],
    bounds: Bounds,
) -> Header:
    """Return the header of a regime between two existing ends, as `Header.of_ends` does.

    Args:
        words: the prefixes of commands that the user gave.
    """
    from crosswind.fingerprint.measure.machines import near_facts
    from crosswind.fingerprint.regime.record import Header
    from crosswind.probe.flood import IP_BYTES

    path_mtu_bytes = near_facts(ends).interface.path_mtu_bytes or IP_BYTES
    return Header.of_ends(
        (ends.near.name, ends.far.name),
        words,
        path_mtu_bytes,
        regime=regime,
        point_s=point_s,
        connections=connections,
        provenance=provenance,
        bounds=bounds,
    )


def described(record: Record) -> str:
    """Return the figures of a regime as text."""
    from crosswind.cli._bucket import bucket_text
    from crosswind.fingerprint.bucket.repeated_bucket import over_repetitions
    from crosswind.fingerprint.bucket.token_bucket import identify
    from crosswind.fingerprint.regime.statistics import statistics_of
    from crosswind.stats.interval import Interval
    from crosswind.text.quantities import rate_text

    try:
        found = statistics_of(record)
    except ValueError as error:
        return str(error)
    header = record.header
    lines = [
        f"{header.between[0]} to {header.between[1]}, "
        + (f"condition {header.condition}, " if header.condition is not None else "")
        + f"{header.regime}: {found.values} values, {found.sent_bits / 1e9:.4g} Gbit in "
        + f"{record.measured_s:.4g} s",
        "rate (p1, p25, p50, p75, p99): " + ", ".join(map(rate_text, found.box_bps)),
        f"mean {rate_text(found.mean_bps)}, coefficient of variation {_share(found.variation)}, "
        f"autocorrelation {_number(found.autocorrelation)}, largest step {_share(found.largest_step)}",
        f"retransmissions {_number(found.retransmits)}, round trip {_number(found.rtt_us)} us, CPU "
        f"time {_number(found.sender_cpu_s_per_gb)} s/GB sending and "
        f"{_number(found.receiver_cpu_s_per_gb)} s/GB receiving, steal {_share(found.steal_share)}",
    ]
    if found.gaps_s:
        lines.append(
            f"{len(found.gaps_s)} gaps without measurement, {sum(found.gaps_s):.4g} s; the network was "
            + ("brought up again after each" if header.condition is not None else "up all the time")
        )
    if found.clock_set:
        lines.append(f"the clock was set, or the machine slept, in {found.clock_set} points")
    trace = record.longest_trace()
    lines.append(bucket_text(identify(trace), trace))
    if len(traces := record.traces()) > 1:
        budget = over_repetitions([identify(each) for each in traces])["budget_bits"]
        said = (
            f"median {budget.estimate / 1e9:.4g} ({budget.low / 1e9:.4g} to {budget.high / 1e9:.4g}) Gbit"
            if isinstance(budget, Interval)
            else f"no interval ({budget})"
        )
        lines.append(f"budget over {budget.n} measurements: {said}")
    return "\n".join(lines)


def _share(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.3g}"


def _number(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.4g}"
