"""Own ends: nodes of a fabric that is brought up for one measurement and taken down afterwards."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from crosswind.app.nuttcp import Nuttcp
from crosswind.app.requirements.iperf3 import IPERF3
from crosswind.fingerprint.measure.crossing import Tunnel, forward, tunnelled
from crosswind.fingerprint.measure.ends import End, Ends, Tool, words_here
from crosswind.spec import FabricSpec
from crosswind.stream import Event, Step, Stream
from crosswind.testbed import Agent, Node, RunningFabric, WorkFolder, find_binary
from crosswind.testbed.binaries import LOAD
from crosswind.testbed.enter import words_to_enter

_LOOPBACK = "127.0.0.1"


@contextmanager
def own_fabric(
    spec: FabricSpec,
    tool: Tool = "traffic",
    tunnel: Tunnel | None = None,
    stream: Stream[Event] | None = None,
) -> Iterator[Ends]:
    """Bring a fabric up; its first node sends to its second one, or to itself if it is alone.

    Args:
        spec: the fabric (docs/reference/contracts.md, section 1); a third node forwards between the two.
        tunnel: to make between the two.
        stream: gets what happens in the fabric, if somebody reads it.
    Raises: CannotCross: a node cannot forward, or a tunnel cannot be made.
    """
    names = [node.name for node in spec.nodes]
    with WorkFolder() as work, Agent() as agent, RunningFabric(agent, spec, work.path / "logs") as fabric:
        fabric.measure()
        if stream is not None and stream.wants(Step):
            agent.watch(stream.publish)
        near, *others = (_end_at(fabric.nodes[name], work.path) for name in names)
        if not others:
            near = replace(near, address=_LOOPBACK)
        far = others[0] if others else near
        for middle in others[1:]:
            forward(near, far, middle)
        if tunnel is not None:
            near, far = tunnelled(near, far, tunnel)
        yield Ends(near, far, one_machine=True, tool=tool, ours=True)


def _end_at(node: Node, work: Path) -> End:
    enter = words_to_enter(node.pid)
    load = str(find_binary(LOAD))
    iperf3, nuttcp = words_here(IPERF3, "iperf3"), words_here(Nuttcp.tool, "nuttcp")
    return End(node.name, enter, node.address, load, sys.executable, iperf3, nuttcp, node.host, work)


def with_nodes(spec: FabricSpec, names: Sequence[str]) -> FabricSpec:
    """Return a fabric with only these of its nodes, each once, in this order."""
    known = {node.name: node for node in spec.nodes}
    return spec.with_changes(nodes=[known[name] for name in dict.fromkeys(names)])
