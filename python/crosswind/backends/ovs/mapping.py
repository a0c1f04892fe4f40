"""From a condition to flows, meters and queues of Open vSwitch.

A frame enters a bridge at a port, where table 0 has what applies to what that port sends: a meter, a mark.
Table 1 has what applies to what leaves towards a node, and the way. Rates of links are queues of the port at
which they begin.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue

from crosswind.backends.buffers import frames_of_link, frames_that_wait
from crosswind.backends.frames import UNLIMITED_BYTES, of_ip, of_wire
from crosswind.backends.ovs.bridges import Bridges
from crosswind.backends.ovs.setup import Policing, Port, PortQueues, Queue, Settings, Trace
from crosswind.backends.refusals import NotCarried
from crosswind.results.measurement import Decided
from crosswind.spec import FabricCondition, FabricSpec
from crosswind.spec.network import Link
from crosswind.spec.resolved import Parameters, number

PolicedBy = Literal["meter", "ingress-policing"]
ENTERS = ("host.egress", "switch.ingress")
LEAVES = ("switch.egress", "host.ingress")
_PORTS = {"host.egress": "uplinks", "switch.egress": "downlinks"}


def settings_of(
    spec: FabricSpec, condition: FabricCondition, bridges: Bridges, police: PolicedBy
) -> Settings:
    """Return what a condition sets.

    Raises: NotCarried: Open vSwitch lacks what an element needs.
    """
    return _Mapping(spec, condition, bridges, police).settings()


@dataclass(frozen=True)
class _Applied:
    """An element at one host or node."""

    place: str
    of: str
    kind: str
    parameters: Parameters


class _Mapping:
    def __init__(
        self, spec: FabricSpec, condition: FabricCondition, bridges: Bridges, police: PolicedBy
    ) -> None:
        self._mtu_bytes = spec.mtu_bytes
        self._condition = condition
        self._bridges = bridges
        self._network = bridges.stations.network
        self._police = police
        self._settings = Settings()
        self._out: dict[tuple[str, str, str], list[str]] = {}
        self._elements = list(self._applied())

    def settings(self) -> Settings:
        for bridge in self._bridges.bridges:
            self._settings.meters[bridge.name] = []
            self._settings.flows[bridge.name] = ["table=0,priority=0,actions=goto_table:1"]
        for port, place, of in self._entrances():
            actions = self._actions(port.bridge, place, of, port)
            if actions:
                self._flow(
                    port.bridge, f"table=0,priority=10,in_port={port.number},ip", [*actions, "goto_table:1"]
                )
        for bridge in self._bridges.bridges:
            self._forward(bridge.name, bridge.of)
        for link in self._network.links:
            self._queue(link)
        return self._settings

    def _applied(self) -> Iterator[_Applied]:
        for place, elements in self._condition.places.items():
            for element in elements:
                for kind, parameters in element.items():
                    self._check(place, kind, parameters)
                    if kind in ("queue", "schedule"):
                        continue  # They are those of a link.
                    for of in self._bridges.stations.named(place, parameters):
                        yield _Applied(place, of, kind, parameters)

    def _check(self, place: str, kind: str, parameters: Parameters) -> None:
        if kind not in ("police", "mark", "queue", "schedule"):
            raise self._refused(place, kind, f"Open vSwitch has no {kind}", "crosswind")
        if place not in (*ENTERS, *LEAVES):
            raise self._refused(place, kind, "a wire between bridges has no elements", "crosswind")
        if kind == "police" and self._police == "ingress-policing" and place in LEAVES:
            why = "ingress policing is of what enters a port; write backend: {ovs: {police: meter}}"
            raise self._refused(place, kind, why, "crosswind")
        queues = _queues(parameters) if kind == "schedule" else [parameters]
        early = next(
            (queue for queue in queues if queue.get("drop", "tail") != "tail" or queue.get("ecn")), None
        )
        if kind in ("queue", "schedule") and early is not None:
            raise self._refused(place, kind, "its queues drop at the tail, and mark nothing", "crosswind")
        if kind == "schedule" and parameters.get("by") == "stfq":
            raise self._refused(place, kind, "by: stfq is not one of its schedulers", "crosswind")
        if any(name in queue for name in ("alpha_ppb", "memory_bytes") for queue in (*queues, parameters)):
            raise self._refused(place, kind, "its queues share no memory", "crosswind")

    def _refused(self, place: str, kind: str, why: str, other: str) -> NotCarried:
        return NotCarried.element("ovs", self._condition.name, place, kind, why, other)

    def _entrances(self) -> Iterator[tuple[Port, str, str]]:
        for node in self._bridges.stations.nodes:
            yield self._bridges.port_of(node.name), "host.egress", node.name
        for host, link in self._network.uplinks.items():
            yield self._bridges.end(link, link.target), "switch.ingress", host

    def _actions(self, bridge: str, place: str, of: str, port: Port | None) -> list[str]:
        """Return the actions of the elements at a place, in their order."""
        actions, meters, dscp = list[str](), 0, None
        for applied in self._elements:
            if (applied.place, applied.of) != (place, of):
                continue
            if applied.kind == "mark":
                dscp = number(applied.parameters, "dscp")
                actions.append(f"set_field:{dscp}->ip_dscp")
                self._decided(applied, "Open vSwitch flow", f"bridge {bridge}: {actions[-1]}")
            elif self._police == "meter":
                meters += 1
                if meters > 1:
                    raise self._refused(place, "police", "a flow has one meter", "crosswind")
                actions.append(self._meter(bridge, applied))
            elif port is not None:
                self._policing(port, applied)
        if port is not None and actions:
            for node in self._bridges.stations.nodes:
                if self._bridges.towards(self._of(bridge), node) not in (None, port):
                    trace = Trace(bridge, port.number, node.ip, dscp, meters > 0)
                    self._settings.traces.append(trace)
                    break
        return actions

    def _of(self, bridge: str) -> str:
        return next(each.of for each in self._bridges.bridges if each.name == bridge)

    def _meter(self, bridge: str, applied: _Applied) -> str:
        meters = self._settings.meters[bridge]
        kbps, kbit = self._bucket(applied.parameters)
        meter = f"meter={len(meters) + 1},kbps,burst,stats,bands=type=drop,rate={kbps},burst_size={kbit}"
        meters.append(meter)
        self._decided(applied, "Open vSwitch meter", f"bridge {bridge}: {meter}")
        return f"meter:{len(meters)}"

    def _policing(self, port: Port, applied: _Applied) -> None:
        policing = Policing(port.device, *self._bucket(applied.parameters))
        self._settings.policing.append(policing)
        how = f"interface {port.device}: ingress_policing_rate={policing.kbps}, _burst={policing.kbit}"
        self._decided(applied, "Open vSwitch ingress policing", how)

    def _bucket(self, parameters: Parameters) -> tuple[int, int]:
        """Return rate and burst of a token bucket, in kbit/s and kbit of frames."""
        rate_bps, burst_bytes = (number(parameters, name) or 0 for name in ("rate_bps", "burst_bytes"))
        return (
            max(1, round(of_ip(rate_bps, self._mtu_bytes) / 1000)),
            max(1, round(of_ip(burst_bytes, self._mtu_bytes) * 8 / 1000)),
        )

    def _forward(self, bridge: str, of: str) -> None:
        for node in self._bridges.stations.nodes:
            port = self._bridges.towards(of, node)
            if port is None:
                continue
            place, owner = ("host.ingress", node.name) if node.host == of else ("switch.egress", node.host)
            leaves = node.host == of or self._network.switch_of(node.host) == of
            actions = self._shared(bridge, place, owner) if leaves else []
            to_node = [f"set_field:{node.mac}->eth_dst"] if node.host == of else []
            match = f"table=1,priority=10,ip,nw_dst={node.ip}"
            self._flow(bridge, match, [*actions, *to_node, f"output:{port.number}"])

    def _shared(self, bridge: str, place: str, owner: str) -> list[str]:
        """Return the actions at a way out, which all nodes of a host share."""
        key = (bridge, place, owner)
        if key not in self._out:
            self._out[key] = self._actions(bridge, place, owner, None)
        return self._out[key]

    def _flow(self, bridge: str, match: str, actions: Sequence[str]) -> None:
        self._settings.flows[bridge].append(f"{match},actions={','.join(actions)}")

    def _queue(self, link: Link) -> None:
        place, host = self._place_of(link)
        scheduled = self._element_of(place, host, "schedule")
        own = self._element_of(place, host, "queue")
        if link.rate_bps is None:
            if scheduled or own:
                why = f"link {link.name} has no rate, so nothing waits in front of it"
                raise self._refused(place, "schedule" if scheduled else "queue", why, "crosswind")
            return
        rate_bps = of_wire(link.rate_bps, self._mtu_bytes)
        limit_bytes = frames_of_link(link, self._mtu_bytes)
        if own is not None:
            limit_bytes = frames_that_wait(own, link.rate_bps, self._mtu_bytes, wire=True) or limit_bytes
        queues: tuple[Queue, ...] = (Queue(0, rate_bps, 0, limit_bytes),)
        if scheduled is not None:
            queues = tuple(self._scheduled(scheduled, link.rate_bps, rate_bps, limit_bytes))
        device = self._bridges.end(link, link.source).device
        self._settings.queues.append(PortQueues(device, rate_bps, queues))
        rate = Decided(
            place="links",
            of=link.name,
            element="rate",
            by="Open vSwitch QoS (HTB)",
            how=f"port {device}: {rate_bps} bit/s",
        )
        self._settings.decided.append(rate)
        for kind, parameters in (("queue", own), ("schedule", scheduled)):
            if parameters is not None:
                how = "; ".join(map(_words, queues))
                self._decided(
                    _Applied(place, host, kind, parameters),
                    "Open vSwitch QoS (HTB); u32 and bfifo of the kernel",
                    f"port {device}: {how}",
                )

    def _place_of(self, link: Link) -> tuple[str, str]:
        if link.source in self._network.uplinks:
            return "host.egress", link.source
        if link.target in self._network.downlinks:
            return "switch.egress", link.target
        return "trunk", link.name

    def _element_of(self, place: str, host: str, kind: str) -> Parameters | None:
        """Return the last queue or schedule of a link."""
        found = None
        for element in self._condition.places.get(place, []):
            parameters = element.get(kind)
            if parameters is not None and self._concerns(place, host, parameters):
                found = parameters
        return found

    def _concerns(self, place: str, host: str, parameters: Parameters) -> bool:
        named = self._bridges.stations.named(place, parameters)
        on_host = {node.name for node in self._bridges.stations.on(host)}
        return host in named or "on" not in parameters or bool(on_host & {*named})

    def _scheduled(
        self, parameters: Parameters, link_bps: int, rate_bps: int, limit_bytes: int
    ) -> Iterator[Queue]:
        queues = _queues(parameters)
        whole = sum(number(queue, "weight") or 0 for queue in queues)
        # Queue 0 takes what no filter takes.
        order = sorted(range(len(queues)), key=lambda place: queues[place].get("dscp") is not None)
        for number_, place in enumerate(order):
            queue = queues[place]
            weight = number(queue, "weight")
            # A strict order leaves lower queues nothing but the rest.
            least_bps = rate_bps // 1000 if weight is None else rate_bps * weight // whole
            limit = frames_that_wait(queue, link_bps, self._mtu_bytes, wire=True) or limit_bytes
            dscps = queue.get("dscp")
            taken = tuple(int(str(dscp)) for dscp in dscps) if isinstance(dscps, list) else ()
            yield Queue(number_, least_bps, place if weight is None else 0, limit, taken)

    def _decided(self, applied: _Applied, by: str, how: str) -> None:
        self._settings.decided.append(
            Decided(place=applied.place, of=applied.of, element=applied.kind, by=by, how=how)
        )


def _queues(parameters: Parameters) -> list[dict[str, JsonValue]]:
    queues = parameters.get("queues")
    return [queue for queue in queues if isinstance(queue, dict)] if isinstance(queues, list) else []


def _words(queue: Queue) -> str:
    takes = f"DSCP {', '.join(map(str, queue.dscps))}" if queue.dscps else "the rest"
    limit = "" if queue.limit_bytes == UNLIMITED_BYTES else f", {queue.limit_bytes} B"
    return f"queue {queue.number} ({takes}): at least {queue.least_bps} bit/s{limit}"
