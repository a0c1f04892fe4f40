"""Read the options of `crosswind fingerprint`, and run the measurement."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click
from click.core import ParameterSource

from crosswind.cli._machine import require_writable
from crosswind.errors import CrosswindError

if TYPE_CHECKING:
    from rich.status import Status

    from crosswind.fingerprint.fingerprint import Extent
    from crosswind.fingerprint.measure.crossing import Tunnel
    from crosswind.fingerprint.measure.ends import Network, Tool
    from crosswind.fingerprint.measure.machines import Bounds
    from crosswind.fingerprint.regime.record import Header
    from crosswind.spec import FabricSpec
    from crosswind.spec.network import Network as Graph
    from crosswind.stream import Event, Stream

# Seed of the network; fixed, so that two fingerprints do not differ because of it.
SEED = 1
# Limit of `crosswind-load traffic` between two nodes.
_CONNECTIONS_MAX = 1000

# Default limit on an existing network, which others use and which may cost money.
_OTHERS_MOST_BYTES = 10_000_000_000

# Options that measurements of a testbed's machines have; the others are of two ends.
_OF_TESTBEDS = ("testbed", "connections", "repeat", "send_at_most", "regime", "wanted", "out")

# Options that only a fingerprint has, and a regime does not.
_OF_FINGERPRINTS = ("full_speed", "rest", "connections", "repeat", "writes", "console")

T = TypeVar("T")


@dataclass(frozen=True)
class Asked:
    """The options, as they were written."""

    file: str | None
    condition: str | None
    between: str | None
    through: str | None
    tunnel: Tunnel | None
    near: str
    far: str | None
    address: str | None
    tool: Tool | None
    cloud: bool
    full_speed: str
    rest: str
    connections: str
    repeat: int
    writes: str
    send_at_most: str | None
    console: bool
    bounds: Bounds
    regime: str | None
    wanted: str | None
    point: str | None
    testbed: Path | None
    out: Path | None


@dataclass(frozen=True)
class _Target:
    """A network that can be measured.

    Attributes:
        condition: that it emulates; None for an existing network.
        header_of: returns the header of a regime from the arguments of the regime.
        most_bytes: default limit of the payload to send; None is no limit.
        graph: the network, where it is made of a file.
    """

    network: Network
    condition: str | None
    header_of: Callable[..., Header]
    most_bytes: int | None
    graph: Graph | None = None


def take(asked: Asked) -> None:
    """Measure a fingerprint or a regime into a file, and print it."""
    from crosswind.spec.quantities import SIZE, TIME
    from crosswind.stream import Event, Stream

    extent = _extent(asked)
    most_bytes = _if_given("--send-at-most", SIZE.read_positive, asked.send_at_most)
    wanted_ns = _if_given("--for", TIME.read_positive, asked.wanted)
    point_ns = _if_given("--point", TIME.read_positive, asked.point)
    _refuse_what_is_of_the_other(asked)
    if asked.testbed is not None:
        _measure_testbed(asked, asked.testbed, extent, most_bytes, wanted_ns)
        return
    stream = Stream[Event]()
    target = _target(asked, stream)
    most_bytes = target.most_bytes if most_bytes is None else most_bytes
    out = asked.out or Path("fingerprint.json" if asked.regime is None else "regime.jsonl")
    if out.is_dir():
        raise CrosswindError(f"--out {out}: is a folder; name a file")
    require_writable(out, "name a file that you may write with --out")
    if asked.regime is None:
        _measure(asked, target, extent, out, most_bytes, stream)
        return
    from crosswind.cli._regime import measure_regime

    measure_regime(
        target.network,
        target.header_of,
        asked.regime,
        wanted_ns,
        point_ns,
        out,
        most_bytes,
        SEED,
        asked.bounds,
    )


def _measure(
    asked: Asked, target: _Target, extent: Extent, out: Path, most_bytes: int | None, stream: Stream[Event]
) -> None:
    """Measure a fingerprint; write what was measured, even if it ends early."""
    from rich.console import Console

    from crosswind.analysis.network.document import text_of
    from crosswind.cli._fingerprint_text import fingerprint_text
    from crosswind.fingerprint.fingerprint import begin, measure
    from crosswind.fingerprint.measure.sent_bytes import SentBytes
    from crosswind.results.durable import write_text
    from crosswind.stream import FingerprintBegun, FingerprintEnded, MeasurementBegun

    with _in_browser_if(asked.console, target, stream), Console(stderr=True).status("") as status:

        def publish(event: Event) -> None:
            if isinstance(event, MeasurementBegun):
                status.update(event.name)
            stream.publish(event)

        sent = SentBytes(most_bytes, *([partial(_allows, status)] if asked.send_at_most is None else []))
        found = begin(target.network, target.condition, SEED, sent, asked.bounds, cloud=asked.cloud)
        count = extent.measurements + (most_bytes is not None)
        publish(FingerprintBegun(between=found.between, condition=found.condition, measurements=count))
        try:
            measure(found, target.network, extent, publish)
        except BaseException as error:
            found.ended = str(error) or "interrupted"
            raise
        finally:
            publish(FingerprintEnded(reason=found.ended))
            write_text(out, text_of(found.document()))
            click.echo(fingerprint_text(found))
            click.echo(f"fingerprint: {out}" + (", as far as it was measured" if found.ended else ""))


def _measure_testbed(
    asked: Asked, file: Path, extent: Extent, most_bytes: int | None, wanted_ns: int | None
) -> None:
    """Measure between all machines of a testbed."""
    from crosswind.cli._between import measure_over_days, measure_testbed
    from crosswind.fingerprint.between.all_pairs import PairExtent

    others = [name for name in click.get_current_context().params if name not in _OF_TESTBEDS]
    if given := _given(others):
        raise CrosswindError(
            f"--testbed: measures between the machines of its file; leave {', '.join(given)} out"
        )
    most_bytes = _OTHERS_MOST_BYTES if most_bytes is None else most_bytes
    if asked.regime is not None:
        measure_over_days(file, asked.regime, wanted_ns, asked.out, most_bytes, SEED)
        return
    usual = PairExtent()
    pairs = PairExtent(
        connections=extent.connections if _given(["connections"]) else usual.connections,
        repetitions=extent.repetitions if _given(["repeat"]) else usual.repetitions,
    )
    measure_testbed(file, pairs, asked.out, most_bytes, SEED)


@contextmanager
def _in_browser_if(wanted: bool, target: _Target, stream: Stream[Event]) -> Iterator[None]:
    """Serve the page of a fingerprint while the block runs, and print its address, if that is wanted."""
    if not wanted:
        yield
        return
    from crosswind.console import FingerprintConsole

    with FingerprintConsole(target.graph, stream) as shown:
        click.echo(f"console: {shown.url}", err=True)
        try:
            yield
        finally:
            stream.end()


def _extent(asked: Asked) -> Extent:
    from crosswind.fingerprint.fingerprint import Extent
    from crosswind.spec.quantities import SIZE, TIME

    return Extent(
        _read("--full-speed", TIME.read_positive, asked.full_speed) / 1e9,
        _read("--rest", TIME.read_positive, asked.rest) / 1e9,
        [_read("--connections", _count, number) for number in asked.connections.split(",")],
        asked.repeat,
        [_read("--writes", SIZE.read_positive, size) for size in asked.writes.split(",")],
    )


def _refuse_what_is_of_the_other(asked: Asked) -> None:
    """Refuse options that the other kind of measurement has."""
    if asked.regime is None:
        if asked.wanted is not None or asked.point is not None:
            raise CrosswindError("--for, --point: only for a regime; add --regime, such as --regime 10-30")
        return
    if asked.tool not in (None, "traffic") or asked.cloud:
        raise CrosswindError(
            "--regime: only traffic reports what arrives point by point; leave --tool and --cloud out"
        )
    if given := _given(_OF_FINGERPRINTS):
        raise CrosswindError(
            f"{', '.join(given)}: only for a fingerprint, which --regime replaces; leave them out"
        )


def _target(asked: Asked, stream: Stream[Event]) -> _Target:
    """Return the network that the options select."""
    if asked.address is not None:
        return _there(asked, asked.address)
    if asked.file is not None and not asked.near and asked.far is None:
        return _made(asked, asked.file, stream)
    raise CrosswindError("no network: write either FILE, or --far WORDS and --to ADDRESS")


def _there(asked: Asked, address: str) -> _Target:
    """Return an existing network, between two ends that can run commands."""
    from crosswind.cli._regime import header_of_ends
    from crosswind.fingerprint.measure.other_ends import as_they_are, other_ends

    of_file = (asked.file, asked.condition, asked.between, asked.through, asked.tunnel)
    if asked.far is None or any(given is not None for given in of_file):
        raise CrosswindError(
            "--to ADDRESS: measures an existing network; it needs --far WORDS, and no FILE, --condition, "
            "--between, --through or --tunnel"
        )
    ends = other_ends(asked.near, asked.far, address, asked.tool)
    if asked.regime is not None and ends.tool != "traffic":
        raise CrosswindError(
            f"--regime: {ends.near.name} and {ends.far.name} do not share this machine's clock and "
            "files, through which traffic reports what arrives point by point; measure between ends of one "
            "machine"
        )
    words = (asked.near, asked.far, address)
    return _Target(partial(as_they_are, ends), None, partial(header_of_ends, ends, words), _OTHERS_MOST_BYTES)


def _made(asked: Asked, file: str, stream: Stream[Event]) -> _Target:
    """Return the network of a file, which is brought up for each measurement and tells what happens in it."""
    from crosswind.fingerprint.measure.own_ends import own_fabric
    from crosswind.fingerprint.regime.record import Header

    spec, graph = _fabric(file, asked.condition, asked.between, asked.through)
    _refuse_impossible_way([node.name for node in spec.nodes], asked.through, asked.tunnel, asked.regime)
    network = partial(own_fabric, spec, asked.tool or "traffic", asked.tunnel, stream)
    return _Target(network, spec.condition.name, partial(Header.of, spec), None, graph)


def _fabric(
    file: str, condition: str | None, between: str | None, through: str | None
) -> tuple[FabricSpec, Graph]:
    """Return the fabric of a file with the two selected nodes, and the one between them, if any."""
    from crosswind.doctor import auto_domains_here
    from crosswind.fingerprint.measure.own_ends import with_nodes
    from crosswind.spec import carried_out, fabric_of, find_experiment, load_setup
    from crosswind.spec.network import Network as Graph

    setup = load_setup(find_experiment(file))
    if setup.dilations:
        raise CrosswindError(
            f"{file}: time: a fingerprint is measured in real time; remove `time`, which changes nothing of "
            "the network"
        )
    meant = carried_out(setup.condition(condition or next(iter(setup.conditions))))
    resolved = setup.resolved(SEED).under(meant)
    spec = fabric_of(resolved, meant.name, auto_domains=auto_domains_here(resolved))
    nodes = [node.name for node in spec.nodes]
    ends = _two(between, nodes)
    if through is not None and (through not in nodes or through in ends):
        raise CrosswindError(
            f"--through {through}: must be a third node besides {' and '.join(dict.fromkeys(ends))}; nodes "
            f"are {', '.join(nodes)}"
        )
    spec = with_nodes(spec, [*ends, *([through] if through is not None else [])])
    graph = Graph.of(resolved.topology)
    return spec, replace(graph, nodes={node.name: node.host for node in spec.nodes})


def _two(between: str | None, nodes: list[str]) -> tuple[str, str]:
    """Return the two selected nodes, which may be the same."""
    named = nodes[:2] if between is None else between.split(",")
    if len(named) != 2 or not set(named) <= set(nodes):
        said = f"--between {between}" if between is not None else f"the topology has {len(nodes)} node"
        raise CrosswindError(
            f"{said}: name two nodes, or one twice for its loopback; nodes are {', '.join(nodes)}"
        )
    return named[0], named[1]


def _refuse_impossible_way(
    nodes: list[str], through: str | None, tunnel: str | None, regime: str | None
) -> None:
    """Refuse combinations of options that are impossible between two nodes."""
    if through is not None and tunnel is not None:
        raise CrosswindError("--through, --tunnel: cannot be combined; leave one of them out")
    if (through or tunnel) and len(nodes) == (1 if tunnel else 2):
        raise CrosswindError(
            f"--between {nodes[0]},{nodes[0]}: is its loopback, with no node or tunnel between"
        )
    if regime is not None and (through or tunnel or len(nodes) == 1):
        raise CrosswindError(
            "--regime: needs two different nodes, connected directly by the fabric; leave --through and "
            "--tunnel out, and name two nodes"
        )


def _allows(status: Status, exceeds: str) -> bool:
    """Ask the user to allow more than the limit; False without a terminal."""
    if not sys.stdin.isatty():
        return False
    status.stop()
    try:
        return click.confirm(f"{exceeds}. Send it anyway?", err=True)
    finally:
        status.start()


def _given(parameters: Sequence[str]) -> list[str]:
    """Return which of these options the user wrote."""
    context = click.get_current_context()
    written = [
        parameter
        for parameter in context.command.params
        if parameter.name in parameters
        and context.get_parameter_source(parameter.name) is ParameterSource.COMMANDLINE
    ]
    return [
        parameter.opts[0] if isinstance(parameter, click.Option) else parameter.human_readable_name
        for parameter in written
    ]


def _count(text: str) -> int:
    if not text.strip().isdigit() or not 1 <= int(text) <= _CONNECTIONS_MAX:
        raise ValueError(f'"{text}" is not a number from 1 to {_CONNECTIONS_MAX}; write such as 1,5,50')
    return int(text)


def _read(option: str, read: Callable[[str], T], text: str) -> T:
    try:
        return read(text)
    except ValueError as error:
        raise CrosswindError(f"{option}: {error}") from None


def _if_given(option: str, read: Callable[[str], T], text: str | None) -> T | None:
    return None if text is None else _read(option, read, text)
