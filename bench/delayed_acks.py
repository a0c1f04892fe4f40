"""What delayed acknowledgements do in slower time, where they last as long as in real time.

    python -m bench.delayed_acks [bulk|web|web-7] [--condition bursts] [--rounds 10] [--dilation 10]

Eight bulk transfers, or 16 connections on which a client asks again and again for an answer of eight packets
(10,250 bytes, as nginx's are in `python -m bench.dilation_equal`) or of seven (10,000 bytes). The round trip
is 8 ms, and the condition one of that benchmark. Each round is in real and in slower time, and in both with
the kernel's delayed acknowledgements and with a receiver that acknowledges at once (`quickack` of its route).
Prints, for each figure, the ratio of slower to real time with its interval of 90 %, paired by round. A figure
that is 0 in a round has no ratio. Needs root.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

import crosswind
from bench.dilation_equal import CONDITIONS
from crosswind.stats.equivalence import tost_paired

TOPOLOGY = {
    "hosts": 2,
    "uplink": {"rate": "1Gbit/s", "delay": "2ms", "buffer": "250kB"},
    "tcp": {"congestion_control": "cubic"},
    "nodes": {"sender": "h0", "receiver": "h1"},
    "wait": "sleep",
}
PORT = 5001
RECEIVE = f"""
import selectors, socket
listener = socket.create_server(("", {PORT}))
ready = selectors.DefaultSelector()
ready.register(listener, selectors.EVENT_READ)
while True:
    for key, _ in ready.select():
        if key.fileobj is listener:
            ready.register(listener.accept()[0], selectors.EVENT_READ)
        elif not key.fileobj.recv(1 << 20):
            ready.unregister(key.fileobj)
"""
# Offsets in struct tcp_info (linux/tcp.h): tcpi_rtt in us, tcpi_total_retrans, tcpi_bytes_acked.
SEND = f"""
import json, selectors, socket, struct, time
connections = [socket.create_connection(("receiver", {PORT})) for _ in range(8)]
ready = selectors.DefaultSelector()
for each in connections:
    each.setblocking(False)
    ready.register(each, selectors.EVENT_WRITE)
def counted():
    infos = [each.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 128) for each in connections]
    of = lambda form, offset: [struct.unpack_from(form, info, offset)[0] for info in infos]
    return sum(of("Q", 120)), sum(of("I", 100)), sum(of("I", 68)) / len(infos)
begin = time.monotonic()
first, trips, block = None, [], bytes(1 << 17)
while (passed := time.monotonic() - begin) < 2.5:
    for key, _ in ready.select(0.01):
        try:
            key.fileobj.send(block)
        except BlockingIOError:
            pass
    if passed >= 0.5 and passed >= 0.5 + len(trips) * 0.01:
        now = counted()
        first = first or now
        trips.append(now[2])
last = counted()
print(json.dumps({{
    "goodput, Mbit/s": (last[0] - first[0]) * 8 / 2 / 1e6,
    "retransmissions": last[1] - first[1],
    "mean smoothed round trip, us": sum(trips) / len(trips),
}}))
"""


SERVE = f"""
import selectors, socket, sys
listener = socket.create_server(("", {PORT}))
ready = selectors.DefaultSelector()
ready.register(listener, selectors.EVENT_READ)
answer = bytes(int(sys.argv[1]))
while True:
    for key, _ in ready.select():
        if key.fileobj is listener:
            ready.register(listener.accept()[0], selectors.EVENT_READ)
            continue
        try:
            asked = key.fileobj.recv(100)
        except ConnectionResetError:
            asked = b""
        if asked:
            key.fileobj.sendall(answer)
        else:
            ready.unregister(key.fileobj)
"""
ASK = f"""
import json, selectors, socket, statistics, sys, time
size = int(sys.argv[1])
connections = [socket.create_connection(("sender", {PORT})) for _ in range(16)]
ready = selectors.DefaultSelector()
begin = time.monotonic()
for each in connections:
    each.send(bytes(100))
    ready.register(each, selectors.EVENT_READ, [time.monotonic(), 0])
took = []
while time.monotonic() < begin + 5.5:
    for key, _ in ready.select(0.01):
        key.data[1] += len(key.fileobj.recv(1 << 16))
        if key.data[1] == size:
            now = time.monotonic()
            if now >= begin + 0.5:
                took.append(now - key.data[0])
            key.data[:] = now, 0
            key.fileobj.send(bytes(100))
print(json.dumps({{
    "operations per second": len(took) / 5,
    "P50, us": statistics.median(took) * 1e6,
    "share over 100 ms": sum(each > 0.1 for each in took) / len(took),
}}))
"""


@dataclass(frozen=True)
class Exchange:
    """A program that listens, one that connects to it, the node of each, and the arguments of both."""

    listens: str
    listener: str
    connects: str
    program: str
    arguments: Sequence[str] = ()


EXCHANGES = {
    "bulk": Exchange("receiver", RECEIVE, "sender", SEND),
    "web": Exchange("sender", SERVE, "receiver", ASK, ["10250"]),
    "web-7": Exchange("sender", SERVE, "receiver", ASK, ["10000"]),
}


def figures(
    exchange: str, condition: str, dilation: int | None, at_once: bool, seed: int
) -> Mapping[str, float]:
    """Return the figures of one exchange, in perceived time."""
    active = {condition: {"switch.ingress": list(CONDITIONS[condition])}}
    tried = EXCHANGES[exchange]
    with crosswind.Fabric(TOPOLOGY, conditions=[active], dilation=dilation, seed=seed) as net:
        if at_once:
            (route,) = net.exec("receiver", ["ip", "route"], check=True).stdout.splitlines()
            # `ip` prints that rto_min is locked, and does not read it again.
            words = [word for word in route.split() if word != "lock"]
            net.exec("receiver", ["ip", "route", "change", *words, "quickack", "1"], check=True)
        net.popen(tried.listens, ["python3", "-c", tried.listener, *tried.arguments])
        net.await_port(tried.listens, PORT)
        printed = net.exec(
            tried.connects, ["python3", "-c", tried.program, *tried.arguments], check=True
        ).stdout
        counters = sender_counters(net)
    thousands = counters["OutSegs"] / 1000
    return {
        **json.loads(printed),
        "loss probes per 1,000 packets": counters["TCPLossProbes"] / thousands,
        "timeouts per 1,000 packets": counters["TCPTimeouts"] / thousands,
    }


def sender_counters(net: crosswind.Fabric) -> Mapping[str, int]:
    """Return what the sender's TCP has counted since its node was made, by name (nstat(8))."""
    files = ["/proc/net/snmp", "/proc/net/netstat"]
    lines = net.exec("sender", ["cat", *files], check=True).stdout.splitlines()
    counters: dict[str, int] = {}
    for names, values in zip(lines[::2], lines[1::2], strict=True):
        if names.startswith(("Tcp:", "TcpExt:")):
            counters.update(zip(names.split()[1:], map(int, values.split()[1:]), strict=True))
    return counters


def main() -> None:
    """Read the command line, run all rounds and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("exchange", choices=EXCHANGES, nargs="?", default="bulk")
    parser.add_argument("--condition", choices=CONDITIONS, default="bursts")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--dilation", type=int, default=10)
    asked = parser.parse_args()
    print(f"| acknowledgements | figure | in real time | ratio at {asked.dilation} |")
    print("|---|---|---|---|", flush=True)
    rounds = [
        {
            (at_once, dilation): figures(asked.exchange, asked.condition, dilation, at_once, seed)
            for at_once in (False, True)
            for dilation in (None, asked.dilation)
        }
        for seed in range(asked.rounds)
    ]
    for at_once in (False, True):
        for figure in rounds[0][at_once, None]:
            real, slower = (
                [each[at_once, dilation][figure] for each in rounds] for dilation in (None, asked.dilation)
            )
            kind = "at once" if at_once else "delayed"
            print(f"| {kind} | {figure} | {fmean(real):.4g} | {compared(real, slower)} |")


def compared(real: Sequence[float], slower: Sequence[float]) -> str:
    """Return the ratio of slower to real time with its interval, or the mean of slower time."""
    if not all(value > 0 for value in (*real, *slower)):
        return f"{fmean(slower):.4g} in slower time"
    base, other = ([math.log(value) for value in values] for values in (real, slower))
    tested = tost_paired(base, other, math.log(1.05))
    ratio, low, high = (math.exp(value) for value in (tested.difference, tested.low, tested.high))
    return f"{ratio:.3f} ({low:.3f} to {high:.3f})"


if __name__ == "__main__":
    main()
