"""The metrics of a network that is up: what elements did, its condition, its faults, and late packets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from prometheus_client import Metric
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily

from crosswind.spec.network import Network
from crosswind.stream import Change, NodeFault, Step, active_after, active_cuts, faults_after
from crosswind.telemetry.site import site_of

_SITE = ("element", "place", "link")
_Site = tuple[str, str, str]


@dataclass
class _Domain:
    """What the last step of a domain said; a new network begins with a new one."""

    window_started_ns: int = 0
    packets: int = 0
    early: int = 0
    missed: int = 0
    max_ns: int = 0
    left_out: int = 0
    made_ns: int = 0
    queued_bytes: dict[_Site, int] = field(default_factory=dict)
    credit_bits: dict[_Site, int] = field(default_factory=dict)


class OfNetwork:
    """Counts what steps report. Counters never go back, also from one trial of a run to the next."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._sites: dict[str, _Site] = {}
        self._domains: dict[int, _Domain] = {}
        self._active: list[Change] = []
        self._faults: list[NodeFault] = []
        # Arrived and departed bytes, dropped packets and bytes, by element and class.
        self._elements: dict[tuple[_Site, str], list[int]] = {}
        # From zero: Prometheus sees no increase in a counter that begins with what it counts.
        for link in network.links:
            self._elements[self._site(network.wire_of(link)), "real"] = [0, 0, 0, 0]
        self._changes: dict[str, int] = {}
        # From zero, too: of a restart of a node that runs there is no other sign.
        self._hits = Counter(
            {(node, "restart", by): 0 for node in network.nodes for by in ("timeline", "hand")}
        )
        self._steps = self._packets = self._early = self._missed = 0
        self._stalls = self._stalled_ns = self._left_out = self._made_ns = 0

    def take(self, step: Step) -> None:
        """Count one step of one domain."""
        domain = self._domains.setdefault(step.domain, _Domain())
        self._steps += 1
        if step.changes:
            # Elements of the condition before are gone, and what waits in others is in the rows that follow.
            domain.queued_bytes.clear()
            domain.credit_bits.clear()
        # Every domain has all changes.
        for change in step.changes if step.domain == 0 else ():
            self._active = active_after(self._active, change)
            self._changes[change.by] = self._changes.get(change.by, 0) + 1
        for row in step.rows:
            site = self._site(row.element)
            counted = self._elements.setdefault((site, row.packet_class), [0, 0, 0, 0])
            counted[0] += row.arrived_bytes
            counted[1] += row.departed_bytes
            counted[2] += row.dropped_packets
            counted[3] += row.dropped_bytes
            # Of both classes together, in the rows of both.
            domain.queued_bytes[site] = row.queued_bytes
        for credit in step.credit:
            domain.credit_bits[self._site(credit.element)] = credit.left_bits
        self._stalls += len(step.stalls)
        self._stalled_ns += sum(stall.length_ns for stall in step.stalls)
        self._take_lateness(step, domain)
        self._left_out += step.left_out - domain.left_out
        self._made_ns += step.made_ns - domain.made_ns
        domain.left_out, domain.made_ns = step.left_out, step.made_ns

    def take_fault(self, fault: NodeFault) -> None:
        """Count what was done to nodes."""
        self._faults = faults_after(self._faults, fault)
        self._hits.update((node, fault.kind, fault.by) for node in fault.nodes)

    def end(self) -> None:
        """The network is down: nothing waits in it, and the counters of the next one begin at zero."""
        self._domains.clear()
        self._active = []
        self._faults = []

    def families(self) -> Iterator[Metric]:
        """Yield the metrics as they are now."""
        yield from self._of_elements()
        yield from self._of_condition()
        yield from self._of_nodes()
        yield from self._of_emulation()

    def _of_elements(self) -> Iterator[Metric]:
        for position, (what, unit, words) in enumerate(
            (
                ("arrived", "bytes", "IP bytes that arrived at an element."),
                ("departed", "bytes", "IP bytes that left an element."),
                ("dropped", "packets", "Packets that an element dropped."),
                ("dropped", "bytes", "IP bytes that an element dropped."),
            )
        ):
            name = f"crosswind_element_{what}_{unit}"
            family = CounterMetricFamily(name, words, labels=(*_SITE, "class"), unit=unit)
            for (site, packet_class), counted in self._elements.items():
                family.add_metric((*site, packet_class), counted[position])
            yield family
        queued = GaugeMetricFamily(
            "crosswind_element_queued_bytes", "IP bytes that wait in an element.", labels=_SITE, unit="bytes"
        )
        credit = GaugeMetricFamily(
            "crosswind_credit_bits", "What a credit bucket holds.", labels=_SITE, unit="bits"
        )
        for domain in self._domains.values():
            for site, queued_bytes in domain.queued_bytes.items():
                queued.add_metric(site, queued_bytes)
            for site, left_bits in domain.credit_bits.items():
                credit.add_metric(site, left_bits)
        yield queued
        yield credit

    def _of_condition(self) -> Iterator[Metric]:
        active = InfoMetricFamily(
            "crosswind_condition", "The active condition, and whether steps of its timeline have come."
        )
        conditions = (change for change in self._active if change.by != "cut")
        for name, by in dict.fromkeys((change.condition, str(change.by)) for change in conditions):
            active.add_metric((), {"condition": name, "by": by})
        yield active
        cuts = GaugeMetricFamily(
            "crosswind_cut",
            "1 for each cut that is active: no packet of the nodes `from` reaches another one in `to`.",
            labels=("from", "to", "answer", "by"),
        )
        for by, cut in active_cuts(self._active):
            cuts.add_metric((" ".join(cut.sources), " ".join(cut.targets), cut.answer, by), 1)
        yield cuts
        changes = CounterMetricFamily(
            "crosswind_condition_changes",
            "How often a condition became active, or a hand cut nodes off.",
            labels=("by",),
        )
        for by, number in self._changes.items():
            changes.add_metric((by,), number)
        yield changes

    def _of_nodes(self) -> Iterator[Metric]:
        labels = ("node", "fault", "by")
        active = GaugeMetricFamily(
            "crosswind_node_fault",
            "1 for each fault of a node that lasts: paused, killed, squeezed, on a bad disk.",
            labels=labels,
        )
        for fault in self._faults:
            for node in fault.nodes:
                active.add_metric((node, fault.kind, fault.by), 1)
        yield active
        done = CounterMetricFamily(
            "crosswind_node_faults", "How often that was done to a node, and its end.", labels=labels
        )
        for hit, number in self._hits.items():
            done.add_metric(hit, number)
        yield done

    def _of_emulation(self) -> Iterator[Metric]:
        for name, unit, words, value in (
            ("departed_packets", "packets", "Packets that left the emulator.", self._packets),
            ("early_packets", "packets", "Packets that left before they were due.", self._early),
            ("late_packets", "packets", "Packets that left later than the emulator's bound.", self._missed),
            ("stalls", "", "Times in which the emulator should have been awake and was not.", self._stalls),
            ("stall_seconds", "seconds", "Length of these times.", self._stalled_ns / 1e9),
            ("steps", "", "Steps of 100 ms that were reported, of all domains.", self._steps),
            ("steps_left_out", "", "Steps that were not reported: the pipe was full.", self._left_out),
            ("report_seconds", "seconds", "Time that packet threads spent on reports.", self._made_ns / 1e9),
        ):
            yield CounterMetricFamily(f"crosswind_{name}", words, value=value, unit=unit)
        latest_ns = max((domain.max_ns for domain in self._domains.values()), default=None)
        if latest_ns is not None:
            yield GaugeMetricFamily(
                "crosswind_lateness_max_seconds",
                "The greatest lateness of a packet in this measurement window.",
                value=latest_ns / 1e9,
                unit="seconds",
            )

    def _take_lateness(self, step: Step, domain: _Domain) -> None:
        if step.window_started_ns != domain.window_started_ns:
            domain.window_started_ns = step.window_started_ns
            domain.packets = domain.early = domain.missed = 0
        now = step.lateness
        self._packets += now.packets - domain.packets
        self._early += now.early - domain.early
        self._missed += now.missed - domain.missed
        domain.packets, domain.early, domain.missed = now.packets, now.early, now.missed
        domain.max_ns = now.max_ns

    def _site(self, element: str) -> _Site:
        if element not in self._sites:
            self._sites[element] = (element, *site_of(element, self._network))
        return self._sites[element]
