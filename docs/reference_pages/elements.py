"""docs/reference/elements.md: what happens to packets, from the heads of the engine's modules."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel

from crosswind.spec.element import Delay, Mark, Police, Queue, Schedule, Shape
from reference_pages import markdown
from reference_pages.keys import keys_table

_ENGINE = Path(__file__).parents[2] / "crates" / "engine" / "src"

_INTRODUCTION = """\
Elements treat packets. A condition names them by place ([guide](../guides/conditions.md)); links and sources
are not written as elements, they come from the topology's `uplink` and from `interference`. Policers and
shapers count IP bytes; links count wire bytes (header, checksum, preamble and gap included). The
text of each section is the head of the module that does the work."""


@dataclass(frozen=True)
class _Entry:
    """One section: the keys a file may write, if any, and the modules whose heads are its manual."""

    title: str
    modules: tuple[str, ...]
    keys: type[BaseModel] | None = None


_ENTRIES = (
    _Entry("police", ("meter/police.rs", "meter/token_bucket.rs"), Police),
    _Entry("shape", ("shaper/shape.rs",), Shape),
    _Entry("mark", ("marker/mark.rs",), Mark),
    _Entry("delay", ("delay/constant.rs", "delay/line.rs"), Delay),
    _Entry("schedule", ("scheduler/mod.rs",), Schedule),
    _Entry("queue", ("queue/mod.rs", "queue/buffer.rs"), Queue),
    _Entry("schedule by strict", ("scheduler/strict.rs",)),
    _Entry("schedule by wrr", ("scheduler/wrr.rs",)),
    _Entry("schedule by drr", ("scheduler/drr.rs",)),
    _Entry("link", ("link/mod.rs", "link/serialiser.rs", "packet.rs")),
    _Entry("interference", ("source/paced.rs", "source/rate_law.rs")),
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
        parts += [_head(_ENGINE / module), f"<sub>crates/engine/src/{module}</sub>"]
    return "\n\n".join(parts)


def _head(module: Path) -> str:
    """Return the `//!` lines at the top of a Rust module."""
    lines = []
    for line in module.read_text(encoding="utf-8").splitlines():
        if not line.startswith("//!"):
            break
        lines.append(line.removeprefix("//!").removeprefix(" "))
    return "\n".join(lines).strip()
