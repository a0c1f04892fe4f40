"""nuttcp between two nodes: parameters, command lines, metrics.

Every transfer has a process of its own at either end, as in the study that used nuttcp (Venzano and
Michiardi, EURECOM RR-13-287): with parallel streams in one process nuttcp tells their sum only. A server of
nuttcp 6 takes one transfer at a time, so each has its own port.
"""

import re
from typing import Annotated, Literal

from pydantic import Field, model_validator

from crosswind.app.base import Load, Outcome, Stage
from crosswind.app.client_server import (
    ClientServer,
    OutputError,
    PrintedFacts,
    ToolLoad,
    whole_seconds,
)
from crosswind.app.load import NS_PER_S, READY_S
from crosswind.app.nuttcp.output import Transfer, parse_transfer
from crosswind.app.requirements import DebianPackages
from crosswind.app.streams import FAIRNESS, GOODPUT, goodput_metrics
from crosswind.results.rows import Metric
from crosswind.spec.base import SpecModel
from crosswind.spec.declared import Figure
from crosswind.spec.quantities import PositiveDuration, Rate, Size
from crosswind.testbed.fabric import Process

CONTROL_PORT = 7000
# Away from the control ports: a server of nuttcp 6 refuses to listen where data might go.
DATA_PORT = 8000
BPS_STEP = 1000
# Starts all, waits for all, prints all. What they print is kept apart until the end, so that no line of one
# breaks into a line of another.
_ALL_CLIENTS = """
server=$1; shift
number=0; pids=; status=0
while [ $number -lt "$0" ]; do
    "$@" -P $((%d + number)) -p $((%d + number)) "$server" \\
        >stream-$number.out 2>stream-$number.err &
    pids="$pids $!"; number=$((number + 1))
done
for pid in $pids; do wait $pid || status=$?; done
number=0
while [ $number -lt "$0" ]; do
    echo "stream $number"; cat stream-$number.out; cat stream-$number.err >&2
    number=$((number + 1))
done
exit $status
"""


def all_clients(control_port: int, data_port: int) -> str:
    """Return a shell script that runs clients side by side, each with ports of its own from these on.

    Its $0 is how many, $1 the address of the servers, and the rest the command.
    """
    return _ALL_CLIENTS % (control_port, data_port)


class NuttcpParameters(SpecModel):
    """How many transfers of what kind, how fast and for how long."""

    streams: Annotated[int, Field(ge=1, le=128)] = Field(
        1, description="Parallel transfers, 1 to 128; 1 when absent."
    )
    protocol: Literal["tcp", "udp"] = Field("tcp", description="tcp when absent.")
    sender: Literal["client", "server"] = Field("client", description="Who sends; client when absent.")
    rate_bps: Rate = Field(
        None,
        alias="rate",
        description="Payload of each transfer, in whole kbit/s; unlimited when absent. nuttcp 6 keeps it by"
        " spinning.",
    )
    write_bytes: Size | None = Field(
        None,
        alias="write",
        ge=32,
        le=1 << 20,
        description="Size of a write, for UDP of a packet's payload; when absent nuttcp's own: 64KiB and "
        "8KiB.",
    )
    duration_ns: PositiveDuration = Field(
        alias="duration", description="How long each sends, in whole seconds; there is no warm-up."
    )

    @model_validator(mode="after")
    def _is_possible(self) -> "NuttcpParameters":
        whole_seconds("nuttcp", duration=self.duration_ns)
        if self.rate_bps is not None and self.rate_bps % BPS_STEP:
            raise ValueError(
                f"has rate {self.rate_bps}bit/s, and nuttcp counts in kbit/s; "
                f"write rate: {self.rate_bps // BPS_STEP + 1}kbit/s"
            )
        if self.protocol == "udp" and (self.write_bytes or 0) > 65_507:
            raise ValueError(f"has write {self.write_bytes}B, and a UDP packet holds 65507B at most")
        return self


class Nuttcp(ClientServer):
    """Servers of nuttcp on the node `server`, as many clients on the node `client`."""

    name = "nuttcp"
    tool = DebianPackages("nuttcp", packages=("nuttcp",), programs=("nuttcp",))
    requirements = (tool,)
    summary = "parallel transfers of TCP or UDP, each in a process of its own (nuttcp)"
    Parameters = NuttcpParameters
    parameters: NuttcpParameters

    def figures(self) -> tuple[Figure, ...]:
        if self.parameters.protocol == "udp":
            return (GOODPUT, Figure("lost", "share", "1", "lost", "lower"), FAIRNESS)
        # nuttcp says 0 whatever happens (output.py), so this is the emulator's count.
        return (
            GOODPUT,
            Figure("retransmissions", "count", "count", "retransmits", "lower"),
            FAIRNESS,
        )

    def start(self, stage: Stage) -> None:
        numbers = range(self.parameters.streams)
        servers = [
            self._serve(stage, f"nuttcp-server-{number}", ["-S", "--nofork", "-P", CONTROL_PORT + number])
            for number in numbers
        ]
        program, address = self.program(), stage.fabric.nodes["server"].address
        for number, server in zip(numbers, servers, strict=True):
            # One buffer: it listens when a transfer succeeds, and it says so in no other way.
            ports = ["-P", CONTROL_PORT + number, "-p", DATA_PORT + number]
            stage.fabric.probe(
                "client",
                f"nuttcp-probe-{number}",
                [program.path, "-n1", "-l64", *ports, address],
                cwd=stage.folder,
                timeout_s=READY_S,
                alive=[server],
                env=program.env,
            )

    def load(self, stage: Stage) -> Load:
        asked, program = self.parameters, self.program()
        command = [
            *(
                "/bin/sh",
                "-c",
                all_clients(CONTROL_PORT, DATA_PORT),
                asked.streams,
                stage.fabric.nodes["server"].address,
            ),
            *(program.path, "-r" if asked.sender == "server" else "-t", "-fparse"),
            f"-T{asked.duration_ns // NS_PER_S}",
            *(("-u",) if asked.protocol == "udp" else ()),
            *((f"-R{asked.rate_bps // BPS_STEP}",) if asked.rate_bps is not None else ()),
            *((f"-l{asked.write_bytes}",) if asked.write_bytes is not None else ()),
        ]
        process = stage.fabric.start("client", "nuttcp", command, cwd=stage.folder, env=program.env)
        return _NuttcpLoad(process, asked)


class _NuttcpLoad(ToolLoad):
    def __init__(self, process: Process, asked: NuttcpParameters) -> None:
        super().__init__(process, warm_up_ns=0, duration_ns=asked.duration_ns)
        self._asked = asked

    def outcome(self) -> Outcome:
        printed = self._printed()
        transfers = parse_all(printed, self._asked.streams, self._asked.duration_ns // NS_PER_S)
        if not any(transfer.received_bytes for transfer in transfers):
            raise OutputError("nuttcp: not one byte arrived; is the path cut?")
        metrics = _metrics(transfers, self._asked)
        facts = PrintedFacts(tool="nuttcp", parameters=self._asked.model_dump(mode="json"), printed=printed)
        return Outcome(None, tuple(metrics), facts)


def parse_all(printed: str, streams: int, asked_s: int) -> list[Transfer]:
    """Read what all clients printed, each behind a line `stream N`.

    Args:
        asked_s: how long each was to send, s.
    Raises: OutputError: one of them has no result, or ended too early; the text says which.
    """
    said = by_stream(printed)
    transfers = []
    for number in range(streams):
        try:
            transfer = parse_transfer(said.get(number, ""))
        except OutputError as error:
            raise OutputError(f"stream {number}: {error}") from error
        # A transfer may take much longer, until what is in its buffers has arrived, but never less.
        if transfer.seconds < 0.9 * asked_s:
            raise OutputError(f"stream {number}: nuttcp: ended after {transfer.seconds:.3g} s of {asked_s} s")
        transfers.append(transfer)
    return transfers


def by_stream(printed: str) -> dict[int, str]:
    """Return what each client printed, of what all did."""
    parts = re.split(r"^stream (\d+)\n", printed, flags=re.MULTILINE)[1:]
    return {int(number): text for number, text in zip(parts[::2], parts[1::2], strict=True)}


def _metrics(transfers: list[Transfer], asked: NuttcpParameters) -> list[Metric]:
    receiver = "server" if asked.sender == "client" else "client"
    rates_bps = [transfer.received_bps for transfer in transfers]
    # All began together, within what starting the processes takes. Over the time of the longest their bytes
    # are a rate that the line can carry; the sum of their own rates need not be (README.md).
    longest_s = max(transfer.seconds for transfer in transfers)
    total_bps = sum(transfer.received_bytes for transfer in transfers) * 8 / longest_s
    metrics = goodput_metrics(receiver, total_bps, rates_bps)
    metrics += [
        Metric(asked.sender, "cpu", "1", "mean", sum(transfer.sender_cpu for transfer in transfers)),
        Metric(receiver, "cpu", "1", "mean", sum(transfer.receiver_cpu for transfer in transfers)),
    ]
    for number, transfer in enumerate(transfers):
        metrics += [
            Metric(asked.sender, f"cpu.{number}", "1", "mean", transfer.sender_cpu),
            Metric(receiver, f"cpu.{number}", "1", "mean", transfer.receiver_cpu),
        ]
    rtts = [transfer.rtt_ms for transfer in transfers if transfer.rtt_ms is not None]
    if rtts:
        metrics.append(Metric(asked.sender, "rtt", "ns", "mean", 1e6 * sum(rtts) / len(rtts)))
    lost = [transfer.lost_share for transfer in transfers if transfer.lost_share is not None]
    if lost:
        metrics.append(Metric(receiver, "lost", "1", "share", sum(lost) / len(lost)))
    return metrics
