"""iperf3 between two nodes: parameters, command line, metrics."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from crosswind.app.base import Load, LoadOutcome, Stage
from crosswind.app.client_server import (
    ClientServer,
    OutputError,
    ToolLoad,
    check_length,
    whole_seconds,
)
from crosswind.app.iperf3.report import Iperf3Report, error_of, parse_report
from crosswind.app.load import NS_PER_S, await_listening
from crosswind.app.requirements.iperf3 import IPERF3
from crosswind.app.streams import FAIRNESS, GOODPUT, goodput_metrics
from crosswind.app.written import Facts
from crosswind.results.rows import Metric
from crosswind.spec.base import SpecModel
from crosswind.spec.declared import Figure
from crosswind.spec.quantities import Duration, PositiveDuration, Rate, Size
from crosswind.testbed.fabric import Process

PORT = 5201


class Iperf3Parameters(SpecModel):
    """The streams: their number, kind, rate and length."""

    streams: Annotated[int, Field(ge=1, le=128)] = Field(
        1, description="Parallel streams, 1 to 128; 1 when absent."
    )
    protocol: Literal["tcp", "udp"] = Field("tcp", description="tcp when absent.")
    sender: Literal["client", "server"] = Field("client", description="The sender; client when absent.")
    rate_bps: Rate = Field(
        None,
        alias="rate",
        description="Payload rate of each stream; required for UDP, unlimited for TCP when absent.",
    )
    write_bytes: Size | None = Field(
        None,
        alias="write",
        le=1 << 20,
        description="Size of a write, for UDP of a packet's payload; iperf3's own when absent: 128KiB for "
        "TCP, what fits into a packet for UDP.",
    )
    congestion_control: str | None = Field(
        None, pattern="^[a-z0-9_]+$", description="Of the sender; the topology's when absent."
    )
    duration_ns: PositiveDuration = Field(
        alias="duration", description="Length of the measured phase, in whole seconds."
    )
    warm_up_ns: Duration = Field(
        NS_PER_S, alias="warm_up", description="Before the measured phase, in whole seconds; 1s when absent."
    )

    @model_validator(mode="after")
    def _is_possible(self) -> "Iperf3Parameters":
        whole_seconds("iperf3", duration=self.duration_ns, warm_up=self.warm_up_ns)
        if self.protocol == "udp" and "rate_bps" not in self.model_fields_set:
            raise ValueError(
                "has UDP without a rate, which iperf3 reads as 1 Mbit/s; write rate: 100Mbit/s, or rate: "
                "unlimited"
            )
        if self.protocol == "udp" and self.warm_up_ns:
            raise ValueError(
                "has UDP with a warm_up, but iperf3 counts its losses as measured; write warm_up: 0s"
            )
        if self.protocol == "udp" and self.congestion_control is not None:
            raise ValueError(
                "has congestion_control, which UDP does not have; leave it out, or write protocol: tcp"
            )
        if self.protocol == "udp" and (self.write_bytes or 0) > 65_507:
            raise ValueError(
                f"has write {self.write_bytes}B, but a UDP packet holds at most 65507B; write less"
            )
        return self


class Iperf3Facts(Facts):
    """The facts of a trial.

    Attributes:
        report: of the client, as it printed it.
    """

    report: str


class Iperf3(ClientServer):
    """`iperf3 -s` on the node `server`, `iperf3 -c` on the node `client`."""

    name = "iperf3"
    tool = IPERF3
    requirements = (tool,)
    summary = "parallel streams of TCP or UDP between two nodes (iperf3)"
    Parameters = Iperf3Parameters
    set_up_s = 1.0
    parameters: Iperf3Parameters

    def figures(self) -> tuple[Figure, ...]:
        if self.parameters.protocol == "udp":
            return (GOODPUT, Figure("lost", "share", "1", "lost", "lower"), FAIRNESS)
        retransmits = Figure("retransmits", "count", "count", "retransmits", "lower")
        if self.parameters.sender == "server":
            # iperf3 does not report the round trips of the server.
            return (GOODPUT, retransmits, FAIRNESS)
        return (GOODPUT, retransmits, Figure("rtt", "mean", "ns", "round trip", "lower"), FAIRNESS)

    def start(self, stage: Stage) -> None:
        address = stage.fabric.nodes["server"].address
        arguments = ["-s", "--forceflush", "-B", address, "-p", PORT]
        await_listening(self._serve(stage, "iperf3-server", arguments))

    def load(self, stage: Stage) -> Load:
        asked, program = self.parameters, self.program()
        command = [
            program.path,
            *("-c", stage.fabric.nodes["server"].address, "-p", PORT, "--json"),
            *("-t", asked.duration_ns // NS_PER_S),
            *("-O", asked.warm_up_ns // NS_PER_S),
            *("-P", asked.streams),
            *(("-u",) if asked.protocol == "udp" else ()),
            *(("-R",) if asked.sender == "server" else ()),
            # For iperf3 a rate of 0 means no limit, and UDP without a rate means 1 Mbit/s.
            *("-b", asked.rate_bps or 0),
            *(("-l", asked.write_bytes) if asked.write_bytes is not None else ()),
            *(("-C", asked.congestion_control) if asked.congestion_control is not None else ()),
        ]
        process = stage.fabric.start("client", "iperf3", command, cwd=stage.folder, env=program.env)
        return _Iperf3Load(process, asked)


class _Iperf3Load(ToolLoad):
    def __init__(self, process: Process, asked: Iperf3Parameters) -> None:
        super().__init__(process, warm_up_ns=asked.warm_up_ns, duration_ns=asked.duration_ns)
        self._asked = asked

    def outcome(self) -> LoadOutcome:
        printed = self._printed()
        report = parse_report(printed)
        check_length("iperf3", report.seconds, self._asked.duration_ns / NS_PER_S)
        if report.received_bytes == 0:
            raise OutputError("iperf3: not one byte arrived in the measured phase; is the path cut?")
        facts = Iperf3Facts(tool="iperf3", parameters=self._asked.model_dump(mode="json"), report=printed)
        return LoadOutcome(None, tuple(_metrics(report, self._asked)), facts)

    def first_error(self) -> str | None:
        return error_of(self._printed())


def _metrics(report: Iperf3Report, asked: Iperf3Parameters) -> list[Metric]:
    receiver = "server" if asked.sender == "client" else "client"
    metrics = goodput_metrics(
        receiver, report.received_bps, [stream.received_bps for stream in report.streams]
    )
    metrics += [
        Metric("client", "cpu", "1", "mean", report.client_cpu),
        Metric("server", "cpu", "1", "mean", report.server_cpu),
    ]
    retransmits = [stream.retransmits for stream in report.streams if stream.retransmits is not None]
    if retransmits:
        metrics.append(Metric(asked.sender, "retransmits", "count", "count", sum(retransmits)))
    rtts = [stream.rtt_us for stream in report.streams if stream.rtt_us is not None]
    if rtts:
        means, least, greatest = zip(*rtts, strict=True)
        metrics += [
            Metric(asked.sender, "rtt", "ns", "mean", 1e3 * sum(means) / len(means)),
            Metric(asked.sender, "rtt", "ns", "min", 1e3 * min(least)),
            Metric(asked.sender, "rtt", "ns", "max", 1e3 * max(greatest)),
        ]
    lost = [stream.lost_share for stream in report.streams if stream.lost_share is not None]
    jitter = [stream.jitter_ms for stream in report.streams if stream.jitter_ms is not None]
    if lost and jitter:
        # All streams have the same rate, so the mean of their shares is the share of all.
        metrics += [
            Metric(receiver, "lost", "1", "share", sum(lost) / len(lost)),
            Metric(receiver, "jitter", "ns", "mean", 1e6 * sum(jitter) / len(jitter)),
        ]
    return metrics
