"""nuttcp between two nodes: parameters, command lines, metrics.

Every transfer has a separate process at each end, as in the study that used nuttcp (Venzano and Michiardi,
EURECOM RR-13-287): for parallel streams in one process, nuttcp reports only their sum. A server of nuttcp 6
accepts one transfer at a time, so each transfer has its own port.
"""

import re
from typing import Annotated, Literal

from pydantic import Field, model_validator

from crosswind.app.base import Load, LoadOutcome, Stage
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
# Not near the control ports: a server of nuttcp 6 refuses to listen on a port that data may use.
DATA_PORT = 8000
BPS_STEP = 1000
# Starts all clients, waits for all, then prints all outputs, which are in separate files until then: so lines
# of one client do not interrupt those of another.
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
    """Return a shell script that runs clients in parallel, each with its own ports, from these upwards.

    $0 is the number of clients, $1 the address of the servers, and the rest is the command.
    """
    return _ALL_CLIENTS % (control_port, data_port)


class NuttcpParameters(SpecModel):
    """The transfers: their number, kind, rate and length."""

    streams: Annotated[int, Field(ge=1, le=128)] = Field(
        1, description="Parallel transfers, 1 to 128; 1 when absent."
    )
    protocol: Literal["tcp", "udp"] = Field("tcp", description="tcp when absent.")
    sender: Literal["client", "server"] = Field("client", description="The sender; client when absent.")
    rate_bps: Rate = Field(
        None,
        alias="rate",
        description="Payload rate of each transfer, in whole kbit/s; unlimited when absent. nuttcp 6 uses a "
        "busy loop to pace it.",
    )
    write_bytes: Size | None = Field(
        None,
        alias="write",
        ge=32,
        le=1 << 20,
        description="Size of a write, for UDP of a packet's payload; nuttcp's default when absent: 64KiB for "
        "TCP, 8KiB for UDP.",
    )
    duration_ns: PositiveDuration = Field(
        alias="duration", description="Length of each transfer, in whole seconds; there is no warm-up."
    )

    @model_validator(mode="after")
    def _is_possible(self) -> "NuttcpParameters":
        whole_seconds("nuttcp", duration=self.duration_ns)
        if self.rate_bps is not None and self.rate_bps % BPS_STEP:
            raise ValueError(
                f"has rate {self.rate_bps}bit/s, but nuttcp counts in kbit/s; "
                f"write rate: {self.rate_bps // BPS_STEP + 1}kbit/s"
            )
        if self.protocol == "udp" and (self.write_bytes or 0) > 65_507:
            raise ValueError(
                f"has write {self.write_bytes}B, but a UDP packet holds at most 65507B; write less"
            )
        return self


class Nuttcp(ClientServer):
    """Servers of nuttcp on the node `server`, and as many clients on the node `client`."""

    name = "nuttcp"
    tool = DebianPackages("nuttcp", packages=("nuttcp",), programs=("nuttcp",))
    requirements = (tool,)
    summary = "parallel transfers of TCP or UDP, each in a process of its own (nuttcp)"
    Parameters = NuttcpParameters
    set_up_s = 1.0
    parameters: NuttcpParameters

    def figures(self) -> tuple[Figure, ...]:
        if self.parameters.protocol == "udp":
            return (GOODPUT, Figure("lost", "share", "1", "lost", "lower"), FAIRNESS)
        # nuttcp always reports 0 (output.py), so this is the count of the emulator.
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
            # A transfer of one buffer shows that the server listens; nothing else does.
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

    def outcome(self) -> LoadOutcome:
        printed = self._printed()
        transfers = parse_all(printed, self._asked.streams, self._asked.duration_ns // NS_PER_S)
        if not any(transfer.received_bytes for transfer in transfers):
            raise OutputError("nuttcp: not one byte arrived; is the path cut?")
        metrics = _metrics(transfers, self._asked)
        facts = PrintedFacts(tool="nuttcp", parameters=self._asked.model_dump(mode="json"), printed=printed)
        return LoadOutcome(None, tuple(metrics), facts)


def parse_all(printed: str, streams: int, asked_s: int) -> list[Transfer]:
    """Read the output of all clients, each after a line `stream N`.

    Args:
        asked_s: requested length of each transfer, s.
    Raises: OutputError: a client has no result, or ended too early; the message names it.
    """
    said = by_stream(printed)
    transfers = []
    for number in range(streams):
        try:
            transfer = parse_transfer(said.get(number, ""))
        except OutputError as error:
            raise OutputError(f"stream {number}: {error}") from error
        # A transfer may take much longer, until its buffers are empty, but never less.
        if transfer.seconds < 0.9 * asked_s:
            raise OutputError(f"stream {number}: nuttcp: ended after {transfer.seconds:.3g} s of {asked_s} s")
        transfers.append(transfer)
    return transfers


def by_stream(printed: str) -> dict[int, str]:
    """Return the output of each client from that of all."""
    parts = re.split(r"^stream (\d+)\n", printed, flags=re.MULTILINE)[1:]
    return {int(number): text for number, text in zip(parts[::2], parts[1::2], strict=True)}


def _metrics(transfers: list[Transfer], asked: NuttcpParameters) -> list[Metric]:
    receiver = "server" if asked.sender == "client" else "client"
    rates_bps = [transfer.received_bps for transfer in transfers]
    # All begin together, except for the time to start the processes. Their bytes, divided by the time of the
    # longest, are a rate that the link can carry; the sum of their own rates may be higher (README.md).
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
