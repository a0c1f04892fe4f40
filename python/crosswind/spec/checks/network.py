"""Rules between hosts, nodes, links, machines and what is around packets."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import JsonValue, TypeAdapter, ValidationError

from crosswind.spec.base import ReadingContext
from crosswind.spec.checks.document import problem_at, sound_topology
from crosswind.spec.document import Document
from crosswind.spec.draft import items, sound_field, value_at
from crosswind.spec.experiment import Experiment
from crosswind.spec.parameters.buffer import Emptied, buffer_findings
from crosswind.spec.problems import Problem
from crosswind.spec.quantities import shown
from crosswind.spec.setting import Finding
from crosswind.spec.testbed import Provided, Testbed, TestbedEntry, testbed_findings
from crosswind.spec.topology import AnyTopology, Star, form_of
from crosswind.spec.topology.common import USUAL_BUFFER_TEXT, Uplink, WrittenBuffer
from crosswind.spec.topology.domains import cut_findings, name_findings
from crosswind.text.nearest import did_you_mean

_TESTBED: TypeAdapter[Testbed | Provided | str] = TypeAdapter(TestbedEntry)

OVERLAY_BYTES = 50  # Ethernet, IPv4, UDP and VXLAN around each packet.
MTU_BYTES = (576, 9000)  # IPv4 hosts must take 576 (RFC 791); 9000 is the usual jumbo frame.


def topology_problems(document: Document) -> Iterator[Problem]:
    """Yield what is wrong between hosts, nodes, links, MTU and buffers."""
    raw, topology = value_at(document.data, "topology"), sound_topology(document)
    found = [] if topology is None else list(topology.findings(raw))
    divided = () if topology is None else _domain_findings(topology, is_sound=not found)
    for path, message in (*found, *divided):
        yield problem_at(document, ("topology", *path), message)
    if form_of(raw) is Star:
        yield from _star_problems(document)
    mtu_bytes = sound_field(form_of(raw), "mtu_bytes", raw)
    if mtu_bytes is not None and not MTU_BYTES[0] <= mtu_bytes <= MTU_BYTES[1]:
        text = shown(value_at(raw, "mtu"))
        yield problem_at(
            document, ("topology", "mtu"), f"{text} is outside {MTU_BYTES[0]}B to {MTU_BYTES[1]}B"
        )
    elif mtu_bytes is not None and not found:
        scale = sound_field(Experiment, "scale", document.data) or 1.0
        for path, message in _buffer_findings(_buffers(raw, topology), mtu_bytes, scale):
            yield problem_at(document, ("topology", *path), message)


def _star_problems(document: Document) -> Iterator[Problem]:
    """Yield what is wrong between hosts and nodes of a star, also where other parts of it have errors."""
    raw = value_at(document.data, "topology")
    hosts: list[str] = sound_field(Star, "hosts", raw) or []
    for index, host in enumerate(hosts):
        if host in hosts[:index]:
            yield problem_at(
                document,
                ("topology", "hosts", index),
                f'"{host}" is given twice; give each host its own name',
            )
    for path, placed in items(document.data, "topology", "nodes"):
        on = placed.get("host") if isinstance(placed, dict) else placed
        if hosts and isinstance(on, str) and on not in hosts:
            remedy = did_you_mean(on, hosts) or f"hosts are {', '.join(hosts)}"
            yield problem_at(document, path, f"is on {shown(on)}, which is not a host; {remedy}")
        if path[-1] in hosts:
            yield problem_at(
                document, path, "is also the name of a host; give the node another name", at_key=True
            )


def _domain_findings(topology: AnyTopology, *, is_sound: bool) -> Iterator[Finding]:
    """Yield what is wrong with the domains of a topology; its links are checked where the rest is sound."""
    yield from name_findings(
        topology.divided, topology.placed, topology.switch_names, topology.left_out, topology.switch_noun
    )
    if is_sound and isinstance(topology.divided, tuple):
        yield from cut_findings(topology.network())


def _buffers(raw: JsonValue, topology: AnyTopology | None) -> Iterator[WrittenBuffer]:
    """Yield the buffers of a topology; of a star with errors, its one buffer where that is sound."""
    if topology is not None:
        yield from topology.buffers(raw)
    elif form_of(raw) is Star:
        uplink = value_at(raw, "uplink")
        buffer, rate_bps = sound_field(Uplink, "buffer", uplink), sound_field(Uplink, "rate_bps", uplink)
        is_known = rate_bps is not None or value_at(uplink, "rate") == "unlimited"
        if buffer is not None:
            text = value_at(uplink, "buffer") or USUAL_BUFFER_TEXT
            yield WrittenBuffer(("uplink", "buffer"), text, buffer, [rate_bps] if is_known else [])


def _buffer_findings(buffers: Iterator[WrittenBuffer], mtu_bytes: int, scale: float) -> Iterator[Finding]:
    for written in buffers:
        limits = [rate_bps for rate_bps in written.rates_bps if rate_bps is not None]
        by = Emptied(min(limits, default=None), len(limits) < len(written.rates_bps), mtu_bytes, scale)
        for _, message in buffer_findings(written.buffer, written.text, by):
            yield written.path, message


def testbed_problems(document: Document) -> Iterator[Problem]:
    """Yield what is wrong between machines, and with what is placed on them."""
    raw = value_at(document.data, "testbed")
    try:
        testbed = _TESTBED.validate_python(
            raw, context=ReadingContext(document.named_file, document.files_below)
        )
    except ValidationError:
        return  # Also without a testbed.
    if isinstance(testbed, str):
        return
    topology = sound_topology(document)
    is_sound = topology is not None and not any(topology.findings(value_at(document.data, "topology")))
    for path, message in testbed_findings(testbed, topology.network() if topology and is_sound else None):
        yield problem_at(document, ("testbed", *path), message)


def overlay_problems(document: Document) -> Iterator[Problem]:
    """Yield that nothing of the MTU is left for packets inside an overlay."""
    raw = value_at(document.data, "topology")
    mtu_bytes = sound_field(form_of(raw), "mtu_bytes", raw)
    least = MTU_BYTES[0] + OVERLAY_BYTES
    if value_at(document.data, "overlay") == "vxlan" and mtu_bytes is not None and mtu_bytes < least:
        inside = mtu_bytes - OVERLAY_BYTES
        text = f"leaves an MTU of {inside}B inside; write topology: {{mtu: {least}B}} or more"
        yield problem_at(document, ("overlay",), text)
