"""From a condition to queueing disciplines and filters of the kernel.

A direction of a link has at most, from the root down: netem for what delays and loses, then a queue with the
link's rate, in it a shaper of its own or a scheduler. Meters and marks are filters in front of it.
"""

from __future__ import annotations

from crosswind.backends.refusals import NotCarried
from crosswind.backends.tc import filters, netem
from crosswind.backends.tc.devices import Devices
from crosswind.backends.tc.elements import MARKS_AND_METERS, QUEUES, Elements
from crosswind.backends.tc.queues import Queues
from crosswind.backends.tc.setup import Qdisc, Slot, TrafficControl
from crosswind.spec import FabricCondition, FabricSpec
from crosswind.spec.network import Link


def control_of(spec: FabricSpec, condition: FabricCondition, devices: Devices) -> TrafficControl:
    """Return what a condition sets.

    Raises: NotCarried: the kernel has nothing for an element.
    """
    return _Mapping(spec, condition, devices).control()


class _Mapping:
    def __init__(self, spec: FabricSpec, condition: FabricCondition, devices: Devices) -> None:
        self._mtu_bytes = spec.mtu_bytes
        self._devices = devices
        self._control = TrafficControl()
        self._elements = Elements(condition, devices.stations)
        self._queues = Queues(self._control, self._elements, spec.mtu_bytes)

    def control(self) -> TrafficControl:
        stations = self._devices.stations
        for host in self._devices.hosts:
            up, down = stations.network.uplinks[host], stations.network.downlinks[host]
            self._direction(self._devices.uplink(host), up, [("host.egress", host), ("link", up.name)])
            self._direction(
                self._devices.downlink(host), down, [("link", down.name), ("switch.egress", host)]
            )
            self._filter(self._devices.downlink(host), "ingress", "switch.ingress", host)
            self._filter(self._devices.downlink(host), "egress", "switch.egress", host)
            nodes = stations.on(host)
            for node in nodes:
                self._direction(node.port, None, [("host.ingress", node.name)])
                self._filter(node.port, "egress", "host.ingress", node.name)
                self._filter(node.port, "ingress", "host.egress", node.name)
                others = [other for other in nodes if other.port != node.port]
                filters.redirect(self._control, self._devices.uplink(host), node, others)
        return self._control

    def _filter(self, device: str, at: str, place: str, of: str) -> None:
        for applied in self._elements.at(place, of, *MARKS_AND_METERS):
            filters.mark_or_meter(self._control, device, at, applied, self._mtu_bytes)

    def _direction(self, device: str, link: Link | None, places: list[tuple[str, str]]) -> None:
        """Add the qdiscs of a device.

        Args:
            link: that begins there.
            places: whose elements stand there, with their owners.
        """
        slot = self._impaired(device, link, places)
        found = [each for place, of in places for each in self._elements.at(place, of, *QUEUES, "shape")]
        queues = [each for each in found if each.kind in QUEUES]
        shapers = [each for each in found if each.kind == "shape"]
        if link is not None and link.rate_bps is not None:
            slot = self._queues.rate(slot, link, queues[-1] if queues else None, shapers)
        elif queues:
            raise self._elements.refused(
                queues[-1].place, queues[-1].kind, "its link has no rate, so nothing waits"
            )
        for applied in shapers:
            slot = self._queues.shape(slot, applied)

    def _impaired(self, device: str, link: Link | None, places: list[tuple[str, str]]) -> Slot:
        """Add netem where something delays or loses; return where the next qdisc goes."""
        root = Slot(device, "root", 1)
        impaired = netem.Netem()
        if link is not None:
            if link.jitter_ns or link.loss_ppb:
                raise NotCarried.part(
                    "tc", f"link {link.name}: jitter or loss", "write it as an element at link"
                )
            impaired.delay(link.delay_ns)
        elements = [each for place, of in places for each in self._elements.at(place, of, *netem.KINDS)]
        for applied in elements:
            try:
                impaired.add(applied.kind, applied.parameters)
            except netem.CannotSay as why:
                raise self._elements.refused(applied.place, applied.kind, str(why)) from None
        if not impaired.is_needed:
            return root
        words = impaired.words
        self._control.qdiscs.append(Qdisc(device, "root", root.handle, "netem", words, impaired.shown))
        for applied in elements:
            self._control.decides(applied, "kernel netem", f"{device}: {words}")
        if link is not None and link.delay_ns:
            how = f"{device}: delay {link.delay_ns} ns"
            self._control.decides_link(link, "delay", "kernel netem", how)
        return root.behind()
