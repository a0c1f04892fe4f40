"""Other tools on the same machine in the same run, installed privately or skipped with the reason."""

import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import venv
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import TypeVar

import numpy as np

from bench import transfer
from bench.delay import paced_us
from bench.figures import Figure, Skipped, figure, skipped
from bench.throughput import TRANSFER_S, stream
from crosswind.probe.pairs import over_fabric
from crosswind.probe.single_packets import Probes, probe_bare, probe_fabric, read_probes
from crosswind.testbed import find_binary
from crosswind.testbed.folders import cache_folder
from crosswind.testbed.plain import plain_fabric

RATTAN_VERSION = "0.1.1"
INSTALL_S = 1800
DELAY_US = 10_000
RATES_PER_S = (1000, 10_000)
# Ascending; the figure is the highest rate without loss.
LOSSLESS_PER_S = (20_000, 50_000, 75_000, 100_000, 150_000, 200_000)
# At both ends: the default window is about 3 MB, which limits any link to 1 Gbit/s over 20 ms.
SOCKET_BUFFER_BYTES = 64 << 20
# Smaller errors are those of the clock, and a ratio to them would have no meaning.
ERROR_US_MIN = 0.1

T = TypeVar("T")


class Unavailable(Exception):
    """A peer is not available here; the text has the reason."""


def rattan(rounds: int) -> Iterator[Figure | Skipped]:
    """Yield delay errors, lossless packet rate and TCP goodput over a 10 ms link, ours against Rattan's."""
    try:
        binary = _rattan()
    except Unavailable as reason:
        yield skipped(f"Rattan {RATTAN_VERSION}", str(reason))
        return
    link = plain_fabric(delay_ns=DELAY_US * 500)
    for rate_per_s in RATES_PER_S:
        ours: dict[float, list[float]] = {0.5: [], 0.99: []}
        theirs: dict[float, list[float]] = {0.5: [], 0.99: []}
        paced: dict[float, list[float]] = {0.5: [], 0.99: []}
        for _ in range(rounds):
            bare = probe_bare(rate_per_s, rate_per_s)
            through, _ = probe_fabric(link, rate_per_s, rate_per_s)
            other = _rattan_probes(binary, rate_per_s, rate_per_s)
            for p in ours:
                ours[p].append(_error_us(through, bare, p))
                theirs[p].append(_error_us(other, bare, p))
                paced[p].append(paced_us(bare, p))
        for p, wanted in ((0.5, 8), (0.99, 10)):
            ratios = [
                theirs_us / max(ours_us, ERROR_US_MIN)
                for theirs_us, ours_us in zip(theirs[p], ours[p], strict=True)
            ]
            yield figure(
                f"Rattan's delay error p{p * 100:g} over ours, 10 ms link, {rate_per_s // 1000} kpps",
                "ratio",
                ratios,
                f"at least {wanted}",
                ours_us=[round(error, 2) for error in ours[p]],
                rattan_us=[round(error, 2) for error in theirs[p]],
                paced_over_bare_veth_us=round(statistics.median(paced[p]), 2),
            )
    lossless = [
        (
            _lossless(lambda rate: probe_fabric(link, rate, rate // 2)[0]),
            _lossless(lambda rate: _rattan_probes(binary, rate, rate // 2)),
        )
        for _ in range(rounds)
    ]
    yield figure(
        "our highest packet rate without loss over Rattan's, of those tried",
        "ratio",
        [ours_per_s / max(theirs_per_s, 1) for ours_per_s, theirs_per_s in lossless],
        "at least 2",
        ours_per_s=[ours_per_s for ours_per_s, _ in lossless],
        rattan_per_s=[theirs_per_s for _, theirs_per_s in lossless],
    )
    wide = plain_fabric(delay_ns=DELAY_US * 500, socket_buffer_bytes=SOCKET_BUFFER_BYTES)
    goodput = [(over_fabric(stream(), _goodput, wide)[0], _rattan_tcp(binary)) for _ in range(rounds)]
    yield figure(
        "our TCP goodput over Rattan's, 10 ms link",
        "ratio",
        [ours_bps / theirs_bps for ours_bps, theirs_bps in goodput],
        "at least 8",
        ours_gbps=[round(ours_bps / 1e9, 2) for ours_bps, _ in goodput],
        rattan_gbps=[round(theirs_bps / 1e9, 2) for _, theirs_bps in goodput],
    )


def _error_us(probes: Probes, bare: Probes, p: float) -> float:
    return float(np.quantile(probes.delay_ns, p) - np.quantile(bare.delay_ns, p)) / 1e3 - DELAY_US


def _lossless(probe: Callable[[int], Probes]) -> int:
    passed = 0
    for rate_per_s in LOSSLESS_PER_S:
        if probe(rate_per_s).lost:
            break
        passed = rate_per_s
    return passed


def _goodput(folder: Path) -> float:
    return float((folder / "goodput").read_text())


def _rattan_probes(binary: Path, rate_per_s: int, count: int) -> Probes:
    load = str(find_binary("crosswind-load"))
    receive = f"{load} probe-receive --listen 0.0.0.0:5002 --count {count} --out $FOLDER/probe.csv"
    send = f"{load} probe-send --to $RATTAN_BASE:5002 --rate {rate_per_s} --count {count} --payload-bytes 18"
    return _over_rattan(binary, receive, send, lambda folder: read_probes(folder / "probe.csv", count))


def _rattan_tcp(binary: Path) -> float:
    sizes = f"4096 131072 {SOCKET_BUFFER_BYTES}"
    widen = "; ".join(f"echo {sizes} > /proc/sys/net/ipv4/tcp_{way}mem" for way in "rw")
    script = f"{widen}; {sys.executable} {transfer.__file__}"
    receive = f"{script} receive 0.0.0.0 $FOLDER/goodput"
    return _over_rattan(binary, receive, f"{script} send $RATTAN_BASE {TRANSFER_S}", _goodput)


def _over_rattan(binary: Path, receive: str, send: str, collect: Callable[[Path], T]) -> T:
    """Run a receiver and, a second later, a sender at the two ends of a 10 ms link of Rattan's.

    Rattan ends both when one has ended, so the sender waits until the receiver has finished. Everything that
    Rattan makes has a name; the names are in private namespaces, which end with it.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        config, done = folder / "link.toml", folder / "done"
        wait = f"while [ ! -e {done} ]; do sleep 0.1; done"
        config.write_text(
            '[env]\nmode = "Isolated"\n'
            f'[cells]\nup = {{type = "Delay", delay = "{DELAY_US}us"}}\n'
            f'down = {{type = "Delay", delay = "{DELAY_US}us"}}\n'
            '[links]\nleft = "up"\nup = "right"\nright = "down"\ndown = "left"\n'
            f"[commands]\nleft = {json.dumps(['sh', '-c', f'sleep 1; {send}; {wait}'])}\n"
            f"right = {json.dumps(['sh', '-c', f'FOLDER={folder}; {receive}; touch {done}'])}\n"
        )
        private = 'mkdir -p /run/netns && mount -t tmpfs none /run/netns && exec "$@"'
        subprocess.run(
            ["unshare", "--mount", "--net", "sh", "-c", private, "sh", binary, "run", "-c", config],
            check=False,  # It reports a failure, because it ends the sender itself.
            capture_output=True,
            timeout=120,
        )
        return collect(folder)


@cache
def _rattan() -> Path:
    root = cache_folder() / "peers" / f"rattan-{RATTAN_VERSION}"
    binary = root / "bin" / "rattan"
    if not binary.exists():
        if shutil.which("cargo") is None:
            raise Unavailable("cargo, which installs it, is missing")
        _install(["cargo", "install", "rattan", "--version", RATTAN_VERSION, "--locked", "--root", str(root)])
    return binary


@cache
def ns3_python() -> Path:
    """Return the Python that has ns-3.

    Raises: Unavailable: it cannot be installed here.
    """
    root = cache_folder() / "peers" / "ns3"
    python = root / "bin" / "python"
    if not python.exists():
        venv.create(root, with_pip=True)
    if subprocess.run([python, "-c", "import ns"], check=False, capture_output=True).returncode != 0:
        _install([str(python), "-m", "pip", "install", "-q", "ns3"])
    return python


def _install(command: list[str]) -> None:
    try:
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=INSTALL_S)
    except subprocess.TimeoutExpired:
        raise Unavailable(f"`{' '.join(command[:4])} ...` took more than {INSTALL_S} s") from None
    if done.returncode != 0:
        last = (done.stderr.strip() or "no output").splitlines()[-1]
        raise Unavailable(f"`{' '.join(command[:4])} ...` failed: {last}")
