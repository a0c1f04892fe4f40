"""Merge what machines measured of one network into the measurement that a single machine would have made.

Every machine has all elements, and a packet is counted where it passes. So counters are added, and what
belongs to an element as a whole comes from the machine that it is on: others do not report it. All instants
become those of the first machine's clock. The rules are those of domains on one machine
(crates/emulator/src/merging.rs), with one exception: quantiles of lateness are the greatest of any machine,
which the quantile of all packets together does not exceed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TypeVar

from crosswind.results.measurement.clock import ClockLine
from crosswind.results.measurement.elements import Amount, ElementCounts, PacketCounts
from crosswind.results.measurement.emulation import (
    ByClass,
    Conservation,
    EmulatorHost,
    Ledger,
    Span,
    Window,
)
from crosswind.results.measurement.machines import MeasuredMachine, Tunnel, UnderWay
from crosswind.results.measurement.measurement import Change, Measurement
from crosswind.results.measurement.monitored import Monitored, Trend
from crosswind.results.measurement.rates import DrivenLink, InterferenceSource, RateStep
from crosswind.results.measurement.tables import (
    BucketRow,
    DropRow,
    HeldRow,
    RecordedRows,
    RetransmissionRow,
    Row,
    Series,
    SeriesRow,
)

# As the agent has it: beyond, the last span goes on.
SPANS_MAX = 10_000

_Timed = TypeVar("_Timed", RateStep, DropRow, RetransmissionRow, HeldRow)
_Part = TypeVar("_Part", Span, Change)
_Stepped = TypeVar("_Stepped", SeriesRow, BucketRow)


@dataclass(frozen=True)
class OfMachine:
    """What one machine measured, and its clock against that of the first one."""

    machine: str
    measurement: Measurement
    clock: ClockLine


def together(parts: Sequence[OfMachine]) -> Measurement:
    """Return the measurement of a network that several machines carried, the first one's clock first.

    Windows may have started and ended at slightly different instants: `machines` has their starts, and the
    whole ends with the last.
    """
    begin_ns = parts[0].clock.here(parts[0].measurement.window.started_ns)
    moved = [_moved(part, begin_ns) for part in parts]
    measured = [part.measurement for part in moved]
    first = measured[0]
    elements = _elements(measured)
    order = {element.element: place for place, element in enumerate(elements)}
    return Measurement(
        window=Window(
            started_ns=first.window.started_ns,
            ended_ns=max(it.window.ended_ns for it in measured),
            realtime_minus_monotonic_ns=first.window.realtime_minus_monotonic_ns,
        ),
        wait_mode="spin" if all(it.wait_mode == "spin" for it in measured) else "sleep",
        domains=sum(it.domains for it in measured),
        ledger=_ledger([it.ledger for it in measured]),
        conservation=_conservation(measured),
        host=_host([it.host for it in measured]),
        changes=first.changes,
        elements=elements,
        series=_series([it.series for it in measured], order),
        monitors=sorted(
            (monitor for it in measured for monitor in it.monitors),
            key=lambda monitor: order.get(monitor.element, len(order)),
        ),
        interference=[source for it in measured for source in it.interference],
        capacity=[link for it in measured for link in it.capacity],
        nodes=[node for it in measured for node in it.nodes],
        drops=_rows([it.drops for it in measured]),
        retransmissions=_rows([it.retransmissions for it in measured]),
        held_acknowledgements=_rows([it.held_acknowledgements for it in measured]),
        machines=[_machine(part) for part in moved],
    )


def _machine(part: OfMachine) -> MeasuredMachine:
    measurement = part.measurement
    return MeasuredMachine(
        machine=part.machine,
        started_ns=measurement.window.started_ns,
        clock=part.clock,
        # The spans of late packets of all machines together are in the whole.
        ledger=measurement.ledger.model_copy(update={"late": []}),
        host=measurement.host,
        tunnel=Tunnel() if measurement.machine is None else measurement.machine.tunnel,
    )


def _moved(part: OfMachine, begin_ns: int) -> OfMachine:
    """Return a part with its instants on the first machine's clock.

    Steps of the series follow the start of the window, so they keep their distance from it: those of all
    machines are then equal, whatever a translation rounds.

    Args:
        begin_ns: when the window of the first machine started.
    """
    measurement, here = part.measurement, part.clock.here
    window = measurement.window

    def at(row: _Timed) -> _Timed:
        return dataclasses.replace(row, at_ns=here(row.at_ns))

    def step(row: _Stepped) -> _Stepped:
        return dataclasses.replace(row, at_ns=begin_ns + row.at_ns - window.started_ns)

    def spans(found: list[Span]) -> list[Span]:
        return [span.model_copy(update={"at_ns": here(span.at_ns)}) for span in found]

    def rows(found: RecordedRows[Row]) -> RecordedRows[Row]:
        return found.model_copy(update={"rows": [at(row) for row in found.rows]})

    def change(found: Change) -> Change:
        return found.model_copy(update={"at_ns": here(found.at_ns), "asked_ns": here(found.asked_ns)})

    def source(found: InterferenceSource) -> InterferenceSource:
        return found.model_copy(update={"draws": [at(draw) for draw in found.draws]})

    def link(found: DrivenLink) -> DrivenLink:
        return found.model_copy(update={"changes": [at(change) for change in found.changes]})

    host, ledger, series = measurement.host, measurement.ledger, measurement.series
    stalls = None if host.stalls is None else spans(host.stalls)
    update: dict[str, object] = {
        "window": window.model_copy(
            update={"started_ns": here(window.started_ns), "ended_ns": here(window.ended_ns)},
        ),
        "ledger": ledger.model_copy(update={"late": spans(ledger.late)}),
        "host": host.model_copy(update={"stalls": stalls}),
        "changes": [change(found) for found in measurement.changes],
        "series": series.model_copy(
            update={
                "rows": [step(row) for row in series.rows],
                "credit": [step(row) for row in series.credit],
            }
        ),
        "monitors": [_monitor(monitor, here) for monitor in measurement.monitors],
        "interference": [source(found) for found in measurement.interference],
        "capacity": [link(found) for found in measurement.capacity],
        "drops": rows(measurement.drops),
        "retransmissions": rows(measurement.retransmissions),
        "held_acknowledgements": rows(measurement.held_acknowledgements),
    }
    return dataclasses.replace(part, measurement=measurement.model_copy(update=update))


def _monitor(monitor: Monitored, here: Callable[[int], int]) -> Monitored:
    def trend(found: Trend) -> Trend:
        rows = [(here(at_ns), mean, greatest) for at_ns, mean, greatest in found.rows]
        return found.model_copy(update={"rows": rows})

    started_ns = None if monitor.started_ns is None else here(monitor.started_ns)
    trends = [trend(found) for found in monitor.trends]
    return monitor.model_copy(update={"started_ns": started_ns, "trends": trends})


def _ledger(ledgers: Sequence[Ledger]) -> Ledger:
    statistics = dict.fromkeys(name for ledger in ledgers for name in ledger.error_ns)
    return Ledger(
        packets=sum(it.packets for it in ledgers),
        early=sum(it.early for it in ledgers),
        missed=sum(it.missed for it in ledgers),
        bound_ns=max(it.bound_ns for it in ledgers),
        error_ns={name: _greatest(it.error_ns.get(name) for it in ledgers) for name in statistics},
        late=_joined(span for it in ledgers for span in it.late),
        ingress_clamped=sum(it.ingress_clamped for it in ledgers),
        ingress_clamp_ns_max=max(it.ingress_clamp_ns_max for it in ledgers),
    )


def _joined(spans: Iterable[Span]) -> list[Span]:
    """Return spans in order; those that touch are one."""
    found: list[Span] = []
    for span in sorted(spans, key=lambda span: span.at_ns):
        last = found[-1] if found else None
        if last is not None and (len(found) == SPANS_MAX or span.at_ns <= last.at_ns + last.length_ns):
            ends_ns = max(last.at_ns + last.length_ns, span.at_ns + span.length_ns)
            found[-1] = Span(at_ns=last.at_ns, length_ns=ends_ns - last.at_ns)
        else:
            found.append(span)
    return found


def _host(hosts: Sequence[EmulatorHost]) -> EmulatorHost:
    """Return what all machines did to their emulators; CPU time and steal are those of all together."""
    stalls = [stall for it in hosts for stall in it.stalls or []]
    return EmulatorHost(
        canary_gap_ns_max=_greatest(it.canary_gap_ns_max for it in hosts),
        stalls=None if all(it.stalls is None for it in hosts) else sorted(stalls, key=lambda it: it.at_ns),
        steal_ns=_sum(it.steal_ns for it in hosts),
        run_queue_delay_ns=_sum(it.run_queue_delay_ns for it in hosts),
        emulator_cpu_ns=_sum(it.emulator_cpu_ns for it in hosts),
        ring_overruns=sum(it.ring_overruns for it in hosts),
        send_retries=sum(it.send_retries for it in hosts),
        watch_ns=_sum(it.watch_ns for it in hosts),
    )


def _conservation(measured: Sequence[Measurement]) -> Conservation:
    """Return the balance of all machines; packets between them count as inside.

    Machines are read one a little after the other: a packet that has left one in its reading, and has not
    come to the next in that one's, counts as entered.
    """
    under_way = [UnderWay() if it.machine is None else it.machine.under_way for it in measured]

    def sums(of: Callable[[Conservation], ByClass]) -> list[int]:
        each = [of(it.conservation) for it in measured]
        return [sum(it.real for it in each), sum(it.ghost for it in each)]

    before = [sum(it.before.real for it in under_way), sum(it.before.ghost for it in under_way)]
    now = [sum(it.now.real for it in under_way), sum(it.now.ghost for it in under_way)]
    entered = [counted + more for counted, more in zip(sums(lambda it: it.entered), before, strict=True)]
    inside = [counted + more for counted, more in zip(sums(lambda it: it.inside), now, strict=True)]
    unseen = [max(0, -count) for count in inside]
    entered = [count + more for count, more in zip(entered, unseen, strict=True)]
    inside = [count + more for count, more in zip(inside, unseen, strict=True)]
    duplicated = sums(lambda it: it.duplicated)
    out, dropped = sums(lambda it: it.out), sums(lambda it: it.dropped)
    balances = zip(entered, duplicated, out, dropped, inside, strict=True)
    return Conservation(
        entered=ByClass(real=entered[0], ghost=entered[1]),
        duplicated=ByClass(real=duplicated[0], ghost=duplicated[1]),
        out=ByClass(real=out[0], ghost=out[1]),
        dropped=ByClass(real=dropped[0], ghost=dropped[1]),
        inside=ByClass(real=inside[0], ghost=inside[1]),
        holds=all(it.conservation.holds for it in measured)
        and all(came + made == left + lost + stays for came, made, left, lost, stays in balances),
    )


def _elements(measured: Sequence[Measurement]) -> list[ElementCounts]:
    """Return the counters of all elements, in the order of the machine that has most.

    One machine may have carried out a step of a timeline before another, and elements are only added.
    """
    longest = max(measured, key=lambda it: len(it.elements))
    found: dict[str, list[ElementCounts]] = {element.element: [] for element in longest.elements}
    for it in measured:
        for element in it.elements:
            found.setdefault(element.element, []).append(element)
    return [_element(same) for same in found.values()]


def _element(same: Sequence[ElementCounts]) -> ElementCounts:
    update: dict[str, object] = {
        "real": _packets([it.real for it in same]),
        "ghost": _packets([it.ghost for it in same]),
    }
    credit = next((it.credit for it in same if it.credit is not None), None)
    if credit is not None:
        update["credit"] = credit
    return same[0].model_copy(update=update)


def _packets(counts: Sequence[PacketCounts]) -> PacketCounts:
    reasons = dict.fromkeys(reason for it in counts for reason in it.dropped)
    return PacketCounts(
        arrived_packets=sum(it.arrived_packets for it in counts),
        arrived_bytes=sum(it.arrived_bytes for it in counts),
        departed_packets=sum(it.departed_packets for it in counts),
        departed_bytes=sum(it.departed_bytes for it in counts),
        marked_packets=sum(it.marked_packets for it in counts),
        duplicated=_amount(it.duplicated for it in counts),
        corrupted=_amount(it.corrupted for it in counts),
        dropped={
            reason: _amount(it.dropped[reason] for it in counts if reason in it.dropped) for reason in reasons
        },
    )


def _amount(amounts: Iterable[Amount]) -> Amount:
    each = list(amounts)
    return Amount(packets=sum(it.packets for it in each), bytes=sum(it.bytes for it in each))


def _series(series: Sequence[Series], order: dict[str, int]) -> Series:
    """Return the rows of all machines; a link that is cut has a row on each of two for the same step."""

    def place(row: SeriesRow) -> tuple[int, int, str, bool]:
        return row.at_ns, order.get(row.element, len(order)), row.element, row.traffic == "ghost"

    rows = sorted((row for it in series for row in it.rows), key=place)
    return Series(
        step_ns=series[0].step_ns,
        rows=[_row(list(same)) for _, same in groupby(rows, key=place)],
        # Only the machine of a bucket has rows of it.
        credit=sorted(
            (row for it in series for row in it.credit),
            key=lambda row: (row.at_ns, order.get(row.element, len(order)), row.element),
        ),
    )


def _row(same: Sequence[SeriesRow]) -> SeriesRow:
    if len(same) == 1:
        return same[0]
    return dataclasses.replace(
        same[0],
        arrived_bytes=sum(row.arrived_bytes for row in same),
        departed_bytes=sum(row.departed_bytes for row in same),
        dropped_packets=sum(row.dropped_packets for row in same),
        dropped_bytes=sum(row.dropped_bytes for row in same),
        queued_bytes=sum(row.queued_bytes for row in same),
    )


def _rows(parts: Sequence[RecordedRows[Row]]) -> RecordedRows[Row]:
    rows = sorted((row for part in parts for row in part.rows), key=lambda row: row.at_ns)
    return parts[0].model_copy(
        update={"lost_records": sum(part.lost_records for part in parts), "rows": rows}
    )


def _greatest(values: Iterable[int | None]) -> int | None:
    return max((value for value in values if value is not None), default=None)


def _sum(values: Iterable[int | None]) -> int | None:
    """Return the sum of what is known; None where nothing is."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None
