"""Check an experiment against the calibration of this machine, before it runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime

from crosswind.doctor.calibration import AGE_MAX, Calibration, CalibrationUnreadableError, stored_calibration
from crosswind.doctor.domains import auto_domains_of
from crosswind.doctor.machine import CalibratedMachine, this_machine
from crosswind.spec import Resolved, ResolvedInterference, count_of, domains_of
from crosswind.spec.description import descriptions
from crosswind.spec.network import Link, Network
from crosswind.spec.resolved import (
    ConstantRate,
    NormalRate,
    Parameters,
    SentReplay,
    dilation_of,
    number,
    restricted_to,
)
from crosswind.testbed import NotHere
from crosswind.text.quantities import count_text, memory_text, rate_text, time_text

# What the engine decides per second on one core, with room for the application's own packets.
GHOST_PACKETS_PER_S_MAX = 2_000_000
# The emulator's packet rings, as crates/emulator/src/port/veth.rs allocates them: this size for each node,
# but not more than the total.
RING_BYTES_PER_NODE = 16 << 20
RING_BYTES_TOTAL = 256 << 20
# The rest is for the application, its data and the page cache.
RING_SHARE_OF_MEMORY_MAX = 0.25

# 40, 576 and 1500 bytes, 7 : 4 : 1.
IMIX_MEAN_BYTES = (7 * 40 + 4 * 576 + 1500) / 12


def check_here(resolved: Resolved) -> list[str]:
    """Return the warnings for an experiment on this machine now, from its stored calibration."""
    try:
        calibration = stored_calibration()
    except (CalibrationUnreadableError, NotHere) as error:
        return [str(error)]
    return check_against(resolved, calibration, here=this_machine(), now=datetime.now(UTC))


def check_against(
    resolved: Resolved, calibration: Calibration | None, *, here: CalibratedMachine, now: datetime
) -> list[str]:
    """Return a sentence for everything in an experiment that this machine will not honour.

    Args:
        resolved: as `crosswind.spec.resolve` returns it, that is, with its scale applied.
        calibration: the stored one; None if this machine has not been calibrated.
        here: the machine that the experiment would run on.
        now: with a time zone; an old calibration is a warning.
    """
    warnings = [*_cores(resolved, here), *_memory(resolved, here), *_ghosts(resolved)]
    if calibration is None:
        return [
            "this machine is not calibrated: run `crosswind doctor`, which takes about five seconds",
            *warnings,
        ]
    differences = calibration.machine.differences(here)
    if differences:
        return [
            f"the calibration is of another machine ({'; '.join(differences)}): run `crosswind doctor` again",
            *warnings,
        ]
    if now - calibration.measured_at > AGE_MAX:
        days = (now - calibration.measured_at).days
        warnings.insert(0, f"the calibration is {days} days old: run `crosswind doctor` again")
    return [*warnings, *_rates(resolved, calibration), *_delays(resolved, calibration)]


def _cores(resolved: Resolved, here: CalibratedMachine) -> Iterator[str]:
    nodes = len(resolved.topology.nodes)
    threads = count_of(domains_of(resolved, auto_domains_of(resolved, here.cores)))
    if nodes + threads > here.cores:
        emulator = "the emulator" if threads == 1 else f"the {threads} domains of the emulator"
        yield (
            f"{nodes} nodes and {emulator} share {_cores_text(here.cores)}: latencies include waiting for "
            f"a core, in every condition alike; {nodes + threads} cores would avoid it"
        )


def _cores_text(cores: int) -> str:
    return "1 core" if cores == 1 else f"{cores} cores"


def _memory(resolved: Resolved, here: CalibratedMachine) -> Iterator[str]:
    nodes = len(resolved.topology.nodes)
    ring_bytes = min(nodes * RING_BYTES_PER_NODE, RING_BYTES_TOTAL)
    if ring_bytes > RING_SHARE_OF_MEMORY_MAX * here.memory_bytes:
        yield (
            f"{nodes} nodes: their packet rings take {memory_text(ring_bytes)} of this machine's "
            f"{memory_text(here.memory_bytes)}, which leaves too little for the application; use fewer nodes "
            "or more memory"
        )


def _ghosts(resolved: Resolved) -> Iterator[str]:
    """Warn of ghosts that send too fast: every packet costs the engine a decision."""
    for condition in resolved.conditions:
        packets_per_s = sum(
            2 * _packets_per_s(entry)  # They flow in both directions.
            for entry in condition.interference
            if not entry.is_real
        ) / (dilation_of(resolved, condition) or 1)
        if packets_per_s > GHOST_PACKETS_PER_S_MAX:
            yield (
                f"{condition.name}: its ghosts send {count_text(packets_per_s)} packets/s, and the engine "
                f"keeps up with about {count_text(GHOST_PACKETS_PER_S_MAX)}; lower their rate, "
                "enlarge their packets, or lower `scale`"
            )


def _packets_per_s(entry: ResolvedInterference) -> float:
    if isinstance(entry.arrivals, SentReplay):
        packets = entry.arrivals.replay.packets
        return len(packets) / max(1e-9, sum(gap_ns for gap_ns, _ in packets) / 1e9)
    return _mean_bps(entry.rate) / (_mean_bytes(entry) * 8)


def _mean_bytes(entry: ResolvedInterference) -> float:
    size = entry.packet_ip_bytes
    if isinstance(size, str):
        return IMIX_MEAN_BYTES
    # With TCP, every second packet is acknowledged, and each acknowledgement is one more decision.
    return size if entry.tcp is None else size / 1.5


def _mean_bps(rate: ConstantRate | NormalRate | None) -> int:
    if rate is None:
        return 0
    return rate.constant_bps if isinstance(rate, ConstantRate) else rate.normal.mean_bps


def _rates(resolved: Resolved, calibration: Calibration) -> Iterator[str]:
    """Warn of rates above the goodput of the machine: such a limit is never reached."""
    measured_bps = calibration.honours.goodput_bps_max * resolved.factor_min
    for what, rate_bps in _once(_all_rates(resolved)):
        if rate_bps > measured_bps:
            yield (
                f"{what}: {rate_text(rate_bps)} is more than the {rate_text(measured_bps)} that this machine "
                f"can carry{_so_slow(resolved)}, which will be the limit instead; `scale` lowers all rates "
                "by one factor, and `time` slows everything down"
            )


def _so_slow(resolved: Resolved) -> str:
    return "" if resolved.factor_min == 1 else f" at a dilation of {resolved.factor_min}"


def _delays(resolved: Resolved, calibration: Calibration) -> Iterator[str]:
    least_ns, factor = calibration.honours.delay_ns_min, resolved.factor_min
    if least_ns is None:
        return
    least_ns, floor_ns = least_ns // factor, calibration.floor_ns_p50 // factor
    for what, delay_ns in _once(_all_delays(resolved)):
        if 0 < delay_ns < floor_ns:
            yield (
                f"{what}: {time_text(delay_ns)} is below the {time_text(floor_ns)} that a "
                "packet takes on this machine without any delay: it will have almost no effect"
            )
        elif 0 < delay_ns < least_ns:
            yield (
                f"{what}: {time_text(delay_ns)} is honoured with more than 10 % error at the 99th percentile "
                f"here; this machine honours delays from {time_text(least_ns)}"
            )


def _all_rates(resolved: Resolved) -> Iterator[tuple[str, int]]:
    network = Network.of(resolved.topology)
    yield from _of_links(network, lambda link: link.rate_bps)
    for place, kind, parameters in _elements(resolved):
        key = descriptions()[kind].limits_rate
        rate_bps = None if key is None else number(parameters, descriptions()[kind].sent_name(key))
        wires_bps = [link.rate_bps for link in network.wires(place, restricted_to(parameters))]
        # A rate above those of all its links has no effect: the links limit, and have their own warning.
        if rate_bps is not None and any(wire_bps is None or rate_bps < wire_bps for wire_bps in wires_bps):
            yield f"{kind} at {place}", rate_bps


def _of_links(network: Network, value: Callable[[Link], int | None]) -> Iterator[tuple[str, int]]:
    """Yield each different value of links with the links that have it, those of hosts first."""
    uplinks = [*network.uplinks.values(), *network.downlinks.values()]
    for links, is_uplink in ((uplinks, True), (network.trunks, False)):
        by_value: dict[int, list[Link]] = {}
        for link in links:
            if (found := value(link)) is not None:
                by_value.setdefault(found, []).append(link)
        for found, same in by_value.items():
            yield _links_text(same, "uplink" if is_uplink and len(same) == len(uplinks) else None), found


def _links_text(links: Sequence[Link], all_of_them: str | None) -> str:
    more = len(links) - 1
    return all_of_them or links[0].name + (f" and {more} more link{'s' * (more > 1)}" if more else "")


def _all_delays(resolved: Resolved) -> Iterator[tuple[str, int]]:
    yield from _of_links(Network.of(resolved.topology), lambda link: link.delay_ns)
    for place, kind, parameters in _elements(resolved):
        key = descriptions()[kind].adds_delay
        if key is not None:
            yield f"{kind} at {place}", number(parameters, descriptions()[kind].sent_name(key)) or 0


def _elements(resolved: Resolved) -> Iterator[tuple[str, str, Parameters]]:
    """Every element of every condition and its timeline: place, kind, parameters."""
    return (element for condition in resolved.conditions for element in condition.elements())


def _once(found: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    """Return the items without repeats, in order; several conditions may have the same one."""
    return list(dict.fromkeys(found))
