"""docs/reference/conditions.md, experiments.md and regions.md: the catalogue's headers and contents."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib.resources.abc import Traversable

from crosswind import catalog
from crosswind.spec import load_catalogue_condition, load_experiment
from crosswind.spec.topology.region_table import load_region_table
from reference_pages import markdown

_CONDITIONS = """\
What comes with Crosswind; an experiment lists them by name, and `crosswind conditions show NAME` prints one.
The family `icpe23` is the study's set-ups as its paper describes them, `icpe23-deployed` as its published
artifact deployed them: compare the two before you compare with the paper ([why](../sources.md#icpe-23)).
`ballani-a` to `ballani-h` are links of eight clouds, as an emulator published them and corrected.
Likewise `nsdi20` and `nsdi20-deployed`: what Amazon EC2 lets a virtual machine send, and its published
emulation ([difference](../sources.md#nsdi-20)).
`clouds` is what else has been published of clouds, each with its date: what their providers state, what was
measured, and what of it is ours.
How to write one: [guide](../guides/conditions.md)."""

_EXPERIMENTS = """\
Experiments that come with Crosswind. Their names can be given wherever a file can: `crosswind plan
rpc-quick`. What each key means: [the experiment file](experiment-file.md). What they showed when they
were run: [the studies' experiments](../explanation/studies.md)."""


_REGIONS = """\
Delays between regions of clouds, and between cities, that come with Crosswind. A file names one with
`topology: {zones: {delay: {regions: NAME}}}`, and its regions are then the zones
([guide](../guides/real-networks.md)). `crosswind topology show FILE` prints the delays, one way."""


def conditions_page() -> str:
    """Return the page of conditions."""
    names = catalog.condition_names()
    return markdown.page(
        "Conditions of the catalogue",
        "python/crosswind/catalog/conditions",
        _CONDITIONS,
        _index(names, lambda name: load_catalogue_condition(name).summary),
        *(_section(name, catalog.condition_file(name)) for name in names),
    )


def experiments_page() -> str:
    """Return the page of experiments."""
    names = catalog.experiment_names()
    return markdown.page(
        "Experiments of the catalogue",
        "python/crosswind/catalog/experiments",
        _EXPERIMENTS,
        _index(names, lambda name: load_experiment(catalog.experiment_file(name)).summary),
        *(_section(name, catalog.experiment_file(name)) for name in names),
    )


def regions_page() -> str:
    """Return the page of tables of regions."""
    names = catalog.region_table_names()
    return markdown.page(
        "Tables of regions",
        "python/crosswind/catalog/regions",
        _REGIONS,
        _index(names, lambda name: load_region_table(name).summary),
        *(_region_section(name) for name in names),
    )


def _region_section(name: str) -> str:
    regions = ", ".join(f"`{region}`" for region in load_region_table(name).names)
    return "\n\n".join(
        [f"## {name}", _as_list(catalog.header(catalog.region_table_file(name))), f"Regions: {regions}."]
    )


def _index(names: list[str], summary: Callable[[str], str]) -> str:
    return markdown.table(
        ["name", "summary"], [[f"[{name}](#{markdown.anchor(name)})", summary(name)] for name in names]
    )


def _section(name: str, file: Traversable) -> str:
    text = file.read_text(encoding="utf-8")
    content = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    return "\n\n".join([f"## {name}", _as_list(catalog.header(file)), markdown.fenced(content, "yaml")])


def _as_list(header: str) -> str:
    """Return a header as a list: one item for each part, wherever its lines were broken."""
    items: list[str] = []
    ended = True
    for line in header.splitlines():
        if not items or re.match(r"[A-Z][^.:]{0,60}: ", line) or (ended and line[:1].isupper()):
            items.append(line)
        else:
            items[-1] += f" {line}"
        ended = line.endswith(".")
    return "\n".join(f"- {item}" for item in items)
