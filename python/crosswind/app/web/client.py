"""The two clients of a web server, as loads: our own, and vegeta."""

from pathlib import Path

from pydantic import JsonValue

from crosswind.app.base import Load, LoadOutcome
from crosswind.app.load import NS_PER_S, TAIL_S, WINDOW_LEAD_S, OperationsLoad
from crosswind.app.web import vegeta
from crosswind.app.written import Facts
from crosswind.results.rows import Metric
from crosswind.testbed.fabric import Process


def transfer(node: str, payload_bytes: int, span_ns: int) -> Metric:
    """Return the rate at which payload arrived in the measured phase, without headers."""
    return Metric(node, "transfer", "B/s", "mean", payload_bytes / (span_ns / NS_PER_S))


class OwnClient(Load):
    """`crosswind-load http`: its operations, and the rate at which payload arrived."""

    def __init__(self, load: OperationsLoad) -> None:
        self._load = load
        self.process = load.process
        self.longest_s = load.longest_s
        self.live = load.live

    def await_measured_phase(self) -> None:
        self._load.await_measured_phase()

    def outcome(self) -> LoadOutcome:
        operations, summary = self._load.outcome().operations, self._load.summary()
        span_ns = summary.finished_ns - summary.started_ns
        metrics = (transfer(self.process.node, summary.payload_bytes, span_ns),)
        return LoadOutcome(operations, metrics, summary)

    def first_error(self) -> str | None:
        return self._load.first_error()


class VegetaFacts(Facts):
    """The facts of a trial: those of `vegeta.VegetaTotals`, which are of the measured phase."""

    operations: int
    errors: int
    payload_bytes: int
    span_ns: int
    first_error: str | None
    not_started: int | None


class Vegeta(Load):
    """A `vegeta attack`, whose results are written as a table when it has ended.

    Args:
        table: the file with the results.
        rate: hits per second; None in a closed loop.
        error_share_max: share of the measured requests that may have failed.
        parameters: of the trial, for the facts.
    """

    def __init__(
        self,
        process: Process,
        table: Path,
        *,
        rate: float | None,
        warm_up_ns: int,
        duration_ns: int,
        error_share_max: float,
        parameters: dict[str, JsonValue],
    ) -> None:
        self.process = process
        self.longest_s = (warm_up_ns + duration_ns) / NS_PER_S + TAIL_S
        self._table = table
        self._rate = rate
        self._warm_up_ns = warm_up_ns
        self._duration_ns = duration_ns
        self._error_share_max = error_share_max
        self._parameters = parameters

    def await_measured_phase(self) -> None:
        self.process.wait(max(0.0, self._warm_up_ns / NS_PER_S - WINDOW_LEAD_S))

    def outcome(self) -> LoadOutcome:
        operations = self._table.with_name("samples.csv")
        with self.process.wrote(self._table).open(newline="") as table, operations.open("w") as file:
            totals = vegeta.write_operations(
                vegeta.read_hits(table),
                file,
                realtime_minus_monotonic_ns=self.process.wall_ahead_ns(),
                rate=self._rate,
                warm_up_ns=self._warm_up_ns,
                duration_ns=self._duration_ns,
            )
        vegeta.check(totals, self._error_share_max)
        facts = VegetaFacts(
            tool="vegeta",
            parameters=self._parameters,
            operations=totals.operations,
            errors=totals.errors,
            payload_bytes=totals.payload_bytes,
            span_ns=totals.span_ns,
            first_error=totals.first_error,
            not_started=totals.not_started,
        )
        return LoadOutcome(
            operations, (transfer(self.process.node, totals.payload_bytes, totals.span_ns),), facts
        )
