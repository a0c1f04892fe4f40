"""docs/reference/experiment-file.md: every key of an experiment file, and of each application."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from crosswind import app
from crosswind.app.sizes import sizes_of
from crosswind.spec.element import Element
from crosswind.spec.experiment import Experiment
from crosswind.spec.quantities import DSCP_NAMES, RATE, SIZE, TIME
from crosswind.spec.topology import Topology
from reference_pages import markdown
from reference_pages.keys import keys_table, models_below

_INTRODUCTION = """\
An experiment is one YAML 1.2 file. `crosswind init` writes a commented one, `crosswind validate` checks one
and names every problem with line, column and remedy, and the [JSON Schema](schema/experiment-v1.json) lets
an editor complete it. A key that is not in these tables is an error. A file for `crosswind up` needs
`topology` only, and may have `scale` and one `condition`."""

# Elements have a page of their own.
_ELSEWHERE = {"Element": "Its parameters, and what it does: [elements](elements.md)."}


def page() -> str:
    """Return the page."""
    models = [model for model in models_below(Experiment) if not _is_below_element(model)]
    return markdown.page(
        "The experiment file",
        "python/crosswind/spec and python/crosswind/app",
        _INTRODUCTION,
        _quantities(),
        *(_section(model) for model in models),
        *(_application(name) for name in app.names()),
    )


def _is_below_element(model: type[BaseModel]) -> bool:
    # What a topology uses too, such as a buffer's size, is described on both pages.
    return model is not Element and model in models_below(Element) and model not in models_below(Topology)


def _quantities() -> str:
    rows = [
        ["rate", ", ".join(f"`{unit}`" for unit in RATE.units), "`10Gbit/s`, or `unlimited`; never 0"],
        ["size", ", ".join(f"`{unit}`" for unit in SIZE.units), "`512KiB`; kB is 1000 bytes, KiB is 1024"],
        ["time", ", ".join(f"`{unit}`" for unit in TIME.units), "`10ms`"],
        ["share", "`%`", "`50%`"],
        ["operations", "`/s`", "`1000/s`"],
        ["DSCP", "none", f"0 to 63, or {', '.join(f'`{name}`' for name in DSCP_NAMES)}"],
    ]
    return "## Quantities\n\n" + markdown.table(["kind", "units", "written"], rows)


def _section(model: type[BaseModel]) -> str:
    name = model.__name__
    body = _ELSEWHERE.get(name) or keys_table(model)
    return "\n\n".join([f"## {name}", (model.__doc__ or "").strip(), body])


def _application(name: str) -> str:
    kind = app.find(name)
    parts = [f"## Application {name}", f"{kind.summary.capitalize()}.", keys_table(kind.Parameters)]
    parts += _sizes(sizes_of(kind))
    for model in models_below(kind.Parameters)[1:]:
        parts += [f"### {model.__name__}", (model.__doc__ or "").strip(), keys_table(model)]
    return "\n\n".join(parts)


def _sizes(sizes: dict[str, dict[str, Any]]) -> list[str]:
    """Return what each size fills in; nothing for an application without sizes."""
    if not sizes:
        return []
    keys = dict.fromkeys(key for parameters in sizes.values() for key in parameters)
    rows = [
        [f"`{key}`", *(f"`{parameters[key]}`" if key in parameters else "" for parameters in sizes.values())]
        for key in keys
    ]
    named = " or ".join(f"`size: {size}`" for size in sizes)
    told = f"{named} fills in what is not given:"
    return [told, markdown.table(["key", *(f"`{size}`" for size in sizes)], rows)]
