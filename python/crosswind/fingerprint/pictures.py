"""Pictures of a fingerprint: delays of packets, rates over time, and the share of each connection."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import plotly.graph_objects as go

from crosswind.analysis.network.document import FingerprintDocument
from crosswind.analysis.network.token_bucket import TokenBucket
from crosswind.analysis.network.traffic_trace import TrafficTrace
from crosswind.analysis.network.transfers import BulkPart
from crosswind.stats import ecdf, quantile
from crosswind.text.picture import Picture, finished, log_axis, milliseconds, rounded, value_axis
from crosswind.text.quantities import memory_text

# Numbers of colours: for measured values, and for fitted ones.
_MEASURED, _FITTED = 1, 2
_SERIES_OF_ENDS = {"sender": _MEASURED, "receiver": _FITTED}
_COSTS: dict[str, Callable[[BulkPart], float | None]] = {
    "sender": lambda one: one.sender_cpu_s_per_gb,
    "receiver": lambda one: one.receiver_cpu_s_per_gb,
}
# Length of a part of a bulk transfer.
PART_S = 0.1
_LEGEND = {"orientation": "h", "y": 1.0, "yanchor": "bottom"}


def pictures(document: FingerprintDocument) -> list[Picture]:
    """Return the pictures for which the document has data."""
    drawn = (
        _trace(document),
        _delays(document),
        _delays_in_order(document),
        _round_trips(document),
        _capacity(document),
        _messages(document),
        _writes(document),
        _goodput(document),
        _connections(document),
        _cpu_time(document),
        _cpu_time_of_writes(document),
    )
    return [picture for picture in drawn if picture is not None]


def _delays(document: FingerprintDocument) -> Picture | None:
    """Draw the distribution of the one-way delay."""
    each_ns = document.delay.each_ns if document.delay else []
    if not each_ns:
        return None
    curve = ecdf(each_ns)
    late_ms = [milliseconds(value) for value in curve.value]
    figure = go.Figure()
    figure.add_trace(
        go.Scatter(
            x=late_ms,
            y=[rounded(share) for share in curve.share],
            name="one-way delay",
            mode="lines",
            line={"width": 2, "shape": "hv"},
            showlegend=False,
            meta={"series": _MEASURED},
            hovertemplate="%{x:.4g} ms: %{y:.4~%}<extra></extra>",
        )
    )
    for name, share in (("P50", 0.5), ("P90", 0.9), ("P99", 0.99)):
        figure.add_trace(
            go.Scatter(
                x=[milliseconds(quantile(each_ns, share))],
                y=[share],
                name=name,
                mode="markers",
                marker={"size": 9, "symbol": "diamond"},
                showlegend=False,
                meta={"series": _FITTED},
                hovertemplate=f"{name}: %{{x:.4g}} ms<extra></extra>",
            )
        )
    figure.update_layout(
        xaxis=value_axis("one-way delay x (ms)", late_ms),
        yaxis={"title": {"text": "share of packets up to x"}, "tickformat": "~%", "range": [0, 1.02]},
    )
    return finished("delay", "Distribution of the one-way delay of small packets.", 320, figure)


def _delays_in_order(document: FingerprintDocument) -> Picture | None:
    """Draw the delays in order: only this shows bursts and drift."""
    each_ns = document.delay.each_ns if document.delay else []
    if not each_ns:
        return None
    figure = go.Figure()
    figure.add_trace(
        go.Scatter(
            x=list(range(1, len(each_ns) + 1)),
            y=[milliseconds(value) for value in each_ns],
            name="one-way delay",
            mode="markers",
            marker={"size": 4},
            opacity=0.75,
            showlegend=False,
            meta={"series": _MEASURED},
            hovertemplate="packet %{x}: %{y:.4g} ms<extra></extra>",
        )
    )
    figure.update_layout(
        xaxis={"title": {"text": "packet, in the order of arrival"}, "rangemode": "tozero"},
        yaxis=value_axis("one-way delay (ms)", [milliseconds(value) for value in each_ns]),
    )
    return finished("delays", "One-way delay of each small packet in the order of arrival.", 320, figure)


def _round_trips(document: FingerprintDocument) -> Picture | None:
    """Draw the distribution of round-trip times, on an idle network and on a busy one."""
    trips = {"idle": document.round_trip.idle, "during a bulk transfer": document.round_trip.loaded}
    sides = {name: found.each_ns for name, found in trips.items() if found and found.each_ns}
    if not sides:
        return None
    figure = go.Figure()
    drawn: list[float] = []
    for series, (name, each_ns) in zip((_MEASURED, _FITTED), sides.items(), strict=False):
        curve = ecdf(each_ns)
        late_ms = [milliseconds(value) for value in curve.value]
        drawn += late_ms
        figure.add_trace(
            go.Scatter(
                x=late_ms,
                y=[rounded(share) for share in curve.share],
                name=name,
                legendgroup=name,
                mode="lines",
                line={"width": 2, "shape": "hv"},
                meta={"series": series},
                hovertemplate=f"{name}<br>%{{x:.4g}} ms: %{{y:.4~%}}<extra></extra>",
            )
        )
    figure.update_layout(
        showlegend=True,
        legend=_LEGEND,
        xaxis=value_axis("round trip x (ms)", drawn),
        yaxis={"title": {"text": "share of answers up to x"}, "tickformat": "~%", "range": [0, 1.02]},
    )
    return finished("trips", "Distribution of round-trip times, idle and under load.", 320, figure)


def _capacity(document: FingerprintDocument) -> Picture | None:
    """Draw the goodput against the number of connections."""
    numbers = document.capacity
    if not numbers:
        return None
    many = [number.connections for number in numbers]
    repetitions = [
        (number.connections, rounded(one.goodput_bps / 1e6))
        for number in numbers
        for one in number.repetitions
    ]
    medians = [rounded(number.goodput_bps.median / 1e6) for number in numbers]
    figure = go.Figure()
    figure.add_trace(_line("median", many, medians, _MEASURED, "%{x} connections: %{y:.4g} Mbit/s"))
    figure.add_trace(
        go.Scatter(
            x=[number for number, _ in repetitions],
            y=[rate for _, rate in repetitions],
            name="repetition",
            mode="markers",
            marker={"size": 7},
            showlegend=False,
            meta={"series": _MEASURED},
            hovertemplate="%{x} connections: %{y:.4g} Mbit/s<extra></extra>",
        )
    )
    figure.update_layout(
        xaxis=log_axis("connections", many) | {"tickvals": many, "ticktext": many},
        yaxis={"title": {"text": "goodput, Mbit/s"}, "rangemode": "tozero"},
    )
    return finished("capacity", "Goodput against the number of connections.", 300, figure)


def _messages(document: FingerprintDocument) -> Picture | None:
    """Draw the time of messages against their size."""
    writes = [size for size in document.writes if size.message_ns]
    if not writes:
        return None
    sizes = [size.write_bytes for size in writes]
    figure = go.Figure()
    drawn: list[float] = []
    for name, share, dash in (("median", 0.5, "solid"), ("P90", 0.9, "dot")):
        times_ms = [milliseconds(quantile(size.message_ns, share)) for size in writes]
        drawn += times_ms
        line = _line(name, sizes, times_ms, _MEASURED, f"{name}: %{{y:.4g}} ms")
        figure.add_trace(line.update(mode="lines", line={"width": 2, "dash": dash}))
    figure.update_layout(xaxis=_size_axis(sizes), yaxis=value_axis("ms", drawn))
    return finished("messages", "Time of a message and its answer against its size.", 300, figure)


def _writes(document: FingerprintDocument) -> Picture | None:
    """Draw the goodput of one connection against the size of its writes."""
    writes = document.writes
    if not writes:
        return None
    sizes = [size.write_bytes for size in writes]
    rates = [rounded(size.stream.goodput_bps / 1e6) for size in writes]
    figure = go.Figure()
    figure.add_trace(_line("goodput", sizes, rates, _MEASURED, "%{y:.4g} Mbit/s"))
    figure.update_layout(
        xaxis=_size_axis(sizes), yaxis={"title": {"text": "goodput, Mbit/s"}, "rangemode": "tozero"}
    )
    return finished("writes", "Goodput of one connection against the size of its writes.", 300, figure)


def _line(name: str, x: list[int], y: list[float], series: int, hover: str) -> go.Scatter:
    return go.Scatter(
        x=x,
        y=y,
        name=name,
        mode="lines",
        line={"width": 2},
        showlegend=False,
        meta={"series": series},
        hovertemplate=f"{hover}<extra></extra>",
    )


def _size_axis(sizes_bytes: list[int]) -> dict[str, object]:
    names = [memory_text(size) for size in sizes_bytes]
    return log_axis("size of a write", sizes_bytes) | {"tickvals": sizes_bytes, "ticktext": names}


def _trace(document: FingerprintDocument) -> Picture | None:
    """Draw the rate over time, and the rate of the fitted token bucket."""
    trace, bucket = document.traffic(), document.token_bucket
    if trace is None or bucket is None:
        return None
    origin_s = float(trace.begin_s[0])
    seconds: list[float] = []
    rates: list[float | None] = []
    for phase in trace.phases():
        seconds += [rounded(float(begin) - origin_s) for begin in phase.begin_s]
        rates += [rounded(rate / 1e6) for rate in phase.rate_bps.tolist()]
        # After the last sample of a phase there is a rest.
        seconds += [rounded(float(phase.end_s[-1]) - origin_s), rounded(float(phase.end_s[-1]) - origin_s)]
        rates += [rates[-1], None]
    figure = go.Figure()
    figure.add_trace(
        go.Scatter(
            x=seconds,
            y=rates,
            name="carried",
            legendgroup="carried",
            mode="lines",
            line={"width": 1.3, "shape": "hv"},
            meta={"series": _MEASURED},
            hovertemplate="%{x:.4g} s: %{y:.4g} Mbit/s<extra></extra>",
        )
    )
    fitted = list(fitted_steps(trace, bucket))
    figure.add_trace(
        go.Scatter(
            x=[at_s if at_s is None else rounded(at_s - origin_s) for at_s, _ in fitted],
            y=[rate if rate is None else rounded(rate / 1e6) for _, rate in fitted],
            name="fitted token bucket" if bucket.low_bps else "fitted rate",
            legendgroup="fitted",
            mode="lines",
            line={"width": 2, "dash": "dot"},
            meta={"series": _FITTED},
            hovertemplate="%{x:.4g} s: %{y:.4g} Mbit/s<extra></extra>",
        )
    )
    figure.update_layout(
        showlegend=True,
        legend=_LEGEND,
        xaxis={"title": {"text": "s since the first packet"}, "rangemode": "tozero"},
        yaxis={"title": {"text": "IP, Mbit/s"}, "rangemode": "tozero"},
    )
    alt = "Rate over time of a sender that sent more than the network takes, and of the fitted token bucket."
    return finished("trace", alt, 360, figure)


def fitted_steps(trace: TrafficTrace, bucket: TokenBucket) -> Iterator[tuple[float | None, float | None]]:
    """Yield corners (s, bit/s) of the rate that a token bucket gives in a trace; None between its phases.

    The bucket starts with the budget that was found, and refills in rests.
    """
    high_bps, emptied_s = bucket.high_bps.value, bucket.emptied_s
    low_bps = bucket.low_bps.value if bucket.low_bps else None
    refill_bps = bucket.refill_bps.value if bucket.refill_bps else low_bps
    left_s = emptied_s  # How long the high rate still lasts.
    ended_s = None
    for phase in trace.phases():
        begin_s, end_s = float(phase.begin_s[0]), float(phase.end_s[-1])
        if emptied_s is None or left_s is None or low_bps is None or refill_bps is None:
            yield from ((begin_s, high_bps), (end_s, high_bps), (None, None))
            continue
        if ended_s is not None:
            left_s = min(emptied_s, left_s + refill_bps * (begin_s - ended_s) / (high_bps - refill_bps))
        knee_s = min(begin_s + left_s, end_s)
        yield from ((begin_s, high_bps), (knee_s, high_bps))
        if knee_s < end_s:
            yield from ((knee_s, low_bps), (end_s, low_bps))
        yield None, None
        left_s, ended_s = max(0.0, begin_s + left_s - end_s), end_s


def _goodput(document: FingerprintDocument) -> Picture | None:
    """Draw the goodput of the bulk transfer in each tenth of a second."""
    parts_bps = document.bulk.parts_bps if document.bulk else []
    if not parts_bps:
        return None
    figure = go.Figure()
    figure.add_trace(
        go.Scatter(
            x=[rounded(number * PART_S) for number in range(len(parts_bps) + 1)],
            y=[rounded(rate / 1e6) for rate in (*parts_bps, parts_bps[-1])],
            name="goodput",
            mode="lines",
            line={"width": 2, "shape": "hv"},
            showlegend=False,
            meta={"series": _MEASURED},
            hovertemplate="%{x:.3g} s: %{y:.4g} Mbit/s<extra></extra>",
        )
    )
    figure.update_layout(
        xaxis={"title": {"text": "s of the common window"}, "rangemode": "tozero"},
        yaxis={"title": {"text": "goodput, Mbit/s"}, "rangemode": "tozero"},
    )
    return finished("goodput", "Goodput of the bulk transfer over time.", 280, figure)


def _connections(document: FingerprintDocument) -> Picture | None:
    """Draw the goodput of each connection of the bulk transfer."""
    each_bps = document.bulk.each_bps if document.bulk else []
    if not each_bps:
        return None
    figure = go.Figure()
    figure.add_trace(
        go.Bar(
            x=[str(number) for number in range(1, len(each_bps) + 1)],
            y=[rounded(rate / 1e6) for rate in each_bps],
            name="goodput",
            showlegend=False,
            meta={"series": _MEASURED},
            hovertemplate="connection %{x}: %{y:.4g} Mbit/s<extra></extra>",
        )
    )
    figure.update_layout(
        bargap=0.35,
        xaxis={"title": {"text": "connection"}, "type": "category"},
        yaxis={"title": {"text": "goodput, Mbit/s"}, "rangemode": "tozero"},
    )
    return finished("connections", "Goodput of each connection of the bulk transfer.", 280, figure)


def _cpu_time(document: FingerprintDocument) -> Picture | None:
    """Draw the CPU time of both ends for each GB, over several numbers of connections."""
    numbers = [
        number for number in document.capacity if number.repetitions[0].sender_cpu_s_per_gb is not None
    ]
    if not numbers:
        return None
    many = [number.connections for number in numbers]
    costs = {
        end: [[rounded(cost(one) or 0.0) for one in number.repetitions] for number in numbers]
        for end, cost in _COSTS.items()
    }
    figure = _of_ends(many, {end: [quantile(one, 0.5) for one in each] for end, each in costs.items()})
    for end, each in costs.items():
        pairs = [(number, cost) for number, one in zip(many, each, strict=True) for cost in one]
        figure.add_trace(
            go.Scatter(
                x=[number for number, _ in pairs],
                y=[cost for _, cost in pairs],
                name=end,
                legendgroup=end,
                mode="markers",
                marker={"size": 6},
                showlegend=False,
                meta={"series": _SERIES_OF_ENDS[end]},
                hovertemplate=f"{end}, %{{x}} connections: %{{y:.3g}} s/GB<extra></extra>",
            )
        )
    drawn = [cost for each in costs.values() for one in each for cost in one]
    figure.update_layout(
        xaxis=log_axis("connections", many) | {"tickvals": many, "ticktext": many},
        yaxis=value_axis("s/GB", drawn),
    )
    return finished("cpu", "CPU time per GB against the number of connections.", 320, figure)


def _cpu_time_of_writes(document: FingerprintDocument) -> Picture | None:
    """Draw the CPU time of both ends for each GB, over several sizes of writes."""
    writes = [size for size in document.writes if size.stream.sender_cpu_s_per_gb is not None]
    if not writes:
        return None
    sizes = [size.write_bytes for size in writes]
    costs = {end: [rounded(cost(size.stream) or 0.0) for size in writes] for end, cost in _COSTS.items()}
    figure = _of_ends(sizes, costs)
    drawn = [cost for each in costs.values() for cost in each]
    figure.update_layout(xaxis=_size_axis(sizes), yaxis=value_axis("s/GB", drawn))
    return finished("cpu_writes", "CPU time per GB against the size of a write.", 320, figure)


def _of_ends(x: list[int], costs: Mapping[str, list[float]]) -> go.Figure:
    """Return a figure with a line for each end."""
    figure = go.Figure()
    for end, each in costs.items():
        line = _line(end, x, each, _SERIES_OF_ENDS[end], f"{end}: %{{y:.3g}} s/GB")
        figure.add_trace(line.update(showlegend=True, legendgroup=end))
    figure.update_layout(showlegend=True, legend=_LEGEND)
    return figure
