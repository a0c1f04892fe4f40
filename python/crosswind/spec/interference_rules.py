"""Rules inside the interference of a condition, which need more than one value."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import JsonValue

from crosswind.spec.document import Path
from crosswind.spec.draft import items, sound, sound_field, value_at
from crosswind.spec.interference import Interference, Normal, NormalLaw, ReplayArrivals, read_pair
from crosswind.spec.quantities import Intensity, shown
from crosswind.spec.replay import replay_finding
from crosswind.spec.setting import Finding, Setting
from crosswind.spec.topology.domains import bound_finding
from crosswind.text.nearest import did_you_mean

IMIX_LARGEST_BYTES = 1500
UDP_HEADER_BYTES = 20 + 8
TCP_HEADER_BYTES = 20 + 20 + 12  # With timestamps.


def interference_findings(data: JsonValue, setting: Setting) -> Iterator[Finding]:
    """Yield what is wrong with the interference of a condition besides its single values."""
    many = isinstance(value_at(data, "interference"), list)
    entries = items(data, "interference") if many else [(("interference",), value_at(data, "interference"))]
    pairs: set[frozenset[str]] = set()
    for path, raw in entries:
        for pair_path, text in items(raw, "between"):
            pair = sound(read_pair, text)
            if pair is None:
                continue
            where = (*path, *pair_path)
            if pair[0] == pair[1]:
                yield (
                    where,
                    f'"{text}" names one host twice; name two hosts',
                )
            elif frozenset(pair) in pairs:
                yield (
                    where,
                    f'"{text}" is a second interference between the same hosts; write one with both rates',
                )
            pairs.add(frozenset(pair))
            for host in dict.fromkeys(pair):
                if setting.hosts is not None and host not in setting.hosts:
                    remedy = did_you_mean(host, setting.hosts) or f"hosts are {', '.join(setting.hosts)}"
                    yield where, f'"{text}": host {host} does not exist; {remedy}'
            bound = bound_finding(pair, setting.network) if _answers(raw) and setting.network else None
            if bound is not None:
                yield where, f'"{text}" {bound}'
        hosts = {host for _, text in items(raw, "between") for host in sound(read_pair, text) or ()}
        yield from _rate_findings(path, raw, setting.between(hosts))
        yield from _kind_findings(path, raw)
        yield from _packet_findings(path, raw, setting)
        hold_ns, pacing_ns = (
            sound_field(Interference, "hold_ns", raw),
            sound_field(Interference, "pacing_ns", raw),
        )
        if hold_ns is not None and pacing_ns is not None and pacing_ns > hold_ns:
            yield path, "pacing is longer than hold; a draw must hold for at least one burst"


def _answers(raw: JsonValue) -> bool:
    """Return whether interference is of ghosts that send as TCP does."""
    by = sound_field(Interference, "by", raw)
    return bool(value_at(raw, "transport") == "tcp" and by == "ghost")


def _rate_findings(path: Path, raw: JsonValue, setting: Setting) -> Iterator[Finding]:
    rate = sound_field(Interference, "rate", raw)
    where = (*path, "rate")
    if isinstance(rate, Intensity) and not (rate.rate_bps or rate.share):
        yield where, "is zero; remove the interference"
    law = rate.normal if isinstance(rate, NormalLaw) else None
    if law is not None and _above(law.low, law.high, setting.uplink_bps):
        yield (*where, "normal"), "low is above high; swap them"
    if setting.uplink_unlimited:
        parts = [rate] if isinstance(rate, Intensity) else _intensities(law)
        if any(part.share for part in parts):
            yield where, "is a share of an unlimited uplink; write it in bit/s, or give the uplink a rate"


def _kind_findings(path: Path, raw: JsonValue) -> Iterator[Finding]:
    """Yield keys that interference of this kind cannot honour."""
    arrivals = sound_field(Interference, "arrivals", raw)
    by, transport = sound_field(Interference, "by", raw), sound_field(Interference, "transport", raw)
    tcp = transport == "tcp" or (transport is None and by == "iperf3")
    paced = arrivals in ("paced", None)
    if by == "iperf3":
        if transport == "udp":
            yield (*path, "transport"), "is tcp with `by: iperf3`; remove it, or write `by: ghost`"
        for key in ("arrivals", "packet_size", "dscp", "congestion_control", "ecn"):
            if value_at(raw, key) is not None:
                yield (*path, key), "needs `by: ghost`; write that, or remove this key"
    elif tcp and not paced:
        yield (
            (*path, "arrivals"),
            "has no effect with tcp, whose windows decide when packets are sent; remove one of the two",
        )
    if not tcp:
        for key in ("flows", "congestion_control", "ecn"):
            if value_at(raw, key) is not None:
                yield (*path, key), "needs `transport: tcp`; add that, or remove this key"
    yield from _replay_findings(path, raw, arrivals)
    if not tcp and not paced and value_at(raw, "pacing") is not None:
        yield (*path, "pacing"), "needs paced arrivals; remove it"
    if by == "ghost" and (tcp or not paced) and value_at(raw, "zero") == "unlimited":
        yield (
            (*path, "zero"),
            "can be unlimited only with paced arrivals and udp; write silence, or remove it",
        )


def _replay_findings(path: Path, raw: JsonValue, arrivals: object) -> Iterator[Finding]:
    if not isinstance(arrivals, ReplayArrivals):
        if isinstance(raw, dict) and "rate" not in raw:
            yield path, "needs a rate; add one, such as rate: 50%"
        return
    for key in ("rate", "hold", "packet_size", "zero"):
        if value_at(raw, key) is not None:
            yield (*path, key), "has no effect on a replay, which has its own; remove it"
    problem = replay_finding(arrivals.replay)
    if problem is not None:
        yield (*path, "arrivals"), problem


def _packet_findings(path: Path, raw: JsonValue, setting: Setting) -> Iterator[Finding]:
    size, mtu_bytes = sound_field(Interference, "packet_ip_bytes", raw), setting.mtu_bytes
    tcp = value_at(raw, "transport") == "tcp"
    where, text = (*path, "packet_size"), shown(value_at(raw, "packet_size"))
    if size == "imix":
        if tcp:
            yield where, "is a mix of sizes, and tcp needs packets of one size; write one size"
        elif mtu_bytes is not None and mtu_bytes < IMIX_LARGEST_BYTES:
            yield where, f"has packets of {IMIX_LARGEST_BYTES}B, and the MTU is {mtu_bytes}B; write one size"
    elif size is not None:
        least = TCP_HEADER_BYTES + 1 if tcp else UDP_HEADER_BYTES
        if size < least:
            yield where, f"{text} is too small for its headers; write at least {least}B"
        if mtu_bytes is not None and size > mtu_bytes:
            yield where, f"{text} is above the MTU; write at most {mtu_bytes}B"


def _intensities(law: Normal | None) -> list[Intensity]:
    return [] if law is None else [law.mean, law.sd, law.low, law.high]


def _above(low: Intensity, high: Intensity, uplink_bps: int | None) -> bool:
    """Return whether low is above high; where the uplink is unknown, only shares compare with shares."""
    if uplink_bps is not None:
        return low.of(uplink_bps) > high.of(uplink_bps)
    if low.rate_bps is not None and high.rate_bps is not None:
        return low.rate_bps > high.rate_bps
    return low.share is not None and high.share is not None and low.share > high.share
