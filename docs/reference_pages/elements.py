"""docs/reference/elements.md: elements, from elements.json and the headers of the engine's modules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from crosswind.spec.description import Alternative, Choice, Description, Group, Listed, Type
from crosswind.spec.element_kind import KINDS, ElementKind
from crosswind.spec.short_form import SHORT_FORMS, parameters_in_full
from reference_pages import markdown
from reference_pages.keys import keys_table, models_below

_ROOT = Path(__file__).parents[2]

_INTRODUCTION = """\
Elements treat packets. A condition names them by place ([guide](../guides/conditions.md)); links and sources
are not written as elements, they come from the topology's `uplink` and from
[`interference`](experiment-file.md#interference). Policers and
shapers count IP bytes; links count wire bytes (header, checksum, preamble and gap included). The
text of each section is the head of the module that does the work."""

_TCP = ("sender", "window", "rtt", "receiver")

# Further sections about elements from other modules, by the element that they follow. Modules are paths in
# the engine's source, or from the root where they begin with `crates/`. A section with the title of a part of
# the element's parameters belongs to that part.
_BEHIND: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "police": {"token bucket": ("meter/token_bucket.rs",)},
    "credit": {"two speeds": ("shaper/two_speed.rs",), "Loop": ("shaper/credit_loop.rs",)},
    "trtcm": {"colours": ("meter/colour.rs",)},
    "delay": {
        "line of delay": ("delay/line.rs",),
        "laws of delay": ("delay/law.rs",),
        "MeasuredLaw": ("delay/empirical.rs",),
        "half_life of delay": ("delay/drift.rs",),
    },
    "monitor": {
        "Match": ("monitor/select.rs",),
        "monitor: utilisation": ("monitor/utilisation.rs",),
        "monitor: packet-rate": ("monitor/packet_rate.rs",),
        "monitor: packet-size": ("monitor/packet_size.rs",),
        "monitor: interarrival, ipg": ("monitor/gap.rs",),
        "monitor: burst": ("monitor/burst.rs",),
        "monitor: queue-depth": ("monitor/queue_depth.rs",),
        "monitor: queue-delay": ("monitor/queue_delay.rs",),
        "monitor: drops": ("monitor/drops.rs",),
        "monitor: flow-size": ("crates/monitor/src/flow_size.rs", "crates/monitor/src/flows.rs"),
        "monitor: tcp-window": ("crates/monitor/src/tcp_window.rs",),
        "monitor: rtt": ("crates/monitor/src/rtt.rs",),
        "monitor: retransmissions": ("crates/monitor/src/retransmission.rs",),
        "monitor: reordering": ("crates/monitor/src/reordering.rs",),
        "monitor: histograms": ("monitor/histogram.rs", "monitor/trend.rs"),
    },
    "queue": {
        "managed queue": ("queue/managed.rs",),
        "buffer": ("queue/buffer.rs",),
        "memory": ("queue/memory.rs",),
        "drop": ("queue/drop/mod.rs",),
        "average queue": ("queue/drop/average.rs",),
        "ecn": ("ecn.rs",),
    },
    "schedule": {f"schedule by {by}": (f"scheduler/{by}.rs",) for by in ("strict", "wrr", "drr", "stfq")},
    "capacity": {
        f"capacity: {process}": (f"process/{process}.rs",)
        for process in ("levels", "opportunities", "log", "drawn", "markov", "resampled")
    },
}
_NO_ELEMENTS: Mapping[str, tuple[str, ...]] = {
    "link": ("link/mod.rs", "link/transmitter.rs", "link/serialiser.rs", "packet.rs"),
    "interference": ("source/paced.rs", "source/rate_law.rs", "source/sizes.rs"),
    "interference, poisson": ("source/poisson.rs",),
    "interference, on and off": ("source/on_off.rs",),
    "interference, replay": ("source/replay.rs",),
    "interference over tcp": ("source/tcp/mod.rs", *(f"source/tcp/{part}.rs" for part in _TCP)),
    "random streams": ("random.rs",),
}


def page() -> str:
    """Return the page."""
    sections = [section for kind in KINDS.values() for section in _sections(kind)]
    sections += [_section(title, _heads(modules)) for title, modules in _NO_ELEMENTS.items()]
    # A section that several elements share, such as drop policies, comes after the last of them.
    once = list(dict.fromkeys(reversed(sections)))[::-1]
    return markdown.page(
        "Elements",
        "python/crosswind/spec/elements.json and the module headers of crates",
        _INTRODUCTION,
        *once,
    )


def _sections(kind: ElementKind) -> Iterator[str]:
    """Yield the sections of one element: itself, the parts of its parameters, and further sections."""
    description = kind.description
    yield _section(
        description.kind, [keys_table(kind.model), *_in_short(description.kind), *_manual(description)]
    )
    behind = dict(_BEHIND.get(description.kind, {}))
    pages = {each.group.title or each.word: each for each in _alternatives(description.group)}
    for model in models_below(kind.model)[1:]:
        title = model.__name__
        # What a policy or law is called in files is what people look for.
        alternative = pages.pop(title, None)
        manual = [] if alternative is None else _manual(alternative)
        yield _section(
            title if alternative is None else alternative.word,
            [_anchor(title, alternative), keys_table(model), *manual, *_heads(behind.pop(title, ()))],
        )
    for word, alternative in pages.items():
        if alternative.page:
            yield _section(word, _manual(alternative))
    for title, modules in behind.items():
        yield _section(title, _heads(modules))


def _anchor(title: str, alternative: Alternative | None) -> str:
    """Return the place that tables link to, where the heading is another word than the model's name."""
    renamed = alternative is not None and alternative.word != title.lower()
    return f'<a id="{title.lower()}"></a>' if renamed else ""


def _section(title: str, parts: list[str]) -> str:
    return "\n\n".join([f"## {title}", *(part for part in parts if part)])


def _in_short(kind: str) -> list[str]:
    if kind not in SHORT_FORMS:
        return []
    short, full = short_and_full(kind)
    return [f"In short: {short}, which stands for {full}."]


def _manual(described: Description | Alternative) -> list[str]:
    return [described.page, f"<sub>{described.file}</sub>"] if described.page else []


def _heads(modules: tuple[str, ...]) -> list[str]:
    """Return the heads of modules, each with its path."""
    paths = [module if module.startswith("crates/") else f"crates/engine/src/{module}" for module in modules]
    return [part for path in paths for part in (_head(_ROOT / path), f"<sub>{path}</sub>")]


def _alternatives(group: Group) -> Iterator[Alternative]:
    """Yield every word of every choice in a mapping, those of its parts included."""
    for parameter in group.parameters:
        yield from _alternatives_of(parameter.type)


def _alternatives_of(of: Type) -> Iterator[Alternative]:
    match of:
        case Choice():
            for alternative in of.alternatives:
                yield alternative
                yield from _alternatives(alternative.group)
        case Group():
            yield from _alternatives(of)
        case Listed():
            yield from _alternatives_of(of.of)


def short_and_full(word: str) -> tuple[str, str]:
    """Return an example of an element in its short form, and what it stands for, as a file writes them."""
    key, example = SHORT_FORMS[word].key, SHORT_FORMS[word].example
    full = parameters_in_full(word, example)
    assert isinstance(full, dict), "a short form stands for parameters"
    others = {name: value for name, value in full.items() if name != key}
    written = ", ".join([f"{key}: {example}", *(f"{name}: {value}" for name, value in others.items())])
    return f"`{word}: {example}`", f"`{word}: {{{written}}}`"


def _head(module: Path) -> str:
    """Return the `//!` lines at the top of a Rust module."""
    lines = []
    for line in module.read_text(encoding="utf-8").splitlines():
        if not line.startswith("//!"):
            break
        lines.append(line.removeprefix("//!").removeprefix(" "))
    return "\n".join(lines).strip()
