"""Rules for the faults of a timeline: each needs nodes that exist, and a state in which it does something."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from pydantic import JsonValue

from crosswind.spec.document import Path
from crosswind.spec.draft import items, sound, sound_field, value_at
from crosswind.spec.faults.keys import (
    FAULTS,
    DiskFault,
    FaultKeys,
    Isolation,
    OneWayCut,
    Partition,
    Restart,
    Squeeze,
)
from crosswind.spec.faults.node_rules import application_findings, deepest, name_findings, twice_findings
from crosswind.spec.faults.nodes import nodes_of, nodes_of_all
from crosswind.spec.network import Network
from crosswind.spec.quantities import TIME, shown
from crosswind.spec.setting import Finding, Setting

# Names of a fault, each with its place in the file.
_Named = list[tuple[str, Path]]


def fault_findings(condition: JsonValue, setting: Setting) -> Iterator[Finding]:
    """Yield what is wrong with the faults of a condition's timeline."""
    timed = [(sound(TIME.read_positive, path[-1]), path, raw) for path, raw in items(condition, "at")]
    steps = sorted((at_ns, path, raw) for at_ns, path, raw in timed if at_ns is not None) if timed else []
    state = _State(setting)
    for _, path, raw in steps:
        for inner, message in state.findings(raw):
            yield (*path, *inner), message


def has_faults(step: JsonValue) -> bool:
    """Return whether a step of a timeline, as plain values, has a fault."""
    return isinstance(step, dict) and any(key in FAULTS for key in step)


@dataclass
class _State:
    """What earlier steps did: whether something is cut, and which nodes are hit, and how."""

    setting: Setting
    is_cut: bool = False
    paused: set[str] = field(default_factory=set)
    killed: set[str] = field(default_factory=set)
    squeezed: set[str] = field(default_factory=set)
    on_a_bad_disk: set[str] = field(default_factory=set)

    def findings(self, raw: JsonValue) -> Iterator[Finding]:
        """Yield what is wrong with the faults of one step, and carry them out."""
        found = {key: sound_field(FaultKeys, key, raw) for key in FAULTS}
        if found["heal"] is not None:
            if not self.is_cut:
                yield (
                    ("heal",),
                    "ends nothing, because no earlier step cuts; write partition, isolate or cut in one",
                )
            self.is_cut = False
        for key in ("partition", "isolate", "cut"):
            if found[key] is not None:
                self.is_cut = True
                yield from self._cut(key, found[key], raw)
        for key in ("resume", "kill", "pause", "restart", "squeeze", "disk", "release"):
            if found[key] is not None:
                yield from self._nodes(key, found[key], raw)
        yield from self._at_once(found["squeeze"], "squeezes", found["release"])
        yield from self._at_once(found["disk"], "gives a bad disk", found["release"])

    def _at_once(
        self, fault: Squeeze | DiskFault | None, does: str, release: list[str] | None
    ) -> Iterator[Finding]:
        """Yield nodes that one step hits and releases."""
        if fault is None or release is None or self.setting.network is None:
            return
        released = nodes_of_all(release, self.setting.network)
        for node in nodes_of_all(fault.nodes, self.setting.network):
            if node in released:
                yield (
                    ("release",),
                    f"names {shown(node)}, which the same step {does}; release it in a later one",
                )

    def _cut(self, key: str, fault: Partition | Isolation | OneWayCut, raw: JsonValue) -> Iterator[Finding]:
        network = self.setting.network
        if network is None:
            return
        given, where = value_at(raw, key), (key,)
        match fault:
            case Partition():
                groups = [
                    _named(names, given, where, "groups", number) for number, names in enumerate(fault.groups)
                ]
                yield from _all_known([named for group in groups for named in group], network)
                seen: dict[str, str] = {}
                for group in groups:
                    yield from twice_findings(group, network, seen, "each node is in one group")
            case Isolation():
                names = _named(fault.nodes, given, where, "nodes")
                yield from _all_known(names, network)
                yield from twice_findings(names, network, {}, "each is alone once")
                if len(network.nodes) < 2:
                    yield where, "cuts nothing: the topology has one node; add nodes"
            case OneWayCut():
                ends = [
                    _named(names, given, where, side)
                    for side, names in (("from", fault.sources), ("to", fault.targets))
                ]
                for names in ends:
                    yield from _all_known(names, network)
                    yield from twice_findings(names, network, {}, "each node is once on a side")
                one, other = (nodes_of_all((name for name, _ in names), network) for names in ends)
                if one and one == other and len(one) == 1:
                    yield where, f"names {shown(one[0])} on both sides; name another node on one of them"

    def _nodes(
        self, do: str, fault: list[str] | Restart | Squeeze | DiskFault, raw: JsonValue
    ) -> Iterator[Finding]:
        network, tested = self.setting.network, self.setting.tested
        if network is None:
            return
        names = fault if isinstance(fault, list) else fault.nodes
        # A list alone is in the place of its mapping.
        inner = ("nodes",) if isinstance(value_at(raw, do), dict) else ()
        named = _named(names, value_at(raw, do), (do,), *inner)
        yield from _all_known(named, network)
        yield from twice_findings(named, network, {}, "once is enough")
        for name, path in named:
            nodes = nodes_of(name, network) or ()
            refused = [each for node in nodes for each in application_findings(do, node, path, tested)]
            refused = refused or [each for node in nodes for each in self._state_findings(do, node, path)]
            # One of them says how to write it; a host may have many nodes.
            yield from refused[:1]
        for node in nodes_of_all(names, network):
            self._carry_out(do, node)

    def _state_findings(self, do: str, node: str, path: Path) -> Iterator[Finding]:
        """Yield that a fault would do nothing to a node in its present state."""
        paused, killed = node in self.paused, node in self.killed
        match do:
            case "resume" if not paused:
                yield path, f"names {shown(node)}, which is not paused; pause it in an earlier step"
            case "pause" if paused:
                yield path, f"names {shown(node)}, which is paused already; resume it before, or remove one"
            case "pause" if killed:
                yield path, f"names {shown(node)}, which is dead; restart it in an earlier step"
            case "kill" if killed:
                yield path, f"names {shown(node)}, which is dead already; restart it before, or remove one"
            case "release" if node not in self.squeezed | self.on_a_bad_disk:
                yield (
                    path,
                    f"names {shown(node)}, which is neither squeezed nor on a bad disk; write squeeze or "
                    "disk in an earlier step",
                )

    def _carry_out(self, do: str, node: str) -> None:
        match do:
            case "resume":
                self.paused.discard(node)
            case "pause":
                self.paused.add(node)
            case "kill":
                self.paused.discard(node)
                self.killed.add(node)
            case "restart":
                self.paused.discard(node)
                self.killed.discard(node)
            case "squeeze":
                self.squeezed.add(node)
            case "disk":
                self.on_a_bad_disk.add(node)
            case "release":
                self.squeezed.discard(node)
                self.on_a_bad_disk.discard(node)


def _named(names: Sequence[str], raw: JsonValue, path: Path, *inner: str | int) -> _Named:
    """Return names with their places: of each, or of what it is written in."""
    return [(name, deepest(raw, path, *inner, number)) for number, name in enumerate(names)]


def _all_known(names: _Named, network: Network) -> Iterator[Finding]:
    for name, path in names:
        yield from name_findings(name, path, network)
