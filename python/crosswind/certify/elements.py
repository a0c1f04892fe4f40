"""Each element and kind of interference with parameters under which it decides about single packets.

The live suite records the emulator's decisions under each and replays them in virtual time. The lines here
are chosen with care; an element, or a word of one, that has none is certified with typical parameters.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from crosswind.certify.typical import chosen, typical
from crosswind.spec.description import descriptions

# What is offered: 400 packets of 1500 IP bytes.
OFFERED_BPS = 16_000_000
OFFERED_S = 0.3

_QUEUES = [{"dscp": [46], "weight": 3, "buffer_bytes": 20_000}, {"dscp": None, "weight": 1}]
_STRICT = [{"dscp": [46], "buffer_bytes": 20_000}, {"dscp": None}]
_BUSY_BPS = 12_000_000
_CODEL = {"codel": {"target_ns": 1_000_000, "interval_ns": 20_000_000}}
_RED = {
    "red": {"min_bytes": 3000, "max_bytes": 15_000, "probability_ppb": 200_000_000, "weight_ppb": 100_000_000}
}
_PROFILE = ("min_bytes", "max_bytes", "probability_ppb")
_SRTCM = {"cir_bps": 6_000_000, "cbs_bytes": 6000, "ebs_bytes": 6000, "yellow": "remark", "red": "drop"}
_CREDIT = {
    "budget_bits": 600_000,
    "initial_bits": 600_000,
    "high_bps": 12_000_000,
    "low_bps": 6_000_000,
    "refill_bps": 3_000_000,
    "buffer_bytes": 60_000,
}
_LOOP = {"interval_ns": 20_000_000, "reopen_bits": 120_000}
_TRTCM = {
    "cir_bps": 6_000_000,
    "cbs_bytes": 6000,
    "pir_bps": 8_000_000,
    "pbs_bytes": 6000,
    "yellow": {"dscp": 12},
    "red": "drop",
}


_WRED = {
    "wred": {
        **{colour: {key: _RED["red"][key] for key in _PROFILE} for colour in ("green", "yellow", "red")},
        "weight_ppb": _RED["red"]["weight_ppb"],
    }
}
_SHARED = {
    "memory_bytes": 60_000,
    "queues": [{"dscp": [46], "alpha_ppb": 2_000_000_000}, {"dscp": None}],
}
_EVERYTHING_SEEN = {
    "what": ["utilisation", "packet-rate", "packet-size", "ipg", "burst", "queue-depth", "drops"],
    "window_ns": 1_000_000,
    "burst_gap_ns": 100,
    "match": {},
    "start": {"after_ns": 0},
}
_DRAWN = {
    "cells": [{"low_bps": 8_000_000, "high_bps": 40_000_000, "weight": 1}],
    "grid_bps": 1000,
    "hold_ns": 2_000_000,
}
_RESAMPLED = {
    "at_ns": [0, 3_000_000, 4_000_000],
    "rate_bps": [40_000_000, 8_000_000, 0],
    "period_ns": 5_000_000,
    "block_ns": 2_000_000,
}
_MARKOV = {
    "states": [
        {"rate_bps": 40_000_000, "next_ppb": [700_000_000, 300_000_000]},
        {"rate_bps": 0, "next_ppb": [500_000_000, 500_000_000]},
    ],
    "hold_ns": 2_000_000,
}


def _capacity(**process: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return a process that begins again every 5 ms, or 0.7 ms for opportunities."""
    ((kind, schedule),) = process.items()
    repeat_ns = 700_000 if kind == "opportunities" else 5_000_000
    return [{"capacity": {"process": {kind: {**schedule, "repeat_ns": repeat_ns}}}}]


def _delay(
    law: str, order: str = "keep", half_life_ns: int | None = None, depth: int | None = None, **shape: Any
) -> list[Mapping[str, Any]]:
    random = {
        "law": {law: shape or {"jitter_ns": 500_000}},
        "depth": depth,
        "order": order,
        "half_life_ns": half_life_ns,
    }
    return [{"delay": {"time_ns": 3_000_000, "random": random}}]


def _lose(law: str, **shares: float) -> list[Mapping[str, Any]]:
    return [{"lose": {"law": {law: {f"{name}_ppb": round(share * 1e9) for name, share in shares.items()}}}}]


def _shape(**queue: Any) -> list[Mapping[str, Any]]:
    return [{"shape": {"rate_bps": 8_000_000, "burst_bytes": 10_000, **queue}}]


_Line = tuple[str, list[Mapping[str, Any]], int | None]

_LINES: Mapping[str, _Line] = {
    "link": ("link", [], _BUSY_BPS),
    "police": ("switch.ingress", [{"police": {"rate_bps": 8_000_000, "burst_bytes": 10_000}}], None),
    "shape": ("switch.ingress", _shape(buffer_bytes=40_000, drop="tail"), None),
    "shape, head drop": ("switch.ingress", _shape(buffer_packets=20, drop="head"), None),
    "credit": ("switch.ingress", [{"credit": _CREDIT}], None),
    "credit with a loop": ("switch.ingress", [{"credit": {**_CREDIT, "loop": _LOOP}}], None),
    "pace": ("switch.ingress", [{"pace": {"rate_bps": 8_000_000, "horizon_ns": 50_000_000}}], None),
    "srtcm": ("switch.ingress", [{"srtcm": _SRTCM}], None),
    "trtcm": ("switch.ingress", [{"trtcm": _TRTCM}], None),
    "mark": ("host.egress", [{"mark": {"dscp": 46}}], None),
    "delay": ("link", [{"delay": {"time_ns": 3_000_000}}], None),
    "delay uniform": ("link", _delay("uniform"), None),
    "delay normal": ("link", _delay("normal"), None),
    "delay normal, table": ("link", _delay("normal", depth=1024), None),
    "delay pareto, free order": ("link", _delay("pareto", "free"), None),
    "delay pareto-normal, drifting": ("link", _delay("pareto_normal", half_life_ns=2_000_000), None),
    "delay lognormal": ("link", _delay("lognormal", jitter_ns=500_000, sigma_ppm=500_000), None),
    "delay samples": ("link", _delay("samples", "free", samples_ns=[0, 20_000, 700_000]), None),
    "delay histogram": (
        "link",
        _delay("histogram", bins=[{"low_ns": 0, "high_ns": 900_000, "count": 3}]),
        None,
    ),
    "queue head drop": ("host.egress", [{"queue": {"buffer_packets": 10, "drop": "head"}}], _BUSY_BPS),
    "queue red": ("host.egress", [{"queue": {"drop": _RED}}], _BUSY_BPS),
    "queue wred": ("host.egress", [{"queue": {"drop": _WRED}}], _BUSY_BPS),
    "queue codel": ("host.egress", [{"queue": {"drop": _CODEL, "ecn": True}}], _BUSY_BPS),
    "schedule strict": ("switch.egress", [{"schedule": {"by": "strict", "queues": _STRICT}}], _BUSY_BPS),
    "schedule, shared memory": (
        "switch.egress",
        [{"schedule": {"by": "strict", **_SHARED}}],
        _BUSY_BPS,
    ),
    "schedule wrr": ("switch.egress", [{"schedule": {"by": "wrr", "queues": _QUEUES}}], _BUSY_BPS),
    "schedule drr": ("switch.egress", [{"schedule": {"by": "drr", "queues": _QUEUES}}], _BUSY_BPS),
    "schedule stfq": ("switch.egress", [{"schedule": {"by": "stfq", "queues": _QUEUES}}], _BUSY_BPS),
    "capacity, levels": (
        "link",
        _capacity(levels={"at_ns": [0, 3_000_000], "rate_bps": [_BUSY_BPS, 0]}),
        None,
    ),
    "capacity, opportunities": ("link", _capacity(opportunities={"at_ns": [0], "ip_bytes": [1500]}), None),
    "capacity, drawn": ("link", [{"capacity": {"process": {"drawn": _DRAWN}}}], None),
    "capacity, markov": ("link", [{"capacity": {"process": {"markov": _MARKOV}}}], None),
    "capacity, resampled": ("link", [{"capacity": {"process": {"resampled": _RESAMPLED}}}], None),
    "lose bernoulli": ("link", _lose("bernoulli", share=0.05), None),
    "lose gilbert-elliott": ("link", _lose("gilbert_elliott", p=0.02, r=0.25, h=0.5, k=1), None),
    "lose four-state": ("link", _lose("four_state", p13=0.02, p31=0.2, p32=0.1, p23=0.1, p14=0.01), None),
    "lose trace": ("link", [{"lose": {"law": {"trace": {"pattern": "0000100110"}}}}], None),
    "duplicate": ("link", [{"duplicate": {"share_ppb": 50_000_000}}], None),
    "corrupt": ("link", [{"corrupt": {"share_ppb": 50_000_000}}], None),
    "reorder": ("link", [{"reorder": {"share_ppb": 50_000_000, "time_ns": 2_000_000}}], None),
    "monitor": ("link", [{"monitor": _EVERYTHING_SEEN}], _BUSY_BPS),
}


def _others() -> dict[str, _Line]:
    """Return a line with typical parameters for each element, and word of a choice, that has none above."""
    known = {
        word
        for _, elements, _ in _LINES.values()
        for element in elements
        for kind, sent in element.items()
        for word in chosen(descriptions()[kind], sent)
    }
    found: dict[str, _Line] = {}
    for description in descriptions().values():
        place = {"anywhere": "switch.ingress", "port": "host.egress", "link": "link"}[description.where]
        busy_bps = _BUSY_BPS if description.where == "port" else None
        for name, sent in typical(description):
            said = set(chosen(description, sent))
            if not said <= known:
                known |= said
                found[name] = (place, [{description.kind: sent}], busy_bps)
    return found


# By name: the place, the elements, and the uplinks' rate where the element needs a link that is busy.
ELEMENTS: Mapping[str, _Line] = {**_LINES, **_others()}


def _ghosts(**more: Any) -> Mapping[str, Any]:
    return {
        "between": ["h0", "h1"],
        "by": "ghost",
        "rate": {"constant_bps": 3_000_000},
        "hold_ns": 20_000_000,
        "pacing_ns": 5_000_000,
        "packet_ip_bytes": 1500,
        "zero": "silence",
        **more,
    }


_NORMAL = {"mean_bps": 3_000_000, "sd_bps": 2_000_000, "low_bps": 0, "high_bps": 12_000_000}

# By name; on uplinks of `INTERFERED_BPS`, which have less than both need.
INTERFERED_BPS = 16_000_000
INTERFERENCE: Mapping[str, Mapping[str, Any]] = {
    "interference, paced": _ghosts(arrivals="paced"),
    "interference, normal by window": _ghosts(rate={"normal": _NORMAL}),
    "interference, poisson": _ghosts(arrivals="poisson", packet_ip_bytes="imix"),
    "interference, on and off": _ghosts(
        arrivals={"on_off": {"on_ns": 5_000_000, "off_ns": 9_000_000, "shape_thousandths": 1500}}
    ),
    "interference, replay": _ghosts(
        rate=None,
        arrivals={"replay": {"packets": [[2_000_000, 1500], [0, 60], [900_000, 900]], "repeat": True}},
    ),
    "interference over tcp": _ghosts(tcp={"flows": 3, "congestion_control": "cubic"}),
}
