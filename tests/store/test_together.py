"""What machines measured of one network is the measurement of one machine: split, and merged again."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crosswind.results.measurement import (
    SAME_CLOCK,
    Amount,
    BucketContent,
    BucketRow,
    Change,
    ClockLine,
    Conservation,
    DrivenLink,
    DropRow,
    ElementCounts,
    EmulatorHost,
    HeldRow,
    Histogram,
    InterferenceSource,
    Ledger,
    Measurement,
    Monitored,
    NodeUsage,
    PacketCounts,
    RateStep,
    RecordedRows,
    RetransmissionRow,
    Series,
    SeriesRow,
    Span,
    Trend,
    Window,
)
from crosswind.results.measurement.clock import ClockComparison, line_from, line_through
from crosswind.results.measurement.emulation import ByClass
from crosswind.results.measurement.machines import Balance, MachinePart, Tunnel, UnderWay
from crosswind.results.measurement.together import OfMachine, together

START, END, STEP = 5_000_000_000, 9_000_000_000, 100_000_000
ELEMENTS = ["h0/uplink", "a->b", "h1/uplink"]
REASONS = ["queue-full", "no-tokens"]
COUNTS = st.integers(0, 1000)
INSTANTS = st.integers(START, END)


def rows(of: Any, *fields: Any) -> st.SearchStrategy[Any]:
    """Return lists in the order of time; equal instants would have no order of their own."""
    made = st.lists(st.builds(of, INSTANTS, *fields), max_size=8, unique_by=lambda row: row.at_ns)
    return made.map(lambda found: sorted(found, key=lambda row: row.at_ns))


@st.composite
def packet_counts(draw: st.DrawFn) -> PacketCounts:
    amount = st.builds(Amount, packets=COUNTS, bytes=COUNTS)
    return PacketCounts(
        arrived_packets=draw(COUNTS),
        arrived_bytes=draw(COUNTS),
        departed_packets=draw(COUNTS),
        departed_bytes=draw(COUNTS),
        marked_packets=draw(COUNTS),
        duplicated=draw(amount),
        corrupted=draw(amount),
        dropped={reason: draw(amount) for reason in REASONS},
    )


@st.composite
def conservations(draw: st.DrawFn) -> Conservation:
    """Return a balance that holds."""
    counts = {
        name: ByClass(real=draw(COUNTS), ghost=draw(COUNTS)) for name in ("duplicated", "dropped", "inside")
    }
    entered = ByClass(real=draw(COUNTS), ghost=draw(COUNTS))

    def out(kind: str) -> int:
        each = {name: getattr(counts[name], kind) for name in counts}
        return getattr(entered, kind) + each["duplicated"] - each["dropped"] - each["inside"]  # type: ignore[no-any-return]

    return Conservation(
        entered=entered, out=ByClass(real=out("real"), ghost=out("ghost")), holds=True, **counts
    )


@st.composite
def series_rows(draw: st.DrawFn) -> list[SeriesRow]:
    steps = [START + STEP * step for step in range(5)]
    places = [(at, element, kind) for at in steps for element in ELEMENTS for kind in ("real", "ghost")]
    chosen = draw(st.lists(st.sampled_from(places), unique=True, max_size=10))
    return [
        SeriesRow(*place, *(draw(COUNTS) for _ in range(5))) for place in sorted(chosen, key=places.index)
    ]


@st.composite
def bucket_rows(draw: st.DrawFn) -> list[BucketRow]:
    places = [(START + STEP * step, element) for step in range(5) for element in ELEMENTS]
    chosen = draw(st.lists(st.sampled_from(places), unique=True, max_size=6))
    return [BucketRow(*place, draw(COUNTS)) for place in sorted(chosen, key=places.index)]


@st.composite
def measurements(draw: st.DrawFn) -> Measurement:
    """Return what one machine measures of a whole network."""
    spans = st.lists(st.integers(0, 30), unique=True, max_size=5).map(
        # None touches another: 10 of 100 ms.
        lambda places: [Span(at_ns=START + at * STEP, length_ns=STEP // 10) for at in sorted(places)]
    )
    monitors = [
        Monitored(
            element=element,
            place="link",
            of=element,
            window_ns=STEP,
            started_ns=draw(st.none() | INSTANTS),
            histograms=[Histogram(what="ipg", unit="ns", counts="gaps", count=1, bins=[(0, 1, 1)])],
            trends=[Trend(what="ipg", unit="ns", step_ns=STEP, rows=[(draw(INSTANTS), 1.5, 2)])],
        )
        for element in ELEMENTS
    ]
    return Measurement(
        window=Window(started_ns=START, ended_ns=END, realtime_minus_monotonic_ns=7),
        wait_mode="sleep",
        domains=3,
        ledger=Ledger(
            packets=draw(COUNTS),
            early=draw(COUNTS),
            missed=draw(COUNTS),
            bound_ns=100_000,
            error_ns={"p50": draw(COUNTS), "max": draw(st.none() | COUNTS)},
            late=draw(spans),
            ingress_clamped=draw(COUNTS),
            ingress_clamp_ns_max=draw(COUNTS),
        ),
        conservation=draw(conservations()),
        host=EmulatorHost(
            canary_gap_ns_max=draw(COUNTS),
            stalls=draw(spans),
            steal_ns=draw(COUNTS),
            run_queue_delay_ns=draw(COUNTS),
            emulator_cpu_ns=draw(COUNTS),
            ring_overruns=draw(COUNTS),
            send_retries=draw(COUNTS),
            watch_ns=draw(COUNTS),
        ),
        changes=[Change(at_ns=draw(INSTANTS), asked_ns=START, by="set", condition="slow", places={})],
        elements=[
            ElementCounts(element=name, real=draw(packet_counts()), ghost=draw(packet_counts()))
            for name in ELEMENTS[:-1]
        ]
        + [
            ElementCounts(
                element=ELEMENTS[-1],
                real=draw(packet_counts()),
                ghost=draw(packet_counts()),
                credit=BucketContent(budget_bits=9, refill_bps=8, first_bits=7, left_bits=6),
            )
        ],
        series=Series(step_ns=STEP, rows=draw(series_rows()), credit=draw(bucket_rows())),
        monitors=monitors,
        interference=[InterferenceSource(source="h0->h1", draws=draw(rows(RateStep, COUNTS)))],
        capacity=[DrivenLink(link="a->b", lost_records=0, changes=draw(rows(RateStep, COUNTS)))],
        nodes=[NodeUsage(node="n0", memory_peak_bytes=1, cpu_time_ns=2), NodeUsage(node="n1")],
        drops=RecordedRows[DropRow](
            lost_records=draw(COUNTS), rows=draw(rows(DropRow, st.just("a->b"), st.just("red")))
        ),
        retransmissions=RecordedRows[RetransmissionRow](
            lost_records=draw(COUNTS),
            rows=draw(rows(RetransmissionRow, *map(st.just, ("n0", "a", "b", 1, 2, None)))),
        ),
        held_acknowledgements=RecordedRows[HeldRow](
            lost_records=draw(COUNTS), rows=draw(rows(HeldRow, *map(st.just, ("n0", "a", "b", 3))))
        ),
    )


class Split:
    """Deals a measurement out to machines, each with a clock of its own."""

    def __init__(self, draw: st.DrawFn, clocks: list[ClockLine]) -> None:
        self.draw, self.clocks, self.count = draw, clocks, len(clocks)

    def number(self, total: int) -> list[int]:
        """Return parts whose sum is `total`."""
        cuts = sorted(self.draw(st.integers(0, total)) for _ in range(self.count - 1))
        return [high - low for low, high in zip([0, *cuts], [*cuts, total], strict=True)]

    def most(self, greatest: int) -> list[int]:
        """Return parts of which `greatest` is the greatest."""
        least = [self.draw(st.integers(0, greatest)) for _ in range(self.count)]
        least[self.draw(st.integers(0, self.count - 1))] = greatest
        return least

    def numbers(self, of: Any, whole: Any) -> list[Any]:
        """Return parts of a model of numbers, or of other such models and mappings of them."""
        parts: list[dict[str, Any]] = [{} for _ in range(self.count)]
        for name in type(whole).model_fields:
            value = getattr(whole, name)
            if isinstance(value, int):
                shares: list[Any] = list(self.number(value))
            elif isinstance(value, dict):
                each = {key: self.numbers(type(entry), entry) for key, entry in value.items()}
                shares = [{key: each[key][place] for key in each} for place in range(self.count)]
            else:
                shares = self.numbers(type(value), value)
            for part, share in zip(parts, shares, strict=True):
                part[name] = share
        return [of(**part) for part in parts]

    def deal(self, entries: list[Any]) -> list[list[Any]]:
        """Give each entry to one machine."""
        found: list[list[Any]] = [[] for _ in range(self.count)]
        for entry in entries:
            found[self.draw(st.integers(0, self.count - 1))].append(entry)
        return found

    def timed(self, entries: list[Any]) -> list[list[Any]]:
        """Give each row to one machine, with its instant on that machine's clock."""
        return [
            [dataclasses.replace(row, at_ns=clock.there(row.at_ns)) for row in mine]
            for clock, mine in zip(self.clocks, self.deal(entries), strict=True)
        ]

    def spans(self, entries: list[Span]) -> list[list[Span]]:
        return [
            [Span(at_ns=clock.there(span.at_ns), length_ns=span.length_ns) for span in mine]
            for clock, mine in zip(self.clocks, self.deal(entries), strict=True)
        ]

    def recorded(self, whole: Any) -> list[Any]:
        each = zip(self.number(whole.lost_records), self.timed(whole.rows), strict=True)
        return [type(whole)(lost_records=lost, rows=mine) for lost, mine in each]

    def series(self, whole: list[SeriesRow]) -> list[list[SeriesRow]]:
        """Share each row among all machines; a machine where nothing happened has none."""
        found: list[list[SeriesRow]] = [[] for _ in range(self.count)]
        for row in whole:
            shares = zip(*(self.number(count) for count in dataclasses.astuple(row)[3:]), strict=True)
            for clock, mine, share in zip(self.clocks, found, shares, strict=True):
                if any(share) or self.count == 1:
                    mine.append(SeriesRow(clock.there(row.at_ns), row.element, row.traffic, *share))
        return found

    def under_way(self, whole: Conservation) -> tuple[list[Conservation], list[UnderWay]]:
        """Share the balance among all machines, with packets on their way between them."""
        amounts = st.integers(-50, 50)

        def balances() -> list[Balance]:
            return [Balance(real=self.draw(amounts), ghost=self.draw(amounts)) for _ in range(self.count)]

        before, now = balances(), balances()

        def less(count: ByClass, all_of: list[Balance]) -> list[ByClass]:
            real = count.real - sum(it.real for it in all_of)
            ghost = count.ghost - sum(it.ghost for it in all_of)
            # A machine may count less than nothing here, since each amount is free: the sum counts.
            return [ByClass(real=real, ghost=ghost)] + [ByClass()] * (self.count - 1)

        shared = [
            self.numbers(ByClass, count) if count.real >= 0 and count.ghost >= 0 else less(count, [])
            for count in (whole.duplicated, whole.dropped)
        ]
        each = zip(
            less(whole.entered, before),
            shared[0],
            less(whole.out, []),
            shared[1],
            less(whole.inside, now),
            strict=True,
        )
        parts = [
            Conservation(
                entered=entered, duplicated=duplicated, out=out, dropped=dropped, inside=inside, holds=True
            )
            for entered, duplicated, out, dropped, inside in each
        ]
        ways = [UnderWay(before=one, now=other) for one, other in zip(before, now, strict=True)]
        return parts, ways


@st.composite
def splits(draw: st.DrawFn) -> tuple[Measurement, list[OfMachine]]:
    """Return a measurement, and what machines with clocks seconds apart measure of the same."""
    whole = draw(measurements())
    offsets = draw(st.lists(st.integers(-START, 10**15), min_size=2, max_size=2))
    clocks = [SAME_CLOCK, *(line_from(ClockComparison(0, offset, 10), 0) for offset in offsets)]
    split = Split(draw, clocks)
    elements = [
        zip(split.numbers(PacketCounts, it.real), split.numbers(PacketCounts, it.ghost), strict=True)
        for it in whole.elements
    ]
    elements_of = list(zip(*(list(each) for each in elements), strict=True))
    conservations_of, under_way = split.under_way(whole.conservation)
    ledger, host = whole.ledger, whole.host
    dealt = {
        "drops": split.recorded(whole.drops),
        "retransmissions": split.recorded(whole.retransmissions),
        "held_acknowledgements": split.recorded(whole.held_acknowledgements),
    }
    late, stalls = split.spans(ledger.late), split.spans(host.stalls or [])
    series = split.series(whole.series.rows)
    counts = {name: split.number(getattr(ledger, name)) for name in ("packets", "early", "missed")}
    clamps = split.number(ledger.ingress_clamped), split.most(ledger.ingress_clamp_ns_max)
    sums = ("steal_ns", "run_queue_delay_ns", "emulator_cpu_ns", "ring_overruns", "send_retries", "watch_ns")
    hosts = {name: split.number(getattr(host, name)) for name in sums}
    gaps = split.most(host.canary_gap_ns_max or 0)
    monitors, nodes = whole.monitors, whole.nodes
    parts = []
    for at, clock in enumerate(clocks):
        there = clock.there
        measurement = Measurement(
            window=Window(
                started_ns=there(START), ended_ns=there(END), realtime_minus_monotonic_ns=7 - there(0)
            ),
            wait_mode="sleep" if at == 1 else "spin",
            ledger=Ledger(
                **{name: shares[at] for name, shares in counts.items()},
                bound_ns=ledger.bound_ns,
                error_ns=ledger.error_ns,
                late=late[at],
                ingress_clamped=clamps[0][at],
                ingress_clamp_ns_max=clamps[1][at],
            ),
            conservation=conservations_of[at],
            host=EmulatorHost(
                canary_gap_ns_max=gaps[at],
                stalls=stalls[at],
                **{name: shares[at] for name, shares in hosts.items()},
            ),
            changes=[
                it.model_copy(update={"at_ns": there(it.at_ns), "asked_ns": there(it.asked_ns)})
                for it in whole.changes
            ],
            elements=[
                ElementCounts(
                    element=it.element,
                    real=real,
                    ghost=ghost,
                    **({} if it.credit is None or at != 2 else {"credit": it.credit}),
                )
                for it, (real, ghost) in zip(whole.elements, elements_of[at], strict=True)
            ],
            series=Series(
                step_ns=STEP,
                rows=series[at],
                # Each bucket is on one machine.
                credit=[
                    dataclasses.replace(row, at_ns=there(row.at_ns))
                    for row in whole.series.credit
                    if ELEMENTS.index(row.element) % len(clocks) == at
                ],
            ),
            # Each is on one machine: the last element on the first, so that the order has to be restored.
            monitors=[
                it.model_copy(
                    update={
                        "started_ns": None if it.started_ns is None else there(it.started_ns),
                        "trends": [
                            trend.model_copy(
                                update={"rows": [(there(row[0]), *row[1:]) for row in trend.rows]}
                            )
                            for trend in it.trends
                        ],
                    }
                )
                for it in (monitors[2 - at],)
            ],
            interference=[
                it.model_copy(
                    update={"draws": [RateStep(there(draw_.at_ns), draw_.rate_bps) for draw_ in it.draws]}
                )
                for it in whole.interference
                if at == 1
            ],
            capacity=[
                it.model_copy(update={"changes": [RateStep(there(c.at_ns), c.rate_bps) for c in it.changes]})
                for it in whole.capacity
                if at == 2
            ],
            nodes=[nodes[at]] if at < 2 else [],
            **{name: shares[at] for name, shares in dealt.items()},
            machine=MachinePart(tunnel=Tunnel(domain=at), under_way=under_way[at]),
        )
        parts.append(OfMachine(f"m{at}", measurement, clock))
    return whole, parts


@given(splits())
def test_what_machines_measured_is_what_one_would_have_measured(
    split: tuple[Measurement, list[OfMachine]],
) -> None:
    whole, parts = split
    found = together(parts)
    assert [it.machine for it in found.machines] == ["m0", "m1", "m2"]
    assert {it.started_ns for it in found.machines} == {START}
    assert found.model_copy(update={"machines": []}) == whole


def test_packets_that_are_between_two_readings_are_inside_or_counted_as_entered() -> None:
    # Three packets left m0 for m1 before m0 was read; m1 was read earlier, and has seen five of them.
    one, other = (ByClass(real=10), ByClass(real=0))
    parts = [
        part("m0", Conservation(entered=one, out=ByClass(), inside=ByClass(real=7), holds=True), 3),
        part("m1", Conservation(entered=other, out=ByClass(real=5), inside=ByClass(), holds=True), -5),
    ]
    found = together(parts).conservation
    assert (found.inside.real, found.entered.real, found.out.real, found.holds) == (5, 10, 5, True)


def part(name: str, conservation: Conservation, now: int) -> OfMachine:
    measurement = Measurement(
        window=Window(started_ns=START, ended_ns=END),
        ledger=Ledger(packets=1, early=0, missed=0, bound_ns=100_000),
        conservation=conservation,
        host=EmulatorHost(),
        machine=MachinePart(tunnel=Tunnel(), under_way=UnderWay(now=Balance(real=now))),
    )
    return OfMachine(name, measurement, SAME_CLOCK)


@given(
    st.integers(0, 10**15),
    st.integers(-(10**15), 10**15),
    st.integers(-500_000, 500_000),
    st.integers(-(10**12), 10**12),
)
def test_an_instant_goes_to_another_clock_and_back(now: int, offset: int, ppb: int, since: int) -> None:
    line = line_from(ClockComparison(now, now + offset, 5), ppb)
    assert abs(line.here(line.there(now + since)) - (now + since)) <= 1
    # 500 ppm of 1000 s: the other clock shows half a second more or less.
    assert abs(line.there(now + since) - (now + since + offset) - since * ppb // 10**9) <= 1


def test_a_clock_that_changes_its_speed_has_a_wider_bound() -> None:
    steady = [ClockComparison(second * 10**9, second * 10**9 + 100, 7) for second in range(5)]
    assert line_through(steady, 0).bound_ns == 7
    assert line_through(steady, 0).there(10**9) == 10**9 + 100
    slewed = [*steady[:2], ClockComparison(2 * 10**9, 2 * 10**9 + 140, 7), *steady[3:]]
    assert line_through(slewed, 0).bound_ns == 47


def test_estimates_soon_after_the_start_that_are_much_worse_do_not_count() -> None:
    start = ClockComparison(0, 2_000_000, 1_900_000)
    later = [ClockComparison(second * 10**9, second * 10**9 + 100, 7) for second in range(1, 3)]
    assert line_through([start, *later], 0).there(0) == 100
    # Of one that counts, the other clock's speed is the estimated one.
    assert line_through([start, later[0]], 1000).there(2 * 10**9) == 2 * 10**9 + 100 + 1000


def test_steps_of_machines_that_began_apart_are_still_the_same_steps() -> None:
    row = SeriesRow(START + STEP, "h0/uplink", "real", 1, 2, 3, 4, 5)
    late_ns = 40_000
    whole = part("m0", Conservation(holds=True), 0).measurement
    first = whole.model_copy(update={"series": Series(rows=[row])})
    second = whole.model_copy(
        update={
            "window": Window(started_ns=START + late_ns, ended_ns=END),
            "series": Series(rows=[dataclasses.replace(row, at_ns=row.at_ns + late_ns)]),
        }
    )
    found = together([OfMachine("m0", first, SAME_CLOCK), OfMachine("m1", second, SAME_CLOCK)])
    assert found.series.rows == [SeriesRow(START + STEP, "h0/uplink", "real", 2, 4, 6, 8, 10)]
    assert [machine.started_ns - START for machine in found.machines] == [0, late_ns]


@pytest.mark.parametrize("touching", [True, False])
def test_late_spans_of_two_machines_that_touch_are_one(touching: bool) -> None:
    whole = part("m0", Conservation(holds=True), 0).measurement
    at_ns = START + (STEP // 2 if touching else 2 * STEP)
    ledgers = [
        whole.ledger.model_copy(update={"late": [Span(at_ns=begin, length_ns=STEP)]})
        for begin in (START, at_ns)
    ]
    parts = [OfMachine("m", whole.model_copy(update={"ledger": it}), SAME_CLOCK) for it in ledgers]
    assert len(together(parts).ledger.late) == (1 if touching else 2)
