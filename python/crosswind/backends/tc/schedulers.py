"""Several queues that share a rate: by weight with HTB, strictly or by deficit round robin with ETS."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import JsonValue

from crosswind.backends.tc.elements import Applied
from crosswind.backends.tc.setup import Filter, HtbClass, Qdisc, Slot, TrafficControl
from crosswind.spec.resolved import Parameters, number

# Orders of ETS.
OF_ETS = ("strict", "drr")


@dataclass(frozen=True)
class Queue:
    """A queue of a scheduler.

    Attributes:
        waits: bytes of frames that may wait in it.
    """

    parameters: Parameters
    waits: int

    @property
    def weight(self) -> int | None:
        """Its share, where it has one."""
        return number(self.parameters, "weight")

    @property
    def dscps(self) -> list[int]:
        """The marks of its packets; none for the queue of all others."""
        dscps = self.parameters.get("dscp")
        return [int(str(dscp)) for dscp in dscps] if isinstance(dscps, list) else []

    @property
    def takes_others(self) -> bool:
        """Whether packets of no other queue wait in it."""
        return self.parameters.get("dscp") is None


def htb(
    control: TrafficControl, slot: Slot, rate_bps: int, bucket: int, applied: Applied, queues: list[Queue]
) -> None:
    """Add a class for each queue, with its share of the rate."""
    device, handle = slot.device, slot.handle
    others = next(place for place, queue in enumerate(queues, 1) if queue.takes_others)
    shown: dict[str, JsonValue] = {"default": f"{others:#x}"}
    control.qdiscs.append(Qdisc(device, slot.parent, handle, "htb", f"default {others}", shown))
    whole = sum(queue.weight or 0 for queue in queues)
    top, most = f"{handle}99", f"ceil {rate_bps}bit burst {bucket} cburst {bucket}"
    control.classes.append(HtbClass(device, handle, top, f"rate {rate_bps}bit {most}"))
    said = []
    for place, queue in enumerate(queues, 1):
        words = f"rate {rate_bps * (queue.weight or 0) // whole}bit {most}"
        control.classes.append(HtbClass(device, top, f"{handle}{place}", words))
        _leaf(control, slot, place, queue)
        said.append(f"class {handle}{place}: {words}, {queue.waits} B wait")
    control.decides(applied, "kernel htb", f"{device}: {'; '.join(said)}")


def ets(control: TrafficControl, slot: Slot, applied: Applied, queues: list[Queue], mtu_bytes: int) -> None:
    """Add a band for each queue."""
    others = next(place for place, queue in enumerate(queues) if queue.takes_others)
    words = f"bands {len(queues)} "
    shown: dict[str, JsonValue] = {"bands": len(queues)}
    if applied.parameters.get("by") == "strict":
        words += f"strict {len(queues)} "
        shown["strict"] = len(queues)
    else:
        quanta = [(queue.weight or 1) * mtu_bytes for queue in queues]
        words += f"quanta {' '.join(map(str, quanta))} "
        shown["quanta"] = list(quanta)
    # What no filter takes goes by its priority, and all 16 of them lead to this band.
    words += f"priomap {' '.join([str(others)] * 16)}"
    control.qdiscs.append(Qdisc(slot.device, slot.parent, slot.handle, "ets", words, shown))
    for place, queue in enumerate(queues, 1):
        _leaf(control, slot, place, queue)
    control.decides(applied, "kernel ets", f"{slot.device}: {words}")


def _leaf(control: TrafficControl, slot: Slot, place: int, queue: Queue) -> None:
    """Add the queue itself below its class or band, and the filters that choose it."""
    classid, waits = f"{slot.handle}{place}", queue.waits
    handle = f"{slot.number + place + 100:x}:"
    leaf = Qdisc(slot.device, classid, handle, "bfifo", f"limit {waits}", {"limit": waits})
    control.qdiscs.append(leaf)
    for dscp in queue.dscps:
        match = f"ip dsfield {dscp << 2:#x} 0xfc"
        control.filters.append(Filter(slot.device, f"parent {slot.handle}", match, f"flowid {classid}"))
