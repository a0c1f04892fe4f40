"""The queue of a direction of a link: its rate, a shaper in it, and what is dropped early."""

from __future__ import annotations

from pydantic import JsonValue

from crosswind.backends.buffers import frames_of_link, frames_that_wait
from crosswind.backends.frames import HEADER_BYTES, of_ip, of_wire
from crosswind.backends.tc import schedulers
from crosswind.backends.tc.elements import Applied, Elements
from crosswind.backends.tc.setup import Qdisc, Slot, TrafficControl
from crosswind.spec.network import Link
from crosswind.spec.resolved import number

# The bucket of a link's queue holds what the link sends in this time, or two packets: the kernel wakes up
# late.
_BUCKET_NS = 250_000


class Queues:
    """The queues of all devices; each method adds one, and returns where the next qdisc goes."""

    def __init__(self, control: TrafficControl, elements: Elements, mtu_bytes: int) -> None:
        self._control = control
        self._elements = elements
        self._mtu_bytes = mtu_bytes

    def rate(self, slot: Slot, link: Link, waiting: Applied | None, shapers: list[Applied]) -> Slot:
        """Add a link's rate, with its queue or scheduler."""
        assert link.rate_bps is not None
        rate_bps = of_wire(link.rate_bps, self._mtu_bytes)
        limit = frames_of_link(link, self._mtu_bytes)
        if waiting is not None and shapers:
            raise self._elements.refused(waiting.place, waiting.kind, "a shaper stands in the same queue")
        if waiting is not None and waiting.kind == "queue":
            limit = frames_that_wait(waiting.parameters, link.rate_bps, self._mtu_bytes, wire=True) or limit
        device, bucket = slot.device, self._bucket(rate_bps)
        if waiting is not None and waiting.parameters.get("by") == "wrr":
            queues = self._of_scheduler(waiting, link, limit)
            self._control.decides_link(link, "rate", "kernel htb", f"{device}: {rate_bps} bit/s")
            schedulers.htb(self._control, slot, rate_bps, bucket, waiting, queues)
            return slot
        self._tbf(slot, rate_bps, bucket, limit)
        how = f"{device}: {rate_bps} bit/s, bucket {bucket} B, limit {limit} B"
        self._control.decides_link(link, "rate", "kernel tbf", how)
        if waiting is not None and waiting.kind == "schedule":
            if (by := waiting.parameters.get("by")) not in schedulers.OF_ETS:
                raise self._elements.refused(waiting.place, "schedule", f"by: {by} is none of its schedulers")
            queues = self._of_scheduler(waiting, link, limit)
            schedulers.ets(self._control, slot.behind(), waiting, queues, self._mtu_bytes)
        elif waiting is not None:
            self._drop_early(slot.behind(), waiting, limit)
        return slot.behind()

    def shape(self, slot: Slot, applied: Applied) -> Slot:
        """Add a shaper."""
        parameters = applied.parameters
        if parameters.get("drop", "tail") != "tail" or parameters.get("ecn"):
            raise self._elements.refused(applied.place, "shape", "tbf drops at the tail, and marks nothing")
        rate_bps, burst = (
            of_ip(number(parameters, name) or 0, self._mtu_bytes) for name in ("rate_bps", "burst_bytes")
        )
        limit = frames_that_wait(parameters, rate_bps, self._mtu_bytes, wire=False) or (1 << 30)
        # The limit of tbf holds the bucket's packets, too.
        self._tbf(slot, rate_bps, burst, limit + burst)
        how = f"{slot.device}: {rate_bps} bit/s, bucket {burst} B, {limit} B wait"
        self._control.decides(applied, "kernel tbf", how)
        return slot.behind()

    def _bucket(self, rate_bps: int) -> int:
        return max(2 * (self._mtu_bytes + HEADER_BYTES), rate_bps * _BUCKET_NS // (8 * 10**9))

    def _tbf(self, slot: Slot, rate_bps: int, burst: int, limit: int) -> None:
        # tc shows the limit as the longest wait behind a full bucket, in us.
        limit = max(limit, burst)
        shown: dict[str, JsonValue] = {"rate": rate_bps // 8, "burst": burst}
        words = f"rate {rate_bps}bit burst {burst} limit {limit}"
        self._control.qdiscs.append(Qdisc(slot.device, slot.parent, slot.handle, "tbf", words, shown))

    def _drop_early(self, slot: Slot, applied: Applied, limit: int) -> None:
        drop = applied.parameters.get("drop", "tail")
        ecn = bool(applied.parameters.get("ecn"))
        if drop == "tail" and not ecn:
            self._control.decides(applied, "kernel tbf", f"{slot.device}: limit {limit} B")
            return
        settings = drop.get("codel") if isinstance(drop, dict) else None
        if not isinstance(settings, dict):
            raise self._elements.refused(
                applied.place, "queue", "of the policies that drop, only tail and codel are set up"
            )
        target_us, interval_us = (
            (number(settings, f"{name}_ns") or 0) // 1000 for name in ("target", "interval")
        )
        packets = max(1, limit // (self._mtu_bytes + HEADER_BYTES))
        words = f"limit {packets} target {target_us}us interval {interval_us}us {'ecn' if ecn else 'noecn'}"
        shown: dict[str, JsonValue] = {"limit": packets, "target": target_us, "interval": interval_us}
        self._control.qdiscs.append(Qdisc(slot.device, slot.parent, slot.handle, "codel", words, shown))
        self._control.decides(applied, "kernel codel", f"{slot.device}: {words}")

    def _of_scheduler(self, applied: Applied, link: Link, limit: int) -> list[schedulers.Queue]:
        given = applied.parameters.get("queues")
        queues = [queue for queue in given if isinstance(queue, dict)] if isinstance(given, list) else []
        if any(queue.get("drop", "tail") != "tail" or queue.get("ecn") for queue in queues):
            raise self._elements.refused(
                applied.place, "schedule", "its queues drop at the tail, and mark nothing"
            )
        waits = (frames_that_wait(each, link.rate_bps, self._mtu_bytes, wire=True) for each in queues)
        return [schedulers.Queue(each, wait or limit) for each, wait in zip(queues, waits, strict=True)]
