"""Domains as a file declares them: parts of a network, each carried by a thread of the emulator.

Where domains are written out, each link between two of them needs a delay: one thread may be ahead of the
other by this delay (crates/fabric/src/domains.rs). Where they are a number, the engine chooses them. The
machine decides what `auto` means (crosswind/doctor/domains.py).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Annotated, Literal

from pydantic import BeforeValidator, Discriminator, Field, Tag

from crosswind.spec.network import Domains, Link, Network
from crosswind.spec.quantities import QuantityError, shown
from crosswind.spec.setting import Finding
from crosswind.spec.topology.placing import Placed, some_of
from crosswind.text.nearest import did_you_mean

DOMAINS_MAX = 64
# The emulator refuses shorter links between written domains (docs/reference/contracts.md, section 1).
CUT_DELAY_NS_MIN = 100_000
_CUT_DELAY = "100us"


def _word_number_or_lists(value: object) -> object:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    if value != "auto" and not is_number and not isinstance(value, list):
        raise QuantityError(
            f"{shown(value)} is neither auto, nor a number, nor lists of switches and hosts; write 2, or "
            "[[leaf0, h0], [leaf1]]"
        )
    return value


def _written_as(value: object) -> str:
    if isinstance(value, list):
        return "written out"
    return "a word" if isinstance(value, str) else "a number"


_Count = Annotated[int, Field(ge=1, le=DOMAINS_MAX)]
_Lists = Annotated[list[list[str]], Field(min_length=1, max_length=DOMAINS_MAX)]
WrittenDomains = Annotated[
    Annotated[Literal["auto"], Tag("a word")]
    | Annotated[_Count, Tag("a number")]
    | Annotated[_Lists, Tag("written out")],
    Discriminator(_written_as),
    BeforeValidator(_word_number_or_lists, json_schema_input_type=Literal["auto"] | _Count | _Lists),
]


def name_findings(
    domains: Domains, placed: Placed, switches: Collection[str], left_out: Collection[str], noun: str
) -> Iterator[Finding]:
    """Yield what is wrong with the names in domains that are written out, with the path inside the topology.

    Args:
        left_out: switches that are not part of the network, because they have no hosts.
        noun: the name of a switch in this form of topology.
    """
    if not isinstance(domains, tuple):
        return
    first: dict[str, int] = {}
    known = [*switches, *placed.hosts]
    for index, names in enumerate(domains):
        if not names:
            yield ("domains", index), f"is empty; name a {noun} or a host, or remove it"
        for position, name in enumerate(names):
            where = ("domains", index, position)
            if name in first:
                yield where, f"{shown(name)} is named twice (first in item {first[name] + 1}); name it once"
            elif name in placed.nodes and name not in known:
                yield where, f"{shown(name)} is a node; name its host {placed.nodes[name]}"
            elif name in left_out:
                yield (
                    where,
                    f"{shown(name)} is a {noun} without hosts, which is not part of the network; remove it",
                )
            elif name not in known:
                remedy = did_you_mean(name, known) or f"choose one of {some_of(known)}"
                yield where, f"{shown(name)} is neither a {noun} nor a host; {remedy}"
            first.setdefault(name, index)
    if lacking := [name for name in switches if name not in first]:
        yield ("domains",), f"lacks {some_of(lacking)}; name every {noun} in one domain"


def cut_findings(network: Network) -> Iterator[Finding]:
    """Yield links between two written domains that cannot be cut."""
    found: dict[tuple[int, int, str], list[Link]] = {}
    for link in network.links:
        ends = {network.domain_of[end] for end in (link.source, link.target) if end in network.domain_of}
        why = _why_not(link)
        if len(ends) == 2 and why is not None:
            found.setdefault((min(ends), max(ends), why), []).append(link)
    for (one, other, why), links in found.items():
        yield (
            ("domains", other),
            f"is cut from item {one + 1} at {some_of([link.name for link in links])}, "
            f"{'which has' if len(links) == 1 else 'which have'} {why}; put both ends into one domain, or "
            f"give {'the link' if len(links) == 1 else 'each'} a constant delay of at least {_CUT_DELAY}",
        )


def _why_not(link: Link) -> str | None:
    """Return why a link cannot be cut; None where it can."""
    if link.jitter_ns:
        return "jitter"
    if link.delay_ns == 0:
        return "no delay"
    return f"less than {_CUT_DELAY} of delay" if link.delay_ns < CUT_DELAY_NS_MIN else None


def bound_finding(pair: tuple[str, str], network: Network) -> str | None:
    """Return what is wrong with interference between two hosts that reacts as TCP does.

    Its sender learns at once which packets reached its receiver, so both hosts must be in one domain.
    """
    one, other = pair
    needs = "reacts as TCP does, so its two hosts must be in one domain"
    if isinstance(network.domains, int) and network.domains > 1:
        return (
            f"{needs}, and `domains: {network.domains}` does not define which hosts are; write the domains "
            f"out, with {one} and {other} in one, or write domains: 1"
        )
    if len({network.domain_of[host] for host in pair if host in network.domain_of}) == 2:
        return f"{needs}; put {one} and {other} into one"
    return None
