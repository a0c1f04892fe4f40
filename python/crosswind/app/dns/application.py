"""nsd and dnsperf as an application."""

from collections.abc import Collection
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import Field, field_validator, model_validator

from crosswind.app.base import Application, Load, LoadOutcome, Stage
from crosswind.app.dns import dnsperf, nsd
from crosswind.app.load import NS_PER_S, TAIL_S, WINDOW_LEAD_S, await_listening
from crosswind.app.server import stop_servers
from crosswind.app.written import Facts
from crosswind.results.rows import Metric
from crosswind.spec.base import SpecModel
from crosswind.spec.declared import FaultNodes, Figure
from crosswind.spec.quantities import Duration, OperationRate, PositiveDuration, Size
from crosswind.testbed.errors import TestbedError
from crosswind.testbed.fabric import Process

SERVER, CLIENT = "server", "client"
# Of answers; a larger share means that the queries are not for the zone of the server.
REFUSED_SHARE_MAX = 0.01
# The room in an answer besides its header, its question and the lengths of its strings.
UDP_TEXT_BYTES_MAX = nsd.EDNS_BYTES - 132
TCP_TEXT_BYTES_MAX = 60_000
_QUANTILES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p999": 0.999, "max": 1.0}


class DnsParameters(SpecModel):
    """The zone, and the queries: their number of clients, their rate and for how long they are sent."""

    protocol: Literal["udp", "tcp"] = Field("udp", description="How queries travel; udp when absent.")
    names: Annotated[int, Field(ge=1, le=10_000_000)] = Field(
        10_000, description="Names in the zone, queried with equal probability; 10000 when absent."
    )
    text_bytes: Size | None = Field(
        None,
        alias="text",
        description="Size of the text that is the answer for every name; an address when absent.",
    )
    processes: Annotated[int, Field(ge=1, le=64)] = Field(
        1, description="Server processes that answer queries; 1 when absent."
    )
    clients: Annotated[int, Field(ge=1, le=1000)] = Field(
        4, description="Sockets or connections of the client; 4 when absent."
    )
    outstanding: Annotated[int, Field(ge=1, le=dnsperf.OUTSTANDING_MAX)] | None = Field(
        None,
        description="Largest number of queries that wait for an answer at any time, over all clients. When "
        "absent: 100 without a `rate`; with one, the number of queries sent within `timeout`.",
    )
    timeout_ns: PositiveDuration = Field(
        1_000_000_000,
        alias="timeout",
        description="A query without an answer after this time is lost; at most `duration`, 1s when absent.",
    )
    rate: OperationRate | None = Field(
        None, description="Queries per second of all clients; as fast as `outstanding` allows when absent."
    )
    duration_ns: PositiveDuration = Field(
        alias="duration", description="Length of the measured phase, at least 1s."
    )
    warm_up_ns: Duration = Field(
        1_000_000_000,
        alias="warm_up",
        description="Before the measured phase, rounded up to tenths of a second; 1s when absent.",
    )

    @property
    def outstanding_max(self) -> int:
        """The largest number of queries that wait for an answer."""
        if self.outstanding is not None:
            return self.outstanding
        return 100 if self.rate is None else dnsperf.room_for(self.rate, self.timeout_ns)

    @field_validator("rate")
    @classmethod
    def _is_whole(cls, value: float | None) -> float | None:
        if value is not None and value != round(value):
            raise ValueError(f"is {value:g} queries per second; dnsperf needs a whole number, so round it")
        return value

    @field_validator("duration_ns")
    @classmethod
    def _is_ten_intervals(cls, value: int) -> int:
        if value < NS_PER_S:
            raise ValueError(
                "is shorter than 1s; dnsperf reports in steps of 100ms, so write at least ten of them"
            )
        return value

    @model_validator(mode="after")
    def _losses_are_told_apart(self) -> "DnsParameters":
        if self.timeout_ns > self.duration_ns:
            raise ValueError(
                "has a `timeout` longer than its `duration`, so queries lost in the warm-up could not be "
                "distinguished from those lost in the measured phase; write a shorter `timeout`"
            )
        return self

    @model_validator(mode="after")
    def _answers_fit(self) -> "DnsParameters":
        largest = UDP_TEXT_BYTES_MAX if self.protocol == "udp" else TCP_TEXT_BYTES_MAX
        if self.text_bytes is not None and self.text_bytes > largest:
            remedy = "a smaller one, or `protocol: tcp`" if self.protocol == "udp" else "a smaller one"
            raise ValueError(
                f"has a text of {self.text_bytes}B, but {self.protocol} carries {largest}B in one answer; "
                f"write {remedy}"
            )
        return self


class DnsFacts(Facts):
    """The facts of a trial.

    Attributes:
        span_s: from the end of the warm-up to the last whole interval.
        refusals: answers with a code other than NOERROR, by code.
    """

    span_s: float
    refusals: dict[str, int]


class Dns(Application):
    """`nsd` on the node `server`, `dnsperf` on the node `client`."""

    name = "dns"
    summary = "a name server queried over UDP or TCP"
    Parameters = DnsParameters
    set_up_s = 1.0
    requirements = (nsd.NSD, dnsperf.DNSPERF)
    parameters: DnsParameters
    _server: Process

    ROLES: ClassVar[tuple[str, ...]] = (SERVER, CLIENT)

    def figures(self) -> tuple[Figure, ...]:
        return (
            Figure("latency", "p99", "ns", "P99", "lower"),
            Figure("latency", "p50", "ns", "P50", "lower"),
            Figure("throughput", "mean", "1/s", "throughput", "higher"),
            Figure("lost", "share", "1", "lost", "lower"),
        )

    @classmethod
    def roles_missing(cls, nodes: Collection[str]) -> list[str]:
        return [role for role in cls.ROLES if role not in nodes]

    @classmethod
    def faults_on(cls, parameters: DnsParameters, nodes: Collection[str]) -> FaultNodes:
        # Over TCP dnsperf connects again before it sends, and then sends all that was due at once: a server
        # that was down for 1 s of 3 s lost 0.5 % of its queries, and 34 % over UDP.
        restartable = {SERVER} if parameters.protocol == "udp" else frozenset[str]()
        return FaultNodes(frozenset(restartable), frozenset({CLIENT}))

    def start(self, stage: Stage) -> None:
        asked, address = self.parameters, stage.fabric.nodes[SERVER].address
        self._configuration(stage).write_text(
            nsd.configuration(address, stage.folder, processes=asked.processes, connections=asked.clients)
        )
        (stage.folder / "zone").write_text(nsd.zone(address, asked.names, asked.text_bytes))
        record = "A" if asked.text_bytes is None else "TXT"
        (stage.folder / "queries").write_text(nsd.queries(asked.names, record, stage.seed))
        self._server = self._serve(stage)
        await_listening(self._server, nsd.READY)

    def load(self, stage: Stage) -> Load:
        asked, program = self.parameters, dnsperf.DNSPERF.program("dnsperf")
        command = dnsperf.command(
            program.path,
            server=stage.fabric.nodes[SERVER].address,
            port=nsd.PORT,
            protocol=asked.protocol,
            queries=stage.folder / "queries",
            clients=asked.clients,
            outstanding=asked.outstanding_max,
            rate=asked.rate,
            length_ns=asked.warm_up_ns + asked.duration_ns,
            timeout_ns=asked.timeout_ns,
        )
        process = stage.fabric.start(
            CLIENT, "dnsperf", command, cwd=stage.folder, env=program.env, whole_output=True
        )
        return DnsperfLoad(process, asked)

    def restart(self, stage: Stage, node: str) -> None:
        self._server = self._serve(stage)

    def stop(self, stage: Stage) -> None:
        stop_servers(stage, [self._server])

    def _configuration(self, stage: Stage) -> Path:
        return stage.folder / "nsd.conf"

    def _serve(self, stage: Stage) -> Process:
        program = nsd.NSD.program("nsd")
        command = [program.path, "-d", "-c", self._configuration(stage)]
        return stage.fabric.start(SERVER, "nsd", command, cwd=stage.folder, env=program.env)


class DnsperfLoad(Load):
    """A dnsperf that reports the fate of every query."""

    def __init__(self, process: Process, asked: DnsParameters) -> None:
        self.process = process
        self.longest_s = (asked.warm_up_ns + asked.duration_ns + asked.timeout_ns) / NS_PER_S + TAIL_S
        self._asked = asked

    def await_measured_phase(self) -> None:
        self.process.wait(max(0.0, self._asked.warm_up_ns / NS_PER_S - WINDOW_LEAD_S))

    def outcome(self) -> LoadOutcome:
        with self.process.whole_output().open(errors="replace") as lines:
            measured = dnsperf.read(lines, self._asked.warm_up_ns, self._asked.timeout_ns)
        answers = measured.queries - measured.lost
        if measured.refusals.total() > REFUSED_SHARE_MAX * answers:
            raise TestbedError(
                f"{self.process}: {dnsperf.refusals_text(measured)} among {answers} answers, more than the "
                f"share of {REFUSED_SHARE_MAX:g}, although every queried name is in the zone; see its log"
            )
        facts = DnsFacts(
            tool="dnsperf",
            parameters=self._asked.model_dump(mode="json"),
            span_s=measured.span_s,
            refusals=dict(measured.refusals),
        )
        return LoadOutcome(None, tuple(self._metrics(measured)), facts)

    def _metrics(self, measured: dnsperf.MeasuredQueries) -> list[Metric]:
        node = self.process.node
        mean_ns = sum(measured.latencies_ns) / len(measured.latencies_ns)
        latencies = {name: measured.quantile_ns(share) for name, share in _QUANTILES.items()}
        return [
            Metric(node, "operations", "count", "count", len(measured.latencies_ns)),
            Metric(node, "errors", "count", "count", measured.refusals.total()),
            Metric(node, "throughput", "1/s", "mean", measured.in_span / measured.span_s),
            Metric(node, "lost", "count", "count", measured.lost),
            Metric(node, "lost", "1", "share", measured.lost / measured.queries),
            *(Metric(node, "latency", "ns", name, value) for name, value in latencies.items()),
            Metric(node, "latency", "ns", "mean", mean_ns),
        ]
