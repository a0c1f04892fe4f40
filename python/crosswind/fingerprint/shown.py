"""What a fingerprint measures, shown while it is measured: each measurement, and the series that it found."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from crosswind.analysis.network.traffic_trace import TrafficTrace
from crosswind.fingerprint.measure.bulk import Bulk
from crosswind.stats import quantile
from crosswind.stream import Event, Measured, MeasurementBegun

# Of a series; what is longer is thinned. A page draws it some 400 pixels wide.
VALUES_MAX = 400


class MeasurementEvents:
    """Publishes which measurement runs, and what it found."""

    def __init__(self, publish: Callable[[Event], None]) -> None:
        self._publish = publish
        self._name = ""

    def begin(self, name: str) -> None:
        """Tell that a measurement begins; what is shown next, it found."""
        self._name = name
        self._publish(MeasurementBegun(name=name))

    def times(self, quantity: str, each_ns: Sequence[float]) -> None:
        """Tell times in the order in which they were measured; nothing where there are none."""
        if each_ns:
            self._publish(
                Measured(
                    name=self._name,
                    quantity=quantity,
                    unit="ns",
                    value=quantile(each_ns, 0.5),
                    values=_thinned(each_ns),
                )
            )

    def transfer(self, bulk: Bulk) -> None:
        """Tell the goodput of a transfer, with that of each tenth of a second."""
        self._rates("goodput", bulk.goodput_bps, bulk.parts_bps)

    def trace(self, trace: TrafficTrace) -> None:
        """Tell what arrived of a flood, sample by sample."""
        rates_bps = (np.asarray(trace.bits) / (trace.end_s - trace.begin_s)).tolist()
        self._rates("rate", quantile(rates_bps, 0.5), rates_bps)

    def _rates(self, quantity: str, value_bps: float, each_bps: Sequence[float]) -> None:
        self._publish(
            Measured(
                name=self._name,
                quantity=quantity,
                unit="bit/s",
                value=value_bps,
                values=_thinned(each_bps),
            )
        )


def _thinned(values: Sequence[float]) -> tuple[float, ...]:
    return tuple(values[:: max(1, -(-len(values) // VALUES_MAX))])
