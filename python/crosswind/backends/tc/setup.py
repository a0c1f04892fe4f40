"""What is set in the kernel for a fabric under a condition."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import JsonValue

from crosswind.backends.tc.elements import Applied
from crosswind.results.measurement import Decided
from crosswind.spec.network import Link


@dataclass(frozen=True)
class Qdisc:
    """A queueing discipline.

    Attributes:
        parent: a class, or `root`.
        words: its settings, as `tc` reads them.
        shown: what `tc -j qdisc show` answers, as far as it depends on the settings.
    """

    device: str
    parent: str
    handle: str
    kind: str
    words: str
    shown: Mapping[str, JsonValue] = field(default_factory=dict)

    @property
    def module(self) -> str:
        """The kernel module that it is in."""
        return "sch_fifo" if self.kind in ("bfifo", "pfifo") else f"sch_{self.kind}"


@dataclass(frozen=True)
class Slot:
    """Where the next qdisc of a device goes.

    Attributes:
        parent: a class, or `root`.
        number: of its handle.
    """

    device: str
    parent: str
    number: int

    @property
    def handle(self) -> str:
        """The handle of what goes there."""
        return f"{self.number}:"

    def behind(self) -> Slot:
        """Return the slot in the only class of what goes there."""
        return Slot(self.device, f"{self.handle}1", self.number + 10)


@dataclass(frozen=True)
class HtbClass:
    """A class of HTB below the handle of its qdisc."""

    device: str
    parent: str
    classid: str
    words: str


@dataclass(frozen=True)
class Filter:
    """A filter of u32 with actions.

    Attributes:
        at: `ingress` or `egress` of clsact, or `parent 1:` of a qdisc with classes.
        match: of u32; everything when empty.
        actions: with what follows them; or a class.
        modules: of its actions.
    """

    device: str
    at: str
    match: str
    actions: str
    modules: tuple[str, ...] = ()


@dataclass
class TrafficControl:
    """What a condition sets, in the order in which it is set."""

    qdiscs: list[Qdisc] = field(default_factory=list)
    classes: list[HtbClass] = field(default_factory=list)
    filters: list[Filter] = field(default_factory=list)
    decided: list[Decided] = field(default_factory=list)

    def decides(self, applied: Applied, by: str, how: str) -> None:
        """Note which part of the kernel decides an element."""
        self.decided.append(Decided(place=applied.place, of=applied.of, element=applied.kind, by=by, how=how))

    def decides_link(self, link: Link, element: str, by: str, how: str) -> None:
        """Note which part of the kernel decides what a link has of its own."""
        self.decided.append(Decided(place="links", of=link.name, element=element, by=by, how=how))

    def modules(self) -> list[str]:
        """Return the kernel modules that all of it needs, sorted."""
        of_filters = {module for each in self.filters for module in each.modules}
        return sorted({qdisc.module for qdisc in self.qdiscs} | of_filters | {"sch_ingress", "cls_u32"})

    def commands(self) -> list[str]:
        """Return the commands of `tc`, without its name."""
        qdiscs = [
            f"qdisc add dev {q.device} {_at(q.parent)} handle {q.handle} {q.kind} {q.words}"
            for q in self.qdiscs
        ]
        classes = [
            f"class add dev {each.device} parent {each.parent} classid {each.classid} htb {each.words}"
            for each in self.classes
        ]
        filters = [
            f"filter add dev {each.device} {each.at} protocol ip prio {prio} u32 "
            f"match {each.match or 'u32 0 0'} {each.actions}"
            for prio, each in enumerate(self.filters, 1)
        ]
        # Leaves come after the classes that have them.
        leaves = [command for command, q in zip(qdiscs, self.qdiscs, strict=True) if q.kind == "bfifo"]
        trunks = [command for command in qdiscs if command not in leaves]
        return [*(command.rstrip() for command in (*trunks, *classes, *leaves)), *filters]


def _at(parent: str) -> str:
    return parent if parent == "root" else f"parent {parent}"
