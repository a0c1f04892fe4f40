"""Real interference: iperf3 between two neighbour nodes, at rates drawn from a declared distribution.

Each pair draws its own rates from the trial's seed. iperf3 has one rate from start to end, so it is restarted
for every draw. The gaps between two clients are recorded as a rate of zero, as are draws of zero that mean
silence. Source of the design: Hasenoot et al., ICPE '23, section 3.
"""

import hashlib
import random
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from crosswind.app.requirements.iperf3 import IPERF3
from crosswind.errors import CrosswindError
from crosswind.results.measurement import InterferenceSource, RateStep
from crosswind.spec import ResolvedInterference, neighbours
from crosswind.spec.resolved import ConstantRate
from crosswind.testbed.errors import NotHere, TestbedError
from crosswind.testbed.fabric import Fabric, Process

# TCP over IPv4 with timestamps: 20 + 20 + 12 bytes of each packet are headers, which iperf3 does not count.
HEADER_BYTES = 52
NS_PER_S = 1_000_000_000
READY_S = 5.0


def check_iperf3(entries: Sequence[ResolvedInterference]) -> None:
    """Check before a run that real interference can be made.

    Raises:
        NotHere: iperf3 is missing.
        CrosswindError: a `hold` is not a whole number of seconds, which iperf3 needs.
    """
    if entries and IPERF3.missing():
        raise NotHere(
            "iperf3: needed for `by: iperf3` and not on this machine; run `crosswind apps install iperf3`, "
            "or write `by: ghost`"
        )
    for entry in entries:
        if entry.hold_ns % NS_PER_S:
            raise CrosswindError(
                f"interference {'-'.join(entry.between)}: hold {entry.hold_ns / NS_PER_S:g}s is not a "
                "whole number of seconds and iperf3 counts in seconds; write 1s, 2s ..., or `by: ghost`"
            )


@contextmanager
def real_noise(
    fabric: Fabric, entries: Sequence[ResolvedInterference], seed: int, folder: Path
) -> Iterator[list[InterferenceSource]]:
    """Run iperf3 between the neighbours while the block runs.

    Args:
        entries: from `crosswind.spec.real_interference`.
        seed: the trial's; the same seed draws the same rates.
    Returns: a list that is filled when the block ends.
    Raises: TestbedError: iperf3 failed, so the interference was not the declared one.
    """
    measured: list[InterferenceSource] = []
    with ExitStack() as stack:
        pairs = [stack.enter_context(_Pair(fabric, entry, seed, folder)) for entry in entries]
        yield measured
    for pair in pairs:
        pair.raise_failure()
        measured.extend(pair.record())


def draws(entry: ResolvedInterference, seed: int) -> Iterator[int]:
    """Yield the rates of one pair without end, in IP bits per second."""
    rate = entry.rate
    assert rate is not None  # Only a replay has none, and processes replay nothing.
    key = f"{seed} {' '.join(entry.between)}"
    stream = random.Random(int.from_bytes(hashlib.sha256(key.encode()).digest(), "big"))
    while True:
        if isinstance(rate, ConstantRate):
            yield rate.constant_bps
        else:
            normal = rate.normal
            drawn = round(stream.normalvariate(normal.mean_bps, normal.sd_bps))
            yield min(max(drawn, normal.low_bps), normal.high_bps)


class _Pair:
    """A server, and one client after another, in both directions at once."""

    def __init__(self, fabric: Fabric, entry: ResolvedInterference, seed: int, folder: Path) -> None:
        self._fabric, self._entry, self._folder = fabric, entry, folder
        self._seed = seed
        self._client_node, self._server_node = neighbours(entry)
        self._draws: list[RateStep] = []
        self._end = threading.Event()
        self._failure: Exception | None = None
        self._thread = threading.Thread(target=self._repeat, name=f"noise-{self._client_node}", daemon=True)

    def __enter__(self) -> "_Pair":
        program = IPERF3.program("iperf3")
        self._server = self._fabric.start(
            self._server_node,
            "iperf3-server",
            [program.path, "-s", "--forceflush"],
            cwd=self._folder,
            env=program.env,
        )
        deadline = time.monotonic() + READY_S
        while "listening" not in self._server.printed():
            if self._server.ended is not None or time.monotonic() > deadline:
                raise TestbedError(f"{self._server}: does not listen; {self._server.last_words()}")
            time.sleep(0.005)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()

    def raise_failure(self) -> None:
        if self._failure is not None:
            raise TestbedError(f"interference {'-'.join(self._entry.between)}: {self._failure}")

    def record(self) -> list[InterferenceSource]:
        first, second = self._entry.between
        return [
            InterferenceSource(source=f"{here}->{there}", draws=list(self._draws))
            for here, there in ((first, second), (second, first))
        ]

    def _repeat(self) -> None:
        try:
            for rate_bps in draws(self._entry, self._seed):
                if self._end.is_set():
                    return
                self._hold(rate_bps)
        except Exception as error:  # Raised in the main thread, which is waiting for the load.
            self._failure = error

    def _hold(self, rate_bps: int) -> None:
        hold_s = self._entry.hold_ns // NS_PER_S
        if rate_bps == 0 and self._entry.zero == "silence":
            self._note(0)
            self._end.wait(hold_s)
            return
        client = self._start_client(rate_bps, hold_s)
        self._note(rate_bps or None)
        deadline = time.monotonic() + hold_s + READY_S
        while client.ended is None and not self._end.wait(0.01):
            if time.monotonic() > deadline:
                raise TestbedError(f"{client}: still running {READY_S:g} s after its time")
        if client.ended is None:
            client.stop(1)
        elif client.ended.code != 0:
            raise TestbedError(f"{client}: {client.ended}; {client.last_words()}")
        self._note(0)

    def _start_client(self, rate_bps: int, hold_s: int) -> Process:
        packet_bytes, tcp = self._entry.packet_ip_bytes, self._entry.tcp
        # Anything else was refused when the file was read: iperf3 is TCP, and its packets have one size.
        assert isinstance(packet_bytes, int)
        assert tcp is not None
        # iperf3 gives its rate to every connection.
        payload_bps = rate_bps * (packet_bytes - HEADER_BYTES) // packet_bytes // tcp.flows
        program = IPERF3.program("iperf3")
        command = [
            program.path,
            *("-c", self._fabric.nodes[self._server_node].address),
            *("-t", str(hold_s)),
            *("-P", str(tcp.flows)),
            # For iperf3 a bit rate of 0 means no limit, as it does here.
            *("-b", str(payload_bps)),
            *("--pacing-timer", str(self._entry.pacing_ns // 1000)),
            "--bidir",
        ]
        return self._fabric.start(
            self._client_node, "iperf3-client", command, cwd=self._folder, env=program.env
        )

    def _note(self, rate_bps: int | None) -> None:
        self._draws.append(RateStep(self._fabric.now_ns(), rate_bps))
