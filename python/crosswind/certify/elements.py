"""Parameters for each element and kind of interference, under which it decides about single packets.

The live suite records the emulator's decisions under each and replays them in virtual time. These parameters
are chosen by hand. An element, or a word of a choice, that is missing here gets typical parameters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from crosswind.certify.typical import typical, words
from crosswind.spec import ResolvedInterference
from crosswind.spec.description import descriptions
from crosswind.spec.resolved import (
    ConstantRate,
    InterferenceTcp,
    NormalRate,
    NormalRates,
    OnOffTimes,
    Parameters,
    ReplayedPackets,
    SentElement,
    SentOnOff,
    SentReplay,
)

# The offered traffic: 400 packets of 1500 IP bytes.
OFFERED_BPS = 16_000_000
OFFERED_S = 0.3

_QUEUES: list[JsonValue] = [{"dscp": [46], "weight": 3, "buffer_bytes": 20_000}, {"dscp": None, "weight": 1}]
_STRICT: list[JsonValue] = [{"dscp": [46], "buffer_bytes": 20_000}, {"dscp": None}]
_BUSY_BPS = 12_000_000
_CODEL: Parameters = {"codel": {"target_ns": 1_000_000, "interval_ns": 20_000_000}}
_PROFILE: Parameters = {"min_bytes": 3000, "max_bytes": 15_000, "probability_ppb": 200_000_000}
_WEIGHT: Parameters = {"weight_ppb": 100_000_000}
_RED: Parameters = {"red": {**_PROFILE, **_WEIGHT}}
_SRTCM: Parameters = {
    "cir_bps": 6_000_000,
    "cbs_bytes": 6000,
    "ebs_bytes": 6000,
    "yellow": "remark",
    "red": "drop",
}
_CREDIT: Parameters = {
    "budget_bits": 600_000,
    "initial_bits": 600_000,
    "high_bps": 12_000_000,
    "low_bps": 6_000_000,
    "refill_bps": 3_000_000,
    "buffer_bytes": 60_000,
}
_LOOP: Parameters = {"interval_ns": 20_000_000, "reopen_bits": 120_000}
_TRTCM: Parameters = {
    "cir_bps": 6_000_000,
    "cbs_bytes": 6000,
    "pir_bps": 8_000_000,
    "pbs_bytes": 6000,
    "yellow": {"dscp": 12},
    "red": "drop",
}


_WRED: Parameters = {
    "wred": {
        **dict.fromkeys(("green", "yellow", "red"), _PROFILE),
        **_WEIGHT,
    }
}
_SHARED: Parameters = {
    "memory_bytes": 60_000,
    "queues": [{"dscp": [46], "alpha_ppb": 2_000_000_000}, {"dscp": None}],
}
_EVERYTHING_SEEN: Parameters = {
    "what": ["utilisation", "packet-rate", "packet-size", "ipg", "burst", "queue-depth", "drops"],
    "window_ns": 1_000_000,
    "burst_gap_ns": 100,
    "match": {},
    "start": {"after_ns": 0},
}
_DRAWN: Parameters = {
    "cells": [{"low_bps": 8_000_000, "high_bps": 40_000_000, "weight": 1}],
    "grid_bps": 1000,
    "hold_ns": 2_000_000,
}
_RESAMPLED: Parameters = {
    "at_ns": [0, 3_000_000, 4_000_000],
    "rate_bps": [40_000_000, 8_000_000, 0],
    "period_ns": 5_000_000,
    "block_ns": 2_000_000,
}
_MARKOV: Parameters = {
    "states": [
        {"rate_bps": 40_000_000, "next_ppb": [700_000_000, 300_000_000]},
        {"rate_bps": 0, "next_ppb": [500_000_000, 500_000_000]},
    ],
    "hold_ns": 2_000_000,
}


def _capacity(kind: str, **process: JsonValue) -> list[SentElement]:
    return [{"capacity": {"process": {kind: process}}}]


def _delay(
    law: str,
    order: str = "keep",
    half_life_ns: int | None = None,
    depth: int | None = None,
    **shape: JsonValue,
) -> list[SentElement]:
    random: Parameters = {
        "law": {law: shape or {"jitter_ns": 500_000}},
        "depth": depth,
        "order": order,
        "half_life_ns": half_life_ns,
    }
    return [{"delay": {"time_ns": 3_000_000, "random": random}}]


def _lose(law: str, **shares: float) -> list[SentElement]:
    return [{"lose": {"law": {law: {f"{name}_ppb": round(share * 1e9) for name, share in shares.items()}}}}]


def _shape(**queue: JsonValue) -> list[SentElement]:
    return [{"shape": {"rate_bps": 8_000_000, "burst_bytes": 10_000, **queue}}]


@dataclass(frozen=True)
class CertifiedElements:
    """Elements at a place; `uplink_bps` is the rate of the links where the elements need busy ones."""

    place: str
    elements: Sequence[SentElement]
    uplink_bps: int | None = None


_CHOSEN: Mapping[str, CertifiedElements] = {
    "link": CertifiedElements("link", [], _BUSY_BPS),
    "police": CertifiedElements(
        "switch.ingress", [{"police": {"rate_bps": 8_000_000, "burst_bytes": 10_000}}]
    ),
    "shape": CertifiedElements("switch.ingress", _shape(buffer_bytes=40_000, drop="tail")),
    "shape, head drop": CertifiedElements("switch.ingress", _shape(buffer_packets=20, drop="head")),
    "credit": CertifiedElements("switch.ingress", [{"credit": _CREDIT}]),
    "credit with a loop": CertifiedElements("switch.ingress", [{"credit": {**_CREDIT, "loop": _LOOP}}]),
    "pace": CertifiedElements(
        "switch.ingress", [{"pace": {"rate_bps": 8_000_000, "horizon_ns": 50_000_000}}]
    ),
    "srtcm": CertifiedElements("switch.ingress", [{"srtcm": _SRTCM}]),
    "trtcm": CertifiedElements("switch.ingress", [{"trtcm": _TRTCM}]),
    "mark": CertifiedElements("host.egress", [{"mark": {"dscp": 46}}]),
    "delay": CertifiedElements("link", [{"delay": {"time_ns": 3_000_000}}]),
    "delay uniform": CertifiedElements("link", _delay("uniform")),
    "delay normal": CertifiedElements("link", _delay("normal")),
    "delay normal, table": CertifiedElements("link", _delay("normal", depth=1024)),
    "delay pareto, free order": CertifiedElements("link", _delay("pareto", "free")),
    "delay pareto-normal, drifting": CertifiedElements(
        "link", _delay("pareto_normal", half_life_ns=2_000_000)
    ),
    "delay lognormal": CertifiedElements("link", _delay("lognormal", jitter_ns=500_000, sigma_ppm=500_000)),
    "delay samples": CertifiedElements("link", _delay("samples", "free", samples_ns=[0, 20_000, 700_000])),
    "delay histogram": CertifiedElements(
        "link", _delay("histogram", bins=[{"low_ns": 0, "high_ns": 900_000, "count": 3}])
    ),
    "queue head drop": CertifiedElements(
        "host.egress", [{"queue": {"buffer_packets": 10, "drop": "head"}}], _BUSY_BPS
    ),
    "queue red": CertifiedElements("host.egress", [{"queue": {"drop": _RED}}], _BUSY_BPS),
    "queue wred": CertifiedElements("host.egress", [{"queue": {"drop": _WRED}}], _BUSY_BPS),
    "queue codel": CertifiedElements("host.egress", [{"queue": {"drop": _CODEL, "ecn": True}}], _BUSY_BPS),
    "schedule strict": CertifiedElements(
        "switch.egress", [{"schedule": {"by": "strict", "queues": _STRICT}}], _BUSY_BPS
    ),
    "schedule, shared memory": CertifiedElements(
        "switch.egress",
        [{"schedule": {"by": "strict", **_SHARED}}],
        _BUSY_BPS,
    ),
    "schedule wrr": CertifiedElements(
        "switch.egress", [{"schedule": {"by": "wrr", "queues": _QUEUES}}], _BUSY_BPS
    ),
    "schedule drr": CertifiedElements(
        "switch.egress", [{"schedule": {"by": "drr", "queues": _QUEUES}}], _BUSY_BPS
    ),
    "schedule stfq": CertifiedElements(
        "switch.egress", [{"schedule": {"by": "stfq", "queues": _QUEUES}}], _BUSY_BPS
    ),
    "capacity, levels": CertifiedElements(
        "link", _capacity("levels", at_ns=[0, 3_000_000], rate_bps=[_BUSY_BPS, 0], repeat_ns=5_000_000)
    ),
    "capacity, opportunities": CertifiedElements(
        "link", _capacity("opportunities", at_ns=[0], ip_bytes=[1500], repeat_ns=700_000)
    ),
    "capacity, drawn": CertifiedElements("link", _capacity("drawn", **_DRAWN)),
    "capacity, markov": CertifiedElements("link", _capacity("markov", **_MARKOV)),
    "capacity, resampled": CertifiedElements("link", _capacity("resampled", **_RESAMPLED)),
    "lose bernoulli": CertifiedElements("link", _lose("bernoulli", share=0.05)),
    "lose gilbert-elliott": CertifiedElements("link", _lose("gilbert_elliott", p=0.02, r=0.25, h=0.5, k=1)),
    "lose four-state": CertifiedElements(
        "link", _lose("four_state", p13=0.02, p31=0.2, p32=0.1, p23=0.1, p14=0.01)
    ),
    "lose trace": CertifiedElements("link", [{"lose": {"law": {"trace": {"pattern": "0000100110"}}}}]),
    "duplicate": CertifiedElements("link", [{"duplicate": {"share_ppb": 50_000_000}}]),
    "corrupt": CertifiedElements("link", [{"corrupt": {"share_ppb": 50_000_000}}]),
    "reorder": CertifiedElements("link", [{"reorder": {"share_ppb": 50_000_000, "time_ns": 2_000_000}}]),
    "monitor": CertifiedElements("link", [{"monitor": _EVERYTHING_SEEN}], _BUSY_BPS),
}


def _typical() -> dict[str, CertifiedElements]:
    """Return typical parameters for each element, and each word of a choice, that is not chosen above."""
    known = {
        word
        for line in _CHOSEN.values()
        for element in line.elements
        for kind, parameters in element.items()
        for word in words(descriptions()[kind], parameters)
    }
    found: dict[str, CertifiedElements] = {}
    for description in descriptions().values():
        place = {"anywhere": "switch.ingress", "port": "host.egress", "link": "link"}[description.where]
        uplink_bps = _BUSY_BPS if description.where == "port" else None
        for name, parameters in typical(description):
            new = set(words(description, parameters))
            if not new <= known:
                known |= new
                found[name] = CertifiedElements(place, [{description.kind: parameters}], uplink_bps)
    return found


ELEMENTS: Mapping[str, CertifiedElements] = {**_CHOSEN, **_typical()}


_STEADY = ResolvedInterference(
    between=["h0", "h1"],
    by="ghost",
    rate=ConstantRate(constant_bps=3_000_000),
    hold_ns=20_000_000,
    pacing_ns=5_000_000,
    packet_ip_bytes=1500,
    zero="silence",
)


def _ghosts(**changes: object) -> ResolvedInterference:
    return _STEADY.model_copy(update=changes)


_NORMAL = NormalRates(mean_bps=3_000_000, sd_bps=2_000_000, low_bps=0, high_bps=12_000_000)
_ON_OFF = OnOffTimes(on_ns=5_000_000, off_ns=9_000_000, shape_thousandths=1500)
_REPLAY = ReplayedPackets(packets=[[2_000_000, 1500], [0, 60], [900_000, 900]], repeat=True)

# The uplinks' rate under interference: less than the offered packets and the interference need together.
INTERFERED_BPS = 16_000_000
INTERFERENCE: Mapping[str, ResolvedInterference] = {
    "interference, paced": _ghosts(arrivals="paced"),
    "interference, normal by window": _ghosts(rate=NormalRate(normal=_NORMAL)),
    "interference, poisson": _ghosts(arrivals="poisson", packet_ip_bytes="imix"),
    "interference, on and off": _ghosts(arrivals=SentOnOff(on_off=_ON_OFF)),
    "interference, replay": _ghosts(rate=None, arrivals=SentReplay(replay=_REPLAY)),
    "interference over tcp": _ghosts(tcp=InterferenceTcp(flows=3, congestion_control="cubic")),
}
