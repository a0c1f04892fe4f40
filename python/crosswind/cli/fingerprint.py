"""Measure the network between two nodes: latency, bulk transfer, token bucket."""

from __future__ import annotations

from pathlib import Path

import click

from crosswind.cli._bounds import bounded
from crosswind.cli._fingerprint import Asked, take
from crosswind.cli._options import as_one


@click.command()
@click.argument("file", required=False)
@click.option(
    "--condition", help="Condition: a name in FILE or the catalogue, or a file. Default: the first in FILE."
)
@click.option(
    "--between",
    metavar="FROM,TO",
    help="Two nodes; name one twice to measure its loopback. Default: the first two in FILE.",
)
@click.option("--through", metavar="NODE", help="Route through this node of FILE, which forwards packets.")
@click.option(
    "--tunnel", type=click.Choice(["vxlan", "gre"]), help="Measure through a tunnel between the two nodes."
)
@click.option(
    "--near",
    metavar="WORDS",
    default="",
    help="With --to: prefix that runs a command at the near end, such as 'ssh host'.",
)
@click.option("--far", metavar="WORDS", help="With --to: prefix that runs a command at the far end.")
@click.option(
    "--to", "address", metavar="ADDRESS", help="Address of the far end, when measuring an existing network."
)
@click.option(
    "--tool",
    type=click.Choice(["traffic", "iperf3", "nuttcp"]),
    help="Tool for bulk transfers. Default: traffic on one machine, else iperf3.",
)
@click.option("--cloud", is_flag=True, help="Read the instance types from the cloud's metadata service.")
@click.option(
    "--full-speed", default="10s", show_default=True, help="Length of each of the two full-speed bursts."
)
@click.option("--rest", default="5s", show_default=True, help="Pause between the two bursts.")
@click.option(
    "--connections",
    metavar="N,N,...",
    default="1,2,5,10,20,50",
    show_default=True,
    help="Numbers of parallel connections to measure.",
)
@click.option(
    "--repeat",
    type=click.IntRange(1, 1000),
    default=3,
    show_default=True,
    help="Measurements per number of connections.",
)
@click.option(
    "--writes",
    metavar="SIZE,SIZE,...",
    default="1KiB,4KiB,16KiB,64KiB,256KiB,1MiB",
    show_default=True,
    help="Sizes of write() calls to measure.",
)
@click.option(
    "--send-at-most",
    metavar="SIZE",
    help="Limit of the payload to send. Default: no limit if FILE makes the network, else 10GB, beyond which "
    "the command asks on a terminal.",
)
@click.option(
    "--console",
    is_flag=True,
    help="Show live in the browser what is measured: rates, round trips, and the network of FILE.",
)
@bounded
@click.option(
    "--regime",
    metavar="PATTERN",
    help="Measure over hours instead: full-speed, or seconds on and off such as 10-30.",
)
@click.option("--for", "wanted", metavar="TIME", help="Total length of the regime, such as 24h.")
@click.option(
    "--point",
    metavar="TIME",
    help="Interval of a regime's samples. Default: 10s, or a tenth of the time on if that is shorter.",
)
@click.option(
    "--testbed",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Measure between all machines of this file, which has the content of `testbed:`.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Output file, or folder with --testbed. Default: fingerprint.json, regime.jsonl, or between.",
)
@as_one(Asked)
def command(asked: Asked) -> None:
    """Measure the network between two nodes: latency, bulk transfer, token bucket.

    FILE has a topology and may have a condition. An experiment file works, and so does the name of a
    catalogue experiment. The network is brought up anew for each measurement: round-trip times and one-way
    delays of small messages, round-trip times under a bulk transfer, writes of several sizes, several
    numbers of parallel connections, an overload, and full speed until a token bucket is empty, repeated
    after a pause. The machines' state is recorded before and after; the measurement is refused if a machine
    is busier than the --...-at-most options allow. `crosswind conditions from` fits a condition to the
    result. With --console it prints the address of a page that only this machine can open.

    The two nodes may be one node (loopback), share a host, have their own hosts, reach each other --through
    a third node, or use a --tunnel. The result records which, and OSMeF's distance.

    With --regime, TCP sends in one pattern for the time given by --for, and every sample is stored at once.
    The same command continues an interrupted file. With --to as well, both ends must be on this machine.

    Without FILE, the command measures an existing network between two ends that can run commands:

    \b
    crosswind fingerprint --near 'crosswind exec a --' --far 'crosswind exec b --' --to 10.77.0.2
    crosswind fingerprint --far 'ssh host' --to 192.0.2.7

    Each end needs `crosswind-load`, Python and, on another machine, iperf3 (or nuttcp, with --tool nuttcp).
    TCP ports 7078 and 7079 and UDP port 7080 of the far end must be reachable; nuttcp also needs TCP ports
    from 7200 and from 8200 on.

    With --testbed, every machine of the file is measured to every other one, each pair in turn: one-way delay
    with its bound, round trips, jitter, loss, and TCP over 4 connections. They need ssh and nothing else. The
    folder has matrices that `topology: {zones: ...}` reads.
    """
    take(asked)
