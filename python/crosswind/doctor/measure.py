"""Measure in about four seconds how exact this machine is, through a fabric of two nodes.

Delays are measured with single packets of 64 bytes, 1 ms apart; packet rates with one burst each; goodput
with TCP. The floor is the delay where none is declared: the cost of crossing the emulator. The programs are
the ones that experiments use.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from crosswind.app.load import await_listening
from crosswind.doctor.calibration import Calibration, DelayCheck, RateCheck
from crosswind.doctor.kernel import DEFAULT_CONGESTION_CONTROL, available_congestion_controls
from crosswind.doctor.machine import this_machine
from crosswind.probe.single_packets import read_probes
from crosswind.results import Measurement
from crosswind.spec import FabricCondition, FabricSpec
from crosswind.testbed import Agent, Ended, Process, RunningFabric, TestbedError, find_binary
from crosswind.testbed.binaries import LOAD
from crosswind.testbed.plain import plain_fabric

SENDER, RECEIVER = "sender", "receiver"
# From less than a wake-up from sleep (25 us) to a delay that a sleeping emulator can honour.
DECLARED_NS = (20_000, 100_000, 1_000_000)
PROBE_RATE_PER_S = 1000
PROBES = 500  # Five of them are beyond the 99th percentile.
RATES_PER_S = (20_000, 50_000, 100_000)
BURST_S = 0.3
# 64 bytes on an Ethernet link, the smallest frame: 14 Ethernet, 20 IP, 8 UDP, 4 checksum.
PAYLOAD_BYTES = 18
RESPONSE_BYTES = 1 << 20
# With one connection the link is idle between responses; four keep it busy.
CONNECTIONS = 4
GOODPUT_S = 0.5
WARM_UP_S = 0.1
# Long compared with the work of each step (half a second), and short enough to wait for.
STEP_S = 15.0
_PROBE_PORT, _RPC_PORT = 5002, 7077


def two_nodes() -> FabricSpec:
    """Return a fabric of two nodes on two hosts, with a link that neither limits nor delays."""
    available = available_congestion_controls()
    known = DEFAULT_CONGESTION_CONTROL in available or not available
    return plain_fabric(
        (SENDER, RECEIVER), congestion_control=DEFAULT_CONGESTION_CONTROL if known else available[0]
    )


def calibrate(agent: Agent, fabric: RunningFabric, folder: Path) -> Calibration:
    """Measure and return a calibration.

    Args:
        agent: the agent of the fabric.
        fabric: of `two_nodes`, up.
        folder: an empty folder of the application's account.

    Raises: TestbedError: a probe failed; the message has its last output.
    """
    load_average = os.getloadavg()[0]
    bench = _Bench(fabric, folder)
    floor_ns, _ = bench.delays(0)
    floor_ns_p50, floor_ns_p99 = _quantiles(floor_ns)
    delays = tuple(bench.delay(declared_ns, floor_ns_p50) for declared_ns in DECLARED_NS)
    return Calibration(
        measured_at=datetime.now(UTC),
        machine=this_machine(),
        version=agent.hello.version,
        rootless=agent.hello.rootless,
        wait_mode=fabric.wait_mode,
        load_average=load_average,
        floor_ns_p50=floor_ns_p50,
        floor_ns_p99=floor_ns_p99,
        delays=delays,
        rates=tuple(bench.rates()),
        goodput_bps=bench.goodput_bps(),
        canary_gap_ns_max=bench.canary_gap_ns_max,
        steal_share=bench.steal_ns / bench.measured_ns,
    )


class _Bench:
    """Two nodes with a probe in each; adds up the figures of all measurements about the machine."""

    def __init__(self, fabric: RunningFabric, folder: Path) -> None:
        self._fabric = fabric
        self._folder = folder
        self._load = str(find_binary(LOAD))
        self._address = fabric.nodes[RECEIVER].address
        self.canary_gap_ns_max = 0
        self.steal_ns = 0
        self.measured_ns = 0

    def delay(self, declared_ns: int, floor_ns: int) -> DelayCheck:
        """Return how exactly a declared delay is honoured."""
        delays_ns, measurement = self.delays(declared_ns)
        error_ns_p50, error_ns_p99 = _quantiles(np.abs(delays_ns - declared_ns - floor_ns))
        ledger = measurement.ledger
        return DelayCheck(
            declared_ns=declared_ns,
            packets=len(delays_ns),
            error_ns_p50=error_ns_p50,
            error_ns_p99=error_ns_p99,
            ledger_ns_p50=ledger.error_ns["p50"] or 0,
            ledger_ns_p99=ledger.error_ns["p99"] or 0,
            ledger_ns_max=ledger.error_ns["max"] or 0,
            early=ledger.early,
        )

    def delays(self, declared_ns: int) -> tuple[NDArray[np.int64], Measurement]:
        """Return the one-way delays of packets that arrived, shape (arrived,) in ns, and the measurement."""
        place = [{"delay": {"time_ns": declared_ns, "on": [RECEIVER]}}] if declared_ns else []
        condition = {"name": f"delay {declared_ns} ns", "places": {"host.ingress": place}}
        self._fabric.set(FabricCondition.model_validate(condition))
        out = self._folder / f"delay-{declared_ns}.csv"
        with self._window() as measured, self._receiver(PROBES, out) as receiver:
            self._send(PROBE_RATE_PER_S, PROBES)
            # The receiver ends by itself 2 s after the last packet.
            _finish(receiver, receiver.wait(STEP_S))
        return read_probes(out, PROBES).delay_ns, measured[0]

    def rates(self) -> Iterator[RateCheck]:
        """Offer rising packet rates, up to the first that loses packets."""
        self._fabric.set(FabricCondition(name="none"))
        for rate_per_s in RATES_PER_S:
            check = self._rate(rate_per_s)
            yield check
            if check.lost:
                return

    def _rate(self, rate_per_s: int) -> RateCheck:
        packets = round(rate_per_s * BURST_S)
        out = self._folder / f"rate-{rate_per_s}.csv"
        with self._window() as measured, self._receiver(packets, out):
            began = time.monotonic()
            self._send(rate_per_s, packets)
            took_s = time.monotonic() - began
        # Counted by the emulator, because drops at a full receiving socket are not its drops.
        passed = measured[0].conservation.out.real
        return RateCheck(
            asked_per_s=rate_per_s,
            offered_per_s=round(packets / took_s),
            packets=packets,
            lost=max(0, packets - passed),
        )

    def goodput_bps(self) -> int:
        """Return the goodput of large TCP responses through a link without a rate, in bit/s."""
        where = f"{self._address}:{_RPC_PORT}"
        summary = self._folder / "goodput.json"
        with self._window():
            server = self._start(RECEIVER, "serve", ["rpc-serve", "--listen", where])
            await_listening(server)
            client = self._start(
                SENDER,
                "fetch",
                [
                    *("rpc", "--server", where, "--request-bytes", "100"),
                    *("--response-bytes", str(RESPONSE_BYTES), "--connections", str(CONNECTIONS)),
                    *("--duration", str(GOODPUT_S), "--warm-up", str(WARM_UP_S), "--seed", "1"),
                    *("--samples", str(self._folder / "goodput.csv"), "--summary", str(summary)),
                ],
            )
            _finish(client, client.wait(STEP_S))
            server.stop(grace_s=0)
        done = json.loads(summary.read_text())
        seconds: float = (done["finished_ns"] - done["started_ns"]) / 1e9
        operations: int = done["operations"]
        return round(operations * RESPONSE_BYTES * 8 / seconds)

    @contextmanager
    def _window(self) -> Iterator[list[Measurement]]:
        """Give a list that has the measurement when the block has ended."""
        self._fabric.measure()
        measured: list[Measurement] = []
        yield measured
        measurement = self._fabric.read()
        measured.append(measurement)
        self.canary_gap_ns_max = max(self.canary_gap_ns_max, measurement.host.canary_gap_ns_max or 0)
        self.steal_ns += measurement.host.steal_ns or 0
        self.measured_ns += measurement.window.length_ns

    @contextmanager
    def _receiver(self, packets: int, out: Path) -> Iterator[Process]:
        where = f"{self._address}:{_PROBE_PORT}"
        receiver = self._start(
            RECEIVER,
            out.stem,
            ["probe-receive", "--listen", where, "--count", str(packets), "--out", str(out)],
        )
        await_listening(receiver)
        yield receiver
        # After a loss the receiver would wait for two more seconds.
        receiver.stop(grace_s=0)

    def _send(self, rate_per_s: int, packets: int) -> None:
        sender = self._start(
            SENDER,
            f"send-{rate_per_s}",
            [
                *("probe-send", "--to", f"{self._address}:{_PROBE_PORT}", "--rate", str(rate_per_s)),
                *("--count", str(packets), "--payload-bytes", str(PAYLOAD_BYTES)),
            ],
        )
        _finish(sender, sender.wait(STEP_S))

    def _start(self, node: str, name: str, arguments: list[str]) -> Process:
        return self._fabric.start(node, name, [self._load, *arguments], cwd=self._folder)


def _finish(process: Process, ended: Ended | None) -> None:
    if ended != Ended(0, None):
        how = f"still running after {STEP_S:g} s" if ended is None else str(ended)
        raise TestbedError(f"{process}: {how}; {process.last_words()}")


def _quantiles(values_ns: NDArray[np.int64]) -> tuple[int, int]:
    """Return median and 99th percentile."""
    p50, p99 = np.quantile(values_ns, [0.5, 0.99])
    return round(p50), round(p99)
