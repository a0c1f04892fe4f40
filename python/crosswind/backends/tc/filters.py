"""Filters of u32: the ways between a node's port and its host's end of the link, marks and meters."""

from __future__ import annotations

from crosswind.backends.frames import of_ip
from crosswind.backends.stations import Station
from crosswind.backends.tc.elements import Applied
from crosswind.backends.tc.setup import Filter, TrafficControl
from crosswind.spec.resolved import number


def redirect(control: TrafficControl, up: str, node: Station, others: list[Station]) -> None:
    """Add the ways between a node's port and its host's end of the link.

    Args:
        up: that end.
        others: nodes of the same host.
    """
    modules = ("act_mirred",)
    for other in others:
        # A match without an action lets the packet go on to the routes.
        control.filters.append(Filter(node.port, "ingress", f"ip dst {other.ip}/32", "flowid 1:1"))
    away = f"action mirred egress redirect dev {up}"
    control.filters.append(Filter(node.port, "ingress", "", away, modules))
    home = f"action mirred egress redirect dev {node.port}"
    control.filters.append(Filter(up, "ingress", f"ip dst {node.ip}/32", home, modules))


def mark_or_meter(control: TrafficControl, device: str, at: str, applied: Applied, mtu_bytes: int) -> None:
    """Add a mark or a meter at `ingress` or `egress` of a device."""
    if applied.kind == "mark":
        dscp = number(applied.parameters, "dscp") or 0
        modules: tuple[str, ...] = ("act_pedit", "act_csum")
        # The header's checksum follows the mark.
        marked = f"action pedit ex munge ip dsfield set {dscp << 2:#x} retain 0xfc pipe"
        actions = f"{marked} action csum ip continue"
    else:
        rate_bps, burst_bytes = (
            of_ip(number(applied.parameters, name) or 0, mtu_bytes) for name in ("rate_bps", "burst_bytes")
        )
        modules = ("act_police",)
        actions = f"action police rate {rate_bps}bit burst {burst_bytes} conform-exceed drop/continue"
    control.filters.append(Filter(device, at, "", actions, modules))
    control.decides(applied, f"kernel u32 filter with {modules[0]}", f"{device} {at}: {actions}")
