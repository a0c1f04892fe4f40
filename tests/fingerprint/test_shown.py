"""What a fingerprint tells while it measures: each measurement, and what it found, with its series."""

from __future__ import annotations

from crosswind.analysis.network.traffic_trace import TrafficTrace
from crosswind.fingerprint.fingerprint import Extent
from crosswind.fingerprint.shown import VALUES_MAX, MeasurementEvents
from crosswind.stream import Event, Measured, MeasurementBegun


def test_a_measurement_is_told_before_what_it_found() -> None:
    events: list[Event] = []
    shown = MeasurementEvents(events.append)
    shown.begin("round trips")
    shown.times("round trip", [3.0, 1.0, 2.0])
    shown.times("one-way delay", [])
    shown.begin("a flood")
    # 10 bits in a second, and 30 in half a second.
    shown.trace(TrafficTrace.of([0.0, 1.0], [1.0, 1.5], [10.0, 30.0]))
    assert events == [
        MeasurementBegun(name="round trips"),
        Measured(
            name="round trips", quantity="round trip", unit="ns", value=2.0, values=(3.0, 1.0, 2.0)
        ),
        MeasurementBegun(name="a flood"),
        Measured(name="a flood", quantity="rate", unit="bit/s", value=35.0, values=(10.0, 60.0)),
    ]  # fmt: skip


def test_a_long_series_is_thinned_evenly() -> None:
    events: list[Measured] = []

    def take(event: Event) -> None:
        if isinstance(event, Measured):
            events.append(event)

    MeasurementEvents(take).times("round trip", [*map(float, range(1000))])
    assert len(events[0].values) <= VALUES_MAX
    assert events[0].values[:3] == (0.0, 3.0, 6.0)
    assert events[0].value == 499.5


def test_an_extent_says_how_many_measurements_it_has() -> None:
    # Round trips, one-way delay, round trips beside a transfer, and full speed; two sizes, and three
    # repetitions of each of four numbers of connections.
    assert Extent(1.0, 1.0, (1, 2, 5, 10), 3, (1024, 4096)).measurements == 4 + 2 + 12
