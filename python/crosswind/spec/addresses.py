"""Check the names in a condition: at which nodes, hosts, switches and links its elements stand."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import JsonValue

from crosswind.spec.document import Path
from crosswind.spec.draft import items, value_at
from crosswind.spec.network import ARROW
from crosswind.spec.quantities import shown
from crosswind.spec.resolved import restricted_to
from crosswind.spec.setting import Finding, Setting
from crosswind.spec.topology.placing import some_of
from crosswind.text.nearest import did_you_mean


def place_findings(data: JsonValue, path: Path, place: str, setting: Setting) -> Iterator[Finding]:
    """Yield what is wrong with the place at `path` of a condition as a whole."""
    network, written = setting.network, value_at(data, *path)
    if written is None:
        return
    if place == "wan" and network is not None and network.form != "zones":
        link = network.trunks[0].name if network.trunks else "h0"
        yield (
            path,
            f"is for links between zones, and this topology has no zones; write link: {{{link}: [...]}}",
        )
    elif isinstance(written, dict):
        for named, elements in items(data, *path):
            if not isinstance(elements, list):
                continue  # An element without its hyphen, which the reader refuses.
            yield from _name_findings(named, str(named[-1]), place, False, setting)
            for inner, element in items(data, *named):
                for (word,), parameters in items(element):
                    if value_at(parameters, "on") is not None:
                        name = shown(named[-1])
                        yield (*inner, word, "on"), f"is below {name} already; remove one of the two"


def on_findings(
    path: Path, raw: JsonValue, place: str, is_of_a_link: bool, setting: Setting
) -> Iterator[Finding]:
    """Yield names in `on` of the element at `path` that do not exist.

    Args:
        is_of_a_link: whether it stands in front of the host's link, which the host's nodes share.
    """
    for inner, name in items(raw, "on"):
        if isinstance(name, str):
            yield from _name_findings((*path, *inner), name, place, is_of_a_link, setting)


def direction_findings(path: Path, raw: JsonValue, place: str, setting: Setting) -> Iterator[Finding]:
    """Yield a `direction` where the link itself has one."""
    on = [name for _, name in items(raw, "on")]
    if value_at(raw, "direction") is not None and (place == "wan" or any(ARROW in str(name) for name in on)):
        yield (*path, "direction"), "is for links of hosts; a named link has one direction already: remove it"


def with_links(
    elements: list[tuple[Path, JsonValue]], place: str, setting: Setting
) -> list[tuple[Path, JsonValue]]:
    """Return elements with the names of links in `on`, so that two on the same link share a name.

    A star is returned as written: each host has one link there, and errors show what was written.
    """
    network = setting.network
    if network is None or network.form == "star":
        return elements

    def named(element: JsonValue) -> JsonValue:
        if not isinstance(element, dict):
            return element
        return {
            word: {
                **parameters,
                "on": [link.name for link in network.wires(place, restricted_to(parameters))],
            }
            if isinstance(parameters, dict) and isinstance(parameters.get("on"), list | None)
            else parameters
            for word, parameters in element.items()
        }

    return [(path, named(element)) for path, element in elements]


def _name_findings(
    path: Path, name: str, place: str, is_of_a_link: bool, setting: Setting
) -> Iterator[Finding]:
    at_hosts = place.startswith("host.")
    hosts = setting.hosts or []
    if setting.network is not None:
        nodes: list[str] = list(setting.network.nodes)
        known = setting.network.names_at(place)
    elif setting.hosts is not None and setting.nodes is not None:
        nodes = list(setting.nodes)
        known = [*nodes, *hosts] if at_hosts else hosts
    else:
        return
    if at_hosts and is_of_a_link:
        known = [each for each in known if each not in nodes]
    if name in known:
        return
    form = "star" if setting.network is None else setting.network.form
    switch = {"star": None, "zones": "zone with hosts", "graph": "switch"}[form]
    if place == "wan":
        nouns = [f"pair of zones with hosts (a{ARROW}b)", "zone with hosts"]
    elif at_hosts:
        nouns = ["node"] * (not is_of_a_link) + ["host", *([switch] if switch else [])]
    else:
        nouns = ["host", *([switch, "link"] if switch else [])]
    noun = f"{', '.join(nouns[:-1])} or {nouns[-1]}" if len(nouns) > 1 else nouns[0]
    # In a star, only the names of hosts and nodes help.
    offered = [each for each in known if each in nodes or each in hosts] if form == "star" else known
    remedy = did_you_mean(name, known) or f"choose one of {some_of(offered)}"
    # The place of the problem names a key of a mapping already.
    what = "is" if path[-1] == name else f"{shown(name)} is"
    yield path, f"{what} not a {noun}; {remedy}"
