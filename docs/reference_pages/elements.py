"""docs/reference/elements.md: what happens to packets, from the heads of the engine's modules."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel

from crosswind.spec.buffer import Bdp
from crosswind.spec.capacity import Capacity, MarkovState
from crosswind.spec.credit import Credit, Loop
from crosswind.spec.delay import Bin, Delay, Lognormal, MeasuredLaw
from crosswind.spec.element import Mark, Police, Schedule, Shape
from crosswind.spec.impairment import Corrupt, Duplicate, Reorder
from crosswind.spec.loss import FourState, GilbertElliott, Lose, LossTrace
from crosswind.spec.meter import Srtcm, Trtcm
from crosswind.spec.monitor import Match, Monitor
from crosswind.spec.pace import Pace
from crosswind.spec.queue import Codel, EarlyDrop, Profile, Queue, Red, ScheduledQueue, Wred
from reference_pages import markdown
from reference_pages.keys import keys_table

_ROOT = Path(__file__).parents[2]

_INTRODUCTION = """\
Elements treat packets. A condition names them by place ([guide](../guides/conditions.md)); links and sources
are not written as elements, they come from the topology's `uplink` and from
[`interference`](experiment-file.md#interference). Policers and
shapers count IP bytes; links count wire bytes (header, checksum, preamble and gap included). The
text of each section is the head of the module that does the work."""


@dataclass(frozen=True)
class _Entry:
    """One section: the keys a file may write, if any, and the modules whose heads are its manual.

    Modules are paths in the engine's source, or from the root where they begin with `crates/`.
    """

    title: str
    modules: tuple[str, ...]
    keys: type[BaseModel] | None = None


_TCP = ("sender", "window", "rtt", "receiver")

_ENTRIES = (
    _Entry("police", ("meter/police.rs", "meter/token_bucket.rs"), Police),
    _Entry("shape", ("shaper/shape.rs",), Shape),
    _Entry("credit", ("shaper/credit.rs", "shaper/two_speed.rs"), Credit),
    _Entry("loop", ("shaper/credit_loop.rs",), Loop),
    _Entry("pace", ("shaper/edt.rs",), Pace),
    _Entry("srtcm", ("meter/srtcm_rfc2697.rs",), Srtcm),
    _Entry("trtcm", ("meter/trtcm_rfc2698.rs",), Trtcm),
    _Entry("colours", ("meter/colour.rs",)),
    _Entry("mark", ("marker/mark.rs",), Mark),
    _Entry("delay", ("delay/mod.rs", "delay/line.rs"), Delay),
    _Entry("laws of delay", ("delay/law.rs",)),
    _Entry("MeasuredLaw", ("delay/empirical.rs",), MeasuredLaw),
    _Entry("Lognormal", (), Lognormal),
    _Entry("Bin", (), Bin),
    _Entry("half_life of delay", ("delay/drift.rs",)),
    _Entry("lose", ("loss/mod.rs",), Lose),
    _Entry("GilbertElliott", ("loss/gilbert_elliott.rs",), GilbertElliott),
    _Entry("FourState", ("loss/four_state.rs",), FourState),
    _Entry("LossTrace", ("loss/trace.rs",), LossTrace),
    _Entry("duplicate", ("impairment/duplicate.rs",), Duplicate),
    _Entry("corrupt", ("impairment/corrupt.rs",), Corrupt),
    _Entry("reorder", ("impairment/reorder.rs",), Reorder),
    _Entry("monitor", ("monitor/element.rs",), Monitor),
    _Entry("match", ("monitor/select.rs",), Match),
    _Entry("monitor: utilisation", ("monitor/utilisation.rs",)),
    _Entry("monitor: packet-rate", ("monitor/packet_rate.rs",)),
    _Entry("monitor: packet-size", ("monitor/packet_size.rs",)),
    _Entry("monitor: interarrival, ipg", ("monitor/gap.rs",)),
    _Entry("monitor: burst", ("monitor/burst.rs",)),
    _Entry("monitor: queue-depth", ("monitor/queue_depth.rs",)),
    _Entry("monitor: queue-delay", ("monitor/queue_delay.rs",)),
    _Entry("monitor: drops", ("monitor/drops.rs",)),
    _Entry("monitor: flow-size", ("crates/monitor/src/flow_size.rs", "crates/monitor/src/flows.rs")),
    _Entry("monitor: tcp-window", ("crates/monitor/src/tcp_window.rs",)),
    _Entry("monitor: rtt", ("crates/monitor/src/rtt.rs",)),
    _Entry("monitor: retransmissions", ("crates/monitor/src/retransmission.rs",)),
    _Entry("monitor: reordering", ("crates/monitor/src/reordering.rs",)),
    _Entry("monitor: histograms", ("monitor/histogram.rs", "monitor/trend.rs")),
    _Entry("queue", ("queue/mod.rs", "queue/managed.rs"), Queue),
    _Entry("buffer", ("queue/buffer.rs",)),
    _Entry("bdp", (), Bdp),
    _Entry("memory", ("queue/memory.rs",)),
    _Entry("drop", ("queue/drop/mod.rs",)),
    _Entry("EarlyDrop", (), EarlyDrop),
    _Entry("head", ("queue/drop/head.rs",)),
    _Entry("red", ("queue/drop/red.rs", "queue/drop/average.rs"), Red),
    _Entry("wred", ("queue/drop/wred.rs",), Wred),
    _Entry("profile", (), Profile),
    _Entry("codel", ("queue/drop/codel.rs",), Codel),
    _Entry("ecn", ("ecn.rs",)),
    _Entry("schedule", ("scheduler/mod.rs",), Schedule),
    _Entry(
        "capacity",
        (
            "process/mod.rs",
            "process/levels.rs",
            "process/opportunities.rs",
            "process/drawn.rs",
            "process/markov.rs",
            "process/resampled.rs",
        ),
        Capacity,
    ),
    _Entry("MarkovState", (), MarkovState),
    _Entry("ScheduledQueue", (), ScheduledQueue),
    _Entry("schedule by strict", ("scheduler/strict.rs",)),
    _Entry("schedule by wrr", ("scheduler/wrr.rs",)),
    _Entry("schedule by drr", ("scheduler/drr.rs",)),
    _Entry("schedule by stfq", ("scheduler/stfq.rs",)),
    _Entry("link", ("link/mod.rs", "link/transmitter.rs", "link/serialiser.rs", "packet.rs")),
    _Entry("interference", ("source/paced.rs", "source/rate_law.rs", "source/sizes.rs")),
    _Entry("interference, poisson", ("source/poisson.rs",)),
    _Entry("interference, on and off", ("source/on_off.rs",)),
    _Entry("interference, replay", ("source/replay.rs",)),
    _Entry("interference over tcp", ("source/tcp/mod.rs", *(f"source/tcp/{part}.rs" for part in _TCP))),
    _Entry("random streams", ("random.rs",)),
)


def page() -> str:
    """Return the page."""
    return markdown.page(
        "Elements",
        "the module headers of crates/engine/src and python/crosswind/spec/element.py",
        _INTRODUCTION,
        *(_section(entry) for entry in _ENTRIES),
    )


def _section(entry: _Entry) -> str:
    parts = [f"## {entry.title}"]
    if entry.keys is not None:
        parts.append(keys_table(entry.keys))
    for module in entry.modules:
        path = module if module.startswith("crates/") else f"crates/engine/src/{module}"
        parts += [_head(_ROOT / path), f"<sub>{path}</sub>"]
    return "\n\n".join(parts)


def _head(module: Path) -> str:
    """Return the `//!` lines at the top of a Rust module."""
    lines = []
    for line in module.read_text(encoding="utf-8").splitlines():
        if not line.startswith("//!"):
            break
        lines.append(line.removeprefix("//!").removeprefix(" "))
    return "\n".join(lines).strip()
