"""docs/reference/experiment-file.md: every key of an experiment file, and of each application."""

from __future__ import annotations

from typing import Any, get_args

from pydantic import BaseModel

from crosswind import app
from crosswind.spec.element import ElementMapping
from crosswind.spec.experiment import Experiment
from crosswind.spec.quantities import DSCP_NAMES, RATE, SIZE, TIME
from crosswind.spec.short_form import SHORT_FORMS
from crosswind.spec.sizes_file import sizes_of
from crosswind.spec.testbed.provided import declared_provider, provider_names
from crosswind.spec.topology import AnyTopology
from reference_pages import markdown
from reference_pages.elements import short_and_full
from reference_pages.keys import keys_table, models_below

_INTRODUCTION = """\
An experiment is one YAML 1.2 file. `crosswind init` writes a commented one, `crosswind validate` checks one
and names every problem with line, column and remedy, and the [JSON Schema](schema/experiment-v1.json) lets
an editor complete it. A key that is not in these tables is an error. A file for `crosswind up` needs
`topology` only, and may have `scale`, `time` and one `condition`. A file has at most 4 MiB, 20,000
values, 64 levels and 20,000 conditions."""

# Elements have a page of their own.
_ELEMENTS = """\
Its parameters, and what it does: [elements](elements.md). Where one parameter is enough, it may stand in
place of the mapping. What is resolved, recorded and compared is the long form. `police: RATE` has a burst of
what the rate brings in 10 ms, and of 15 kB at least."""


def page() -> str:
    """Return the page."""
    models = [model for model in models_below(Experiment) if not _is_below_element(model)]
    return markdown.page(
        "The experiment file",
        "python/crosswind/spec and python/crosswind/app",
        _INTRODUCTION,
        _quantities(),
        *(_section(model) for model in models),
        *(_provider(name) for name in provider_names()),
        *(_application(name) for name in app.names()),
    )


def _is_below_element(model: type[BaseModel]) -> bool:
    # What a topology uses too, such as a buffer's size, is described on both pages.
    of_topologies = [below for form in get_args(AnyTopology) for below in models_below(form)]
    of_elements = models_below(ElementMapping)
    return model is not ElementMapping and model in of_elements and model not in of_topologies


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
    body = _elements() if model is ElementMapping else keys_table(model)
    return "\n\n".join([f"## {name}", (model.__doc__ or "").strip(), body])


def _elements() -> str:
    return _ELEMENTS + "\n\n" + markdown.table(["written", "stands for"], map(short_and_full, SHORT_FORMS))


def _provider(name: str) -> str:
    kind = declared_provider(name)
    parts = [f"## Provider {name}", f"{kind.summary.capitalize()}.", keys_table(kind.Parameters)]
    for model in models_below(kind.Parameters)[1:]:
        if model not in models_below(Experiment):
            parts += [f"### {model.__name__}", (model.__doc__ or "").strip(), keys_table(model)]
    return "\n\n".join(parts)


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
