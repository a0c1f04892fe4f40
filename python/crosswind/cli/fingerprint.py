"""Measure the network between two nodes: latency, bulk transfer, token bucket."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from crosswind.cli._bounds import bounded, bounds_of
from crosswind.cli._machine import require_writable
from crosswind.errors import CrosswindError

if TYPE_CHECKING:
    from rich.status import Status

    from crosswind.fingerprint.fingerprint import Fingerprint
    from crosswind.fingerprint.measure.crossing import Tunnel
    from crosswind.fingerprint.measure.ends import Network, Tool
    from crosswind.fingerprint.regime.record import Header

# Of what the network draws; two fingerprints should not differ without a reason.
SEED = 1
# What `crosswind-load traffic` carries between two nodes.
_CONNECTIONS_MAX = 1000

# Of a network that others use, and that may cost money.
_OTHERS_MOST_BYTES = 10_000_000_000

# What says how much a fingerprint measures, and nothing of a regime.
_OF_FINGERPRINTS = ("full_speed", "rest", "connections", "repeat", "writes")

T = TypeVar("T")


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
    help="Sizes of each write() to measure.",
)
@click.option(
    "--send-at-most",
    metavar="SIZE",
    help="Payload in all; where FILE makes the network without limit when absent, and else 10GB, above which "
    "it asks on a terminal.",
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
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Output file. Default: fingerprint.json, or regime.jsonl.",
)
def command(
    file: str | None,
    condition: str | None,
    between: str | None,
    through: str | None,
    tunnel: Tunnel | None,
    near: str,
    far: str | None,
    address: str | None,
    tool: Tool | None,
    cloud: bool,
    full_speed: str,
    rest: str,
    connections: str,
    repeat: int,
    writes: str,
    send_at_most: str | None,
    load_at_most: float | None,
    memory_at_most: str | None,
    traffic_at_most: str | None,
    regime: str | None,
    wanted: str | None,
    point: str | None,
    out: Path | None,
) -> None:
    """Measure the network between two nodes: latency, bulk transfer, token bucket.

    FILE has a topology and may have a condition. An experiment file works, and so does the name of a
    catalogue experiment. The network is brought up anew for each measurement: round-trip times and one-way
    delays of small messages, round-trip times under a bulk transfer, writes of several sizes, several
    numbers of parallel connections, an overload, and full speed until a token bucket is empty, repeated
    after a pause. The machines' state is recorded before and after; the measurement is refused if a machine
    is busier than the --...-at-most options allow. `crosswind conditions from` fits a condition to the
    result.

    The two nodes may be one node (loopback), share a host, have their own hosts, reach each other --through
    a third node, or use a --tunnel. The result records which, and OSMeF's distance.

    With --regime, TCP sends in one pattern for the time that --for gives, and every sample is stored at
    once. The same command continues a file that was cut off. Existing ends must be on this machine.

    Without FILE, the command measures an existing network between two ends that can run commands:

    \b
    crosswind fingerprint --near 'crosswind exec a --' --far 'crosswind exec b --' --to 10.77.0.2
    crosswind fingerprint --far 'ssh host' --to 192.0.2.7

    Each end needs `crosswind-load`, Python and, on another machine, iperf3 (or nuttcp, with --tool nuttcp).
    TCP ports 7078 and 7079 and UDP port 7080 of the far end must be reachable; nuttcp also needs TCP ports
    from 7200 and from 8200 on.
    """
    from rich.console import Console

    from crosswind.analysis.network.document import text_of
    from crosswind.cli._regime import header_of_ends, measure_regime
    from crosswind.fingerprint.fingerprint import Extent, begin, measure
    from crosswind.fingerprint.measure.other_ends import as_they_are, other_ends
    from crosswind.fingerprint.measure.own_ends import own_fabric
    from crosswind.fingerprint.measure.sent_bytes import SentBytes
    from crosswind.fingerprint.regime.record import Header
    from crosswind.results.durable import write_text
    from crosswind.spec.quantities import SIZE, TIME

    extent = Extent(
        _read("--full-speed", TIME.read_positive, full_speed) / 1e9,
        _read("--rest", TIME.read_positive, rest) / 1e9,
        [_read("--connections", _count, number) for number in connections.split(",")],
        repeat,
        [_read("--writes", SIZE.read_positive, size) for size in writes.split(",")],
    )
    most_bytes = _if_given("--send-at-most", SIZE.read_positive, send_at_most)
    wanted_ns = _if_given("--for", TIME.read_positive, wanted)
    point_ns = _if_given("--point", TIME.read_positive, point)
    if regime is None and (wanted is not None or point is not None):
        raise CrosswindError("--for, --point: are of a regime; add --regime, such as --regime 10-30")
    if regime is not None and (tool not in (None, "traffic") or cloud):
        raise CrosswindError(
            "--regime: only traffic says what arrives point by point; leave --tool and --cloud out"
        )
    if regime is not None and (given := _given(_OF_FINGERPRINTS)):
        raise CrosswindError(
            f"{', '.join(given)}: of a fingerprint, which --regime takes the place of; leave them out"
        )
    bounds = bounds_of(load_at_most, memory_at_most, traffic_at_most)
    network: Network
    name: str | None = None
    header_of: Callable[..., Header]
    if address is not None:
        of_file = (file, condition, between, through, tunnel)
        if far is None or any(given is not None for given in of_file):
            raise CrosswindError(
                "--to ADDRESS: takes --far WORDS, and no FILE, --condition, --between, --through or "
                "--tunnel; the network is there"
            )
        ends = other_ends(near, far, address, tool)
        if regime is not None and ends.tool != "traffic":
            raise CrosswindError(
                f"--regime: {ends.near.name} and {ends.far.name} do not share this machine's clock and "
                "files, through which traffic says what arrives point by point; measure between ends of one "
                "machine"
            )
        network = partial(as_they_are, ends)
        most_bytes = _OTHERS_MOST_BYTES if most_bytes is None else most_bytes
        header_of = partial(header_of_ends, ends, (near, far, address))
    elif file is not None and not near and far is None:
        spec = _fabric(file, condition, between, through)
        _refuse_impossible_way([node["name"] for node in spec["nodes"]], through, tunnel, regime)
        name = spec["condition"]["name"]
        network = partial(own_fabric, spec, tool or "traffic", tunnel)
        header_of = partial(Header.of, spec)
    else:
        raise CrosswindError(
            "neither FILE nor --far WORDS --to ADDRESS: no network is meant; give one of them"
        )
    out = out or Path("fingerprint.json" if regime is None else "regime.jsonl")
    require_writable(out, "name a file that you may write with --out")
    if regime is not None:
        measure_regime(network, header_of, regime, wanted_ns, point_ns, out, most_bytes, SEED, bounds)
        return
    with Console(stderr=True).status("") as status:
        sent = SentBytes(most_bytes, *([partial(_allows, status)] if send_at_most is None else []))
        found = begin(network, name, SEED, sent, bounds, cloud=cloud)
        try:
            measure(found, network, extent, status.update)
        except BaseException as error:
            found.ended = str(error) or "interrupted"
            raise
        finally:
            write_text(out, text_of(found.as_dict()))
            click.echo(_told(found))
            click.echo(f"fingerprint: {out}" + (", as far as it was measured" if found.ended else ""))


def _allows(status: Status, exceeds: str) -> bool:
    """Ask the user to allow more than the limit; False without a terminal."""
    if not sys.stdin.isatty():
        return False
    status.stop()
    try:
        return click.confirm(f"{exceeds}. Send it all the same?", err=True)
    finally:
        status.start()


def _fabric(file: str, condition: str | None, between: str | None, through: str | None) -> dict[str, Any]:
    """Return the fabric of a file, of the two nodes that are meant and the one between them, if any."""
    from crosswind.cli._condition import carried_out
    from crosswind.doctor import auto_domains_here
    from crosswind.fingerprint.measure.own_ends import with_nodes
    from crosswind.spec import fabric_of, find_experiment, load_setup

    setup = load_setup(find_experiment(file))
    resolved = setup.resolved(SEED)
    resolved["conditions"] = [carried_out(setup.condition(condition or next(iter(setup.conditions))))]
    spec = fabric_of(resolved, resolved["conditions"][0]["name"], auto_domains=auto_domains_here(resolved))
    nodes = [node["name"] for node in spec["nodes"]]
    ends = _two(between, nodes)
    if through is not None and (through not in nodes or through in ends):
        raise CrosswindError(
            f"--through {through}: a third node is needed beside {' and '.join(dict.fromkeys(ends))}; nodes "
            f"are {', '.join(nodes)}"
        )
    return with_nodes(spec, [*ends, *([through] if through is not None else [])])


def _refuse_impossible_way(
    nodes: list[str], through: str | None, tunnel: str | None, regime: str | None
) -> None:
    """Refuse what is asked for between two nodes and cannot be."""
    if through is not None and tunnel is not None:
        raise CrosswindError("--through, --tunnel: one way at a time; leave one of them out")
    if (through or tunnel) and len(nodes) == (1 if tunnel else 2):
        raise CrosswindError(f"--between {nodes[0]},{nodes[0]}: is its loopback, and nothing lies between")
    if regime is not None and (through or tunnel or len(nodes) == 1):
        raise CrosswindError(
            "--regime: is between two nodes that reach each other by the fabric alone; leave --through and "
            "--tunnel out, and name two nodes"
        )


def _told(found: Fingerprint) -> str:
    """Return a fingerprint in a few lines."""
    from crosswind.cli._bucket import bucket_text
    from crosswind.fingerprint.measure.way import way_text
    from crosswind.stats import quantile
    from crosswind.text.quantities import memory_text, rate_text, time_text

    lines = [
        f"{found.between[0]} to {found.between[1]}, {way_text(found.way.as_dict())}"
        + (f", condition {found.condition}" if found.condition is not None else "")
    ]
    if found.idle is not None:
        lines.append(f"round trips: {time_text(quantile(found.idle.round_trip_ns, 0.5))} at the median")
    if delay := found.delay_quantiles_ns():
        lines.append(
            f"delay, one way: {time_text(delay['p50'])} at the median, {time_text(delay['p99'])} at p99; "
            f"{found.lost} packets lost"
        )
    if found.loaded is not None:
        answered_ns = found.loaded.round_trip_ns
        loaded = time_text(quantile(answered_ns, 0.5)) + " at the median" if answered_ns else "no answer"
        lines.append(f"round trips beside a bulk transfer: {loaded}")
    if (bulk := found.bulk) is not None:
        lines.append(
            f"bulk transfer: {rate_text(bulk.goodput_bps)} of payload over {len(bulk.each_bps)} connections, "
            f"Jain's index {bulk.jain:.3f}, "
            f"{'no number of' if bulk.retransmits is None else bulk.retransmits} retransmissions"
        )
    for number in found.capacity:
        goodput, jain = number.summary("goodput_bps"), number.summary("jain")
        lines.append(
            f"{number.connections:4} connections: {rate_text(goodput['median'])} "
            f"({rate_text(goodput['least'])} to {rate_text(goodput['most'])}), "
            f"Jain's index {jain['median']:.3f} ({jain['least']:.3f} to {jain['most']:.3f})"
        )
    for size in found.writes:
        lines.append(
            f"writes of {memory_text(size.write_bytes):>7}: {rate_text(size.stream.goodput_bps)}, "
            f"a message and its answer {time_text(quantile(size.messages.round_trip_ns, 0.5))}"
        )
    if found.token_bucket is not None and found.trace is not None:
        lines.append(bucket_text(found.token_bucket, found.trace))
    return "\n".join(lines)


def _given(parameters: Sequence[str]) -> list[str]:
    """Return which of these options the user wrote."""
    source = click.get_current_context().get_parameter_source
    written = [name for name in parameters if source(name) is ParameterSource.COMMANDLINE]
    return [f"--{name.replace('_', '-')}" for name in written]


def _count(text: str) -> int:
    if not text.strip().isdigit() or not 1 <= int(text) <= _CONNECTIONS_MAX:
        raise ValueError(f'"{text}" is no number from 1 to {_CONNECTIONS_MAX}; write 1,5,50')
    return int(text)


def _read(option: str, read: Callable[[str], T], text: str) -> T:
    try:
        return read(text)
    except ValueError as error:
        raise CrosswindError(f"{option}: {error}") from None


def _if_given(option: str, read: Callable[[str], T], text: str | None) -> T | None:
    return None if text is None else _read(option, read, text)


def _two(between: str | None, nodes: list[str]) -> tuple[str, str]:
    """Return the two nodes that are meant; they may be one."""
    named = nodes[:2] if between is None else between.split(",")
    if len(named) != 2 or not set(named) <= set(nodes):
        said = f"--between {between}" if between is not None else f"the topology has {len(nodes)} node"
        raise CrosswindError(
            f"{said}: two nodes are needed, or one twice for its loopback; nodes are {', '.join(nodes)}"
        )
    return named[0], named[1]
