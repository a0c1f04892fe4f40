"""TCP and UDP through the emulator, as a share of a bare veth pair in the same round."""

import sys
from collections.abc import Iterator
from pathlib import Path

from bench import transfer
from bench.figures import Figure, figure
from crosswind.probe.pairs import Task, over_bare, over_fabric
from crosswind.probe.single_packets import probe_fabric
from crosswind.testbed.plain import plain_fabric

TRANSFER_S = 3
TEN_GIGABIT = 10_000_000_000
# More than the connection's own window, so that CUBIC's reaction to losses is not measured. Sockets have the
# same size, because sender and receiver share a core in slices of 3 ms.
BUFFER_BYTES = 16 << 20


def tcp(rounds: int) -> Iterator[Figure]:
    """Yield one TCP stream through a link without a rate limit and through one of 10 Gbit/s."""
    bare, unlimited, limited = [], [], []
    for _ in range(rounds):
        bare.append(over_bare(stream(), goodput))
        unlimited.append(over_fabric(stream(), goodput, plain_fabric())[0])
        ten = plain_fabric(rate_bps=TEN_GIGABIT, buffer_bytes=BUFFER_BYTES, socket_buffer_bytes=BUFFER_BYTES)
        limited.append(over_fabric(stream(), goodput, ten)[0])
    ratios = [through / without for through, without in zip(unlimited, bare, strict=True)]
    yield figure("TCP goodput through an unlimited link against bare veth", "ratio", ratios, "at least 0.35")
    yield figure(
        "TCP goodput through an unlimited link",
        "Gbit/s",
        [rate / 1e9 for rate in unlimited],
        None,
        bare_gbps=[round(rate / 1e9, 2) for rate in bare],
    )
    wanted = min(9.4, 0.6 * min(bare) / 1e9)
    yield figure(
        "TCP goodput of one stream through a link of 10 Gbit/s",
        "Gbit/s",
        [rate / 1e9 for rate in limited],
        f"at least {wanted:.2f}: 9.4, or 0.6 of bare veth where that is less",
        bare_gbps=[round(rate / 1e9, 2) for rate in bare],
    )


def udp(rounds: int) -> Iterator[Figure]:
    """Yield how many packets of 64 bytes are lost at 100 000 a second for 2 s."""
    count = 200_000
    lost = [float(probe_fabric(plain_fabric(), 100_000, count)[0].lost) for _ in range(rounds)]
    yield figure("64 B UDP packets lost of 200 000 at 100 kpps", "packets", lost, "0")


def stream() -> Task:
    """Return one TCP stream of a few seconds."""
    script = str(Path(transfer.__file__))
    return Task(
        receive=lambda folder: [sys.executable, script, "receive", "10.77.0.2", str(folder / "goodput")],
        send=lambda folder: [sys.executable, script, "send", "10.77.0.2", str(TRANSFER_S)],
    )


def goodput(folder: Path) -> float:
    """Return the goodput that the receiver of a stream measured, in bit/s."""
    return float((folder / "goodput").read_text())
