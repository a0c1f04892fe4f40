"""From a condition to queueing disciplines and filters of the kernel.

A direction of a link has at most, from the root down: netem for what delays and loses, then a queue with the
link's rate, in it a shaper of its own or a scheduler. Meters and marks are filters in front of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pydantic import JsonValue

from crosswind.backends.buffers import frames_of_link, frames_that_wait
from crosswind.backends.frames import HEADER_BYTES, of_ip, of_wire
from crosswind.backends.refusals import NotCarried
from crosswind.backends.tc import netem
from crosswind.backends.tc.devices import Devices
from crosswind.backends.tc.setup import Filter, HtbClass, Qdisc, TrafficControl
from crosswind.results.measurement import Decided
from crosswind.spec import FabricCondition, FabricSpec
from crosswind.spec.network import Link
from crosswind.spec.resolved import Parameters, number, restricted_to

_MARKS_AND_METERS = ("police", "mark")
_QUEUES = ("queue", "schedule")
_KINDS = (*netem.KINDS, *_MARKS_AND_METERS, *_QUEUES, "shape")
# The bucket of a link's queue holds what the link sends in this time, or two packets: the kernel wakes up
# late.
_BUCKET_NS = 250_000


def control_of(spec: FabricSpec, condition: FabricCondition, devices: Devices) -> TrafficControl:
    """Return what a condition sets.

    Raises: NotCarried: the kernel has nothing for an element.
    """
    return _Mapping(spec, condition, devices).control()


@dataclass(frozen=True)
class _Applied:
    place: str
    of: str
    kind: str
    parameters: Parameters


class _Mapping:
    def __init__(self, spec: FabricSpec, condition: FabricCondition, devices: Devices) -> None:
        self._mtu_bytes = spec.mtu_bytes
        self._condition = condition
        self._devices = devices
        self._stations = devices.stations
        self._control = TrafficControl()
        self._elements = list(self._applied())

    def control(self) -> TrafficControl:
        network = self._stations.network
        for host in self._devices.hosts:
            up, down = network.uplinks[host], network.downlinks[host]
            self._queue(self._devices.uplink(host), up, [("host.egress", host), ("link", up.name)])
            self._queue(self._devices.downlink(host), down, [("link", down.name), ("switch.egress", host)])
            self._filter(self._devices.downlink(host), "ingress", "switch.ingress", host)
            self._filter(self._devices.downlink(host), "egress", "switch.egress", host)
            for node in self._stations.on(host):
                self._queue(node.port, None, [("host.ingress", node.name)])
                self._filter(node.port, "egress", "host.ingress", node.name)
                self._filter(node.port, "ingress", "host.egress", node.name)
                self._redirect(host, node.port, node.ip)
        return self._control

    def _redirect(self, host: str, port: str, ip: str) -> None:
        """Add the ways between a node's port and its host's end of the link."""
        up, modules = self._devices.uplink(host), ("act_mirred",)
        for other in self._stations.on(host):
            if other.port != port:
                # A match without an action lets the packet go on to the routes.
                self._control.filters.append(Filter(port, "ingress", f"ip dst {other.ip}/32", "flowid 1:1"))
        away = f"action mirred egress redirect dev {up}"
        self._control.filters.append(Filter(port, "ingress", "", away, modules))
        home = f"action mirred egress redirect dev {port}"
        self._control.filters.append(Filter(up, "ingress", f"ip dst {ip}/32", home, modules))

    def _applied(self) -> Iterator[_Applied]:
        for place, elements in self._condition.places.items():
            for element in elements:
                for kind, parameters in element.items():
                    self._check(place, kind)
                    for of in self._of(place, kind, parameters):
                        yield _Applied(place, of, kind, parameters)

    def _check(self, place: str, kind: str) -> None:
        if kind not in _KINDS:
            raise self._refused(place, kind, f"the kernel's traffic control has no {kind}")
        if kind not in _MARKS_AND_METERS and place == "switch.ingress":
            raise self._refused(place, kind, "nothing waits where packets enter a device")
        if kind in _MARKS_AND_METERS and place == "link":
            raise self._refused(
                place, kind, "filters stand at ports; write it at switch.ingress or host.ingress"
            )

    def _of(self, place: str, kind: str, parameters: Parameters) -> list[str]:
        """Return where an element is: nodes, hosts, or names of links."""
        if place == "link":
            on = restricted_to(parameters)
            return [
                link.name
                for link in self._stations.network.links
                if on is None or {link.name, link.source, link.target} & {*on}
            ]
        named = self._stations.named(place, parameters)
        if place != "host.egress" or kind in _MARKS_AND_METERS:
            return named
        hosts = list(dict.fromkeys(node.host for node in self._stations.nodes if node.name in named))
        shared = next((host for host in hosts if len(self._stations.on(host)) > 1), None)
        if shared is not None and kind not in _QUEUES:
            why = f"nodes of {shared} share one queue; give each node a host of its own"
            raise self._refused(place, kind, why)
        return hosts

    def _refused(self, place: str, kind: str, why: str) -> NotCarried:
        return NotCarried.element("tc", self._condition.name, place, kind, why, "crosswind")

    def _at(self, place: str, of: str, *kinds: str) -> list[_Applied]:
        return [
            each for each in self._elements if (each.place, each.of) == (place, of) and each.kind in kinds
        ]

    # --- filters -------------------------------------------------------------------------------------------

    def _filter(self, device: str, at: str, place: str, of: str) -> None:
        for applied in self._at(place, of, *_MARKS_AND_METERS):
            if applied.kind == "mark":
                dscp = number(applied.parameters, "dscp") or 0
                modules: tuple[str, ...] = ("act_pedit", "act_csum")
                # The header's checksum follows the mark.
                marked = f"action pedit ex munge ip dsfield set {dscp << 2:#x} retain 0xfc pipe"
                actions = f"{marked} action csum ip continue"
            else:
                rate_bps, burst_bytes = (
                    number(applied.parameters, name) or 0 for name in ("rate_bps", "burst_bytes")
                )
                frames_bps, frames_bytes = (of_ip(it, self._mtu_bytes) for it in (rate_bps, burst_bytes))
                modules = ("act_police",)
                actions = (
                    f"action police rate {frames_bps}bit burst {frames_bytes} conform-exceed drop/continue"
                )
            self._control.filters.append(Filter(device, at, "", actions, modules))
            self._decided(applied, f"kernel u32 filter with {modules[0]}", f"{device} {at}: {actions}")

    # --- queues --------------------------------------------------------------------------------------------

    def _queue(self, device: str, link: Link | None, places: list[tuple[str, str]]) -> None:
        """Add the qdiscs of a device.

        Args:
            link: that begins there.
            places: whose elements stand there, with their owners.
        """
        parent, free = "root", 1
        impaired = netem.Netem()
        if link is not None:
            if link.jitter_ns or link.loss_ppb:
                raise NotCarried.part(
                    "tc", f"link {link.name}: jitter or loss", "write it as an element at link"
                )
            impaired.delay(link.delay_ns)
        elements = [each for place, of in places for each in self._at(place, of, *netem.KINDS)]
        for applied in elements:
            try:
                impaired.add(applied.kind, applied.parameters)
            except netem.CannotSay as why:
                raise self._refused(applied.place, applied.kind, str(why)) from None
        if impaired.is_needed:
            self._add(Qdisc(device, parent, f"{free}:", "netem", impaired.words, impaired.shown))
            for applied in elements:
                self._decided(applied, "kernel netem", f"{device}: {impaired.words}")
            if link is not None and link.delay_ns:
                self._of_link(link, "delay", "kernel netem", f"{device}: delay {link.delay_ns} ns")
            parent, free = "1:1", 10
        found = [each for place, of in places for each in self._at(place, of, *_QUEUES, "shape")]
        queues = [each for each in found if each.kind in _QUEUES]
        shapers = [each for each in found if each.kind == "shape"]
        if link is not None and link.rate_bps is not None:
            parent, free = self._rate(device, link, parent, free, queues[-1] if queues else None, shapers)
        elif queues:
            raise self._refused(queues[-1].place, queues[-1].kind, "its link has no rate, so nothing waits")
        for applied in shapers:
            parent, free = self._shape(device, applied, parent, free)

    def _rate(
        self,
        device: str,
        link: Link,
        parent: str,
        free: int,
        waiting: _Applied | None,
        shapers: list[_Applied],
    ) -> tuple[str, int]:
        """Add the link's rate with its queue; return where the next qdisc goes."""
        assert link.rate_bps is not None
        rate_bps = of_wire(link.rate_bps, self._mtu_bytes)
        limit = frames_of_link(link, self._mtu_bytes)
        if waiting is not None and shapers:
            raise self._refused(waiting.place, waiting.kind, "a shaper stands in the same queue")
        if waiting is not None and waiting.kind == "queue":
            limit = frames_that_wait(waiting.parameters, link.rate_bps, self._mtu_bytes, wire=True) or limit
        if waiting is not None and waiting.parameters.get("by") == "wrr":
            self._htb(device, link, rate_bps, limit, parent, free, waiting)
            return "", free
        handle, bucket = f"{free}:", self._bucket(rate_bps)
        self._tbf(device, parent, handle, rate_bps, bucket, limit)
        self._of_link(
            link, "rate", "kernel tbf", f"{device}: {rate_bps} bit/s, bucket {bucket} B, limit {limit} B"
        )
        if waiting is not None and waiting.kind == "schedule":
            self._ets(device, waiting, f"{handle}1", free + 10, link, limit)
        elif waiting is not None:
            self._drop_early(device, waiting, f"{handle}1", free + 10, limit)
        return f"{handle}1", free + 10

    def _bucket(self, rate_bps: int) -> int:
        return max(2 * (self._mtu_bytes + HEADER_BYTES), rate_bps * _BUCKET_NS // (8 * 10**9))

    def _tbf(self, device: str, parent: str, handle: str, rate_bps: int, burst: int, limit: int) -> None:
        # tc shows the limit as the longest wait behind a full bucket, in us.
        limit = max(limit, burst)
        shown: dict[str, JsonValue] = {"rate": rate_bps // 8, "burst": burst}
        self._add(
            Qdisc(device, parent, handle, "tbf", f"rate {rate_bps}bit burst {burst} limit {limit}", shown)
        )

    def _shape(self, device: str, applied: _Applied, parent: str, free: int) -> tuple[str, int]:
        parameters = applied.parameters
        if parameters.get("drop", "tail") != "tail" or parameters.get("ecn"):
            raise self._refused(applied.place, "shape", "tbf drops at the tail, and marks nothing")
        rate_bps, burst = (
            of_ip(number(parameters, name) or 0, self._mtu_bytes) for name in ("rate_bps", "burst_bytes")
        )
        limit = frames_that_wait(parameters, rate_bps, self._mtu_bytes, wire=False) or (1 << 30)
        # The limit of tbf holds the bucket's packets, too.
        self._tbf(device, parent, f"{free}:", rate_bps, burst, limit + burst)
        self._decided(applied, "kernel tbf", f"{device}: {rate_bps} bit/s, bucket {burst} B, {limit} B wait")
        return f"{free}:1", free + 10

    def _drop_early(self, device: str, applied: _Applied, parent: str, free: int, limit: int) -> None:
        drop = applied.parameters.get("drop", "tail")
        ecn = bool(applied.parameters.get("ecn"))
        if drop == "tail" and not ecn:
            self._decided(applied, "kernel tbf", f"{device}: limit {limit} B")
            return
        settings = drop.get("codel") if isinstance(drop, dict) else None
        if not isinstance(settings, dict):
            raise self._refused(
                applied.place, "queue", "of the policies that drop, only tail and codel are set up"
            )
        target_us, interval_us = (
            (number(settings, f"{name}_ns") or 0) // 1000 for name in ("target", "interval")
        )
        packets = max(1, limit // (self._mtu_bytes + HEADER_BYTES))
        words = f"limit {packets} target {target_us}us interval {interval_us}us {'ecn' if ecn else 'noecn'}"
        shown: dict[str, JsonValue] = {"limit": packets, "target": target_us, "interval": interval_us}
        self._add(Qdisc(device, parent, f"{free}:", "codel", words, shown))
        self._decided(applied, "kernel codel", f"{device}: {words}")

    def _htb(
        self, device: str, link: Link, rate_bps: int, limit: int, parent: str, free: int, applied: _Applied
    ) -> None:
        queues, handle = self._queues(applied), f"{free}:"
        others = next(place for place, queue in enumerate(queues, 1) if queue.get("dscp") is None)
        self._add(Qdisc(device, parent, handle, "htb", f"default {others}", {"default": f"{others:#x}"}))
        whole = sum(number(queue, "weight") or 0 for queue in queues)
        top = f"{handle}99"
        bucket = self._bucket(rate_bps)
        self._control.classes.append(
            HtbClass(
                device, handle, top, f"rate {rate_bps}bit ceil {rate_bps}bit burst {bucket} cburst {bucket}"
            )
        )
        said = []
        for place, queue in enumerate(queues, 1):
            least_bps = rate_bps * (number(queue, "weight") or 0) // whole
            waits = frames_that_wait(queue, link.rate_bps, self._mtu_bytes, wire=True) or limit
            words = f"rate {least_bps}bit ceil {rate_bps}bit burst {bucket} cburst {bucket}"
            self._control.classes.append(HtbClass(device, top, f"{handle}{place}", words))
            leaf = Qdisc(
                device,
                f"{handle}{place}",
                f"{free + place + 100:x}:",
                "bfifo",
                f"limit {waits}",
                {"limit": waits},
            )
            self._add(leaf)
            self._choose(device, handle, f"{handle}{place}", queue)
            said.append(f"class {handle}{place}: {words}, {waits} B wait")
        self._of_link(link, "rate", "kernel htb", f"{device}: {rate_bps} bit/s")
        self._decided(applied, "kernel htb", f"{device}: {'; '.join(said)}")

    def _ets(self, device: str, applied: _Applied, parent: str, free: int, link: Link, limit: int) -> None:
        by, queues, handle = applied.parameters.get("by"), self._queues(applied), f"{free}:"
        if by not in ("strict", "drr"):
            raise self._refused(applied.place, "schedule", f"by: {by} is none of its schedulers")
        others = next(place for place, queue in enumerate(queues) if queue.get("dscp") is None)
        # What no filter takes goes by its priority, and all 16 of them lead to this band.
        words = f"bands {len(queues)} "
        shown: dict[str, JsonValue] = {"bands": len(queues)}
        if by == "strict":
            words += f"strict {len(queues)} "
            shown["strict"] = len(queues)
        else:
            quanta = [(number(queue, "weight") or 1) * self._mtu_bytes for queue in queues]
            words += f"quanta {' '.join(map(str, quanta))} "
            shown["quanta"] = list(quanta)
        words += f"priomap {' '.join([str(others)] * 16)}"
        self._add(Qdisc(device, parent, handle, "ets", words, shown))
        for place, queue in enumerate(queues, 1):
            waits = frames_that_wait(queue, link.rate_bps, self._mtu_bytes, wire=True) or limit
            self._add(
                Qdisc(
                    device,
                    f"{handle}{place}",
                    f"{free + place + 100:x}:",
                    "bfifo",
                    f"limit {waits}",
                    {"limit": waits},
                )
            )
            self._choose(device, handle, f"{handle}{place}", queue)
        self._decided(applied, "kernel ets", f"{device}: {words}")

    def _queues(self, applied: _Applied) -> list[dict[str, JsonValue]]:
        given = applied.parameters.get("queues")
        queues = [queue for queue in given if isinstance(queue, dict)] if isinstance(given, list) else []
        if any(queue.get("drop", "tail") != "tail" or queue.get("ecn") for queue in queues):
            raise self._refused(applied.place, "schedule", "its queues drop at the tail, and mark nothing")
        return queues

    def _choose(self, device: str, handle: str, classid: str, queue: dict[str, JsonValue]) -> None:
        dscps = queue.get("dscp")
        for dscp in dscps if isinstance(dscps, list) else []:
            match = f"ip dsfield {int(str(dscp)) << 2:#x} 0xfc"
            self._control.filters.append(Filter(device, f"parent {handle}", match, f"flowid {classid}"))

    def _add(self, qdisc: Qdisc) -> None:
        self._control.qdiscs.append(qdisc)

    def _of_link(self, link: Link, element: str, by: str, how: str) -> None:
        self._control.decided.append(Decided(place="links", of=link.name, element=element, by=by, how=how))

    def _decided(self, applied: _Applied, by: str, how: str) -> None:
        self._control.decided.append(
            Decided(place=applied.place, of=applied.of, element=applied.kind, by=by, how=how)
        )
