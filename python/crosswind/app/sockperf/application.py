"""sockperf between two nodes: parameters, command line, operations."""

import math
from pathlib import Path
from typing import Literal

from pydantic import Field, model_validator

from crosswind.app.base import Load, LoadOutcome, Stage
from crosswind.app.client_server import ClientServer, OutputError, PrintedFacts, ToolLoad
from crosswind.app.load import NS_PER_S, WINDOW_LEAD_S, await_listening
from crosswind.app.requirements import DebianPackages
from crosswind.app.sockperf.log import RoundTrip, complaint_of, parse_log, parse_summary
from crosswind.results.rows import Metric
from crosswind.spec.base import SpecModel
from crosswind.spec.declared import Figure
from crosswind.spec.quantities import Duration, OperationRate, PositiveDuration, Size
from crosswind.testbed.fabric import Process

PORT = 11111
# sockperf does not log its first messages and (rounded up) its last ones.
LEFT_OUT_FIRST_NS = 400_000_000
LEFT_OUT_LAST_NS = 100_000_000
# It calibrates its clock for about 2 s before it starts, longer on a busy machine.
CALIBRATION_S = 15.0
# In a closed loop the round trip sets the pace. sockperf allocates memory for every message that it may send:
# by default 600 000 per second, which is 2 GB per minute. A round trip between nodes takes far more than
# 10 us.
CLOSED_LOOP_PER_S = 100_000
LOG = "messages.csv"


class SockperfParameters(SpecModel):
    """The messages: their size, rate and for how long they are sent."""

    protocol: Literal["tcp", "udp"] = Field("udp", description="udp when absent.")
    message_bytes: Size = Field(
        64,
        alias="message",
        ge=14,
        le=65_000,
        description="Size of a message and of its answer; 64B when absent.",
    )
    rate: OperationRate | None = Field(
        None,
        description="Messages per second, sent without waiting for answers (under-load); when absent, each "
        "message waits for the answer to the one before it (ping-pong).",
    )
    duration_ns: PositiveDuration = Field(alias="duration", description="Length of the measured phase.")
    warm_up_ns: Duration = Field(
        NS_PER_S, alias="warm_up", description="Before the measured phase, at least 400ms; 1s when absent."
    )

    @model_validator(mode="after")
    def _is_possible(self) -> "SockperfParameters":
        if self.warm_up_ns < LEFT_OUT_FIRST_NS:
            raise ValueError("has a warm_up shorter than sockperf's own; write warm_up: 400ms")
        return self


class Sockperf(ClientServer):
    """`sockperf server` on the node `server`, `under-load` or `ping-pong` on the node `client`."""

    name = "sockperf"
    tool = DebianPackages("sockperf", packages=("sockperf",), programs=("sockperf",))
    requirements = (tool,)
    summary = "round trips of single messages over UDP or TCP, all recorded (sockperf)"
    Parameters = SockperfParameters
    # Two seconds are for sockperf's calibration of its clock.
    set_up_s = 4.0
    parameters: SockperfParameters

    def figures(self) -> tuple[Figure, ...]:
        figures = [
            Figure("latency", "p99", "ns", "round trip P99", "lower"),
            Figure("latency", "p50", "ns", "round trip P50", "lower"),
        ]
        if self.parameters.rate is None:
            return (*figures, Figure("throughput", "mean", "1/s", "round trips", "higher"))
        return (*figures, Figure("lost", "share", "1", "unanswered", "lower"))

    def start(self, stage: Stage) -> None:
        address = stage.fabric.nodes["server"].address
        server = self._serve(stage, "sockperf-server", ["server", *self._where(address)])
        await_listening(server, "to block on socket")

    def load(self, stage: Stage) -> Load:
        asked, program = self.parameters, self.program()
        command = [
            program.path,
            *(("ping-pong",) if asked.rate is None else ("under-load", "--reply-every", 1)),
            *self._where(stage.fabric.nodes["server"].address),
            *("--msg-size", asked.message_bytes),
            *("--mps", CLOSED_LOOP_PER_S if asked.rate is None else round(asked.rate)),
            *("--time", math.ceil((asked.warm_up_ns + asked.duration_ns + LEFT_OUT_LAST_NS) / NS_PER_S)),
            *("--full-log", stage.folder / LOG),
        ]
        # On the clock of the client's machine, as the instants of other loads.
        began_ns = stage.fabric.clock_of("client").there(stage.fabric.now_ns())
        process = stage.fabric.start("client", "sockperf", command, cwd=stage.folder, env=program.env)
        return _SockperfLoad(process, asked, stage.folder, began_ns)

    def _where(self, address: str) -> list[object]:
        return ["-i", address, "-p", PORT, *(["--tcp"] if self.parameters.protocol == "tcp" else [])]


class _SockperfLoad(ToolLoad):
    def __init__(self, process: Process, asked: SockperfParameters, folder: Path, began_ns: int) -> None:
        super().__init__(process, warm_up_ns=asked.warm_up_ns, duration_ns=asked.duration_ns)
        self.longest_s += CALIBRATION_S
        self._asked = asked
        self._folder = folder
        self._began_ns = began_ns

    def await_measured_phase(self) -> None:
        deadline = self.process.now_s() + CALIBRATION_S
        while "Starting test" not in self._printed() and self.process.now_s() < deadline:
            if self.process.wait(0.01) is not None:
                return
        self.process.wait(max(0.0, self._warm_up_s - WINDOW_LEAD_S))

    def outcome(self) -> LoadOutcome:
        printed = self._printed()
        summary = parse_summary(printed)
        with self.process.wrote(self._folder / LOG).open(errors="replace") as lines:
            round_trips = parse_log(lines)
        if not round_trips:
            raise OutputError(
                "sockperf: not one message was answered in the measured phase; is the path cut?"
            )
        operations = self._folder / "samples.csv"
        write_operations(round_trips, self._began_ns, self._asked, operations)
        metrics = [
            Metric("client", "lost", "1", "share", summary.dropped / summary.sent),
            Metric("client", "duplicated", "count", "count", summary.duplicated),
            Metric("client", "out-of-order", "count", "count", summary.out_of_order),
        ]
        facts = PrintedFacts(tool="sockperf", parameters=self._asked.model_dump(mode="json"), printed=printed)
        return LoadOutcome(operations, tuple(metrics), facts)

    def first_error(self) -> str | None:
        return complaint_of(self._printed())


def write_operations(
    round_trips: list[RoundTrip], began_ns: int, asked: SockperfParameters, path: Path
) -> None:
    """Write the round trips as a file of operations (docs/reference/contracts.md, section 4).

    Args:
        began_ns: instant from which sockperf counts: the start of its process, within a few ms. Latencies
            are differences, which are exact.
    """
    # The first logged message was sent when sockperf's own warm-up was over.
    start_ns = min(round_trip.sent_ns for round_trip in round_trips) - LEFT_OUT_FIRST_NS + asked.warm_up_ns
    end_ns = start_ns + asked.duration_ns
    with path.open("w") as file:
        file.write("operation,connection,intended_ns,started_ns,finished_ns,ok,measured\n")
        for sent_ns, received_ns in round_trips:
            started_ns, finished_ns = began_ns + sent_ns, began_ns + received_ns
            measured = int(start_ns <= sent_ns < end_ns)
            file.write(f"message,0,{started_ns},{started_ns},{finished_ns},1,{measured}\n")
