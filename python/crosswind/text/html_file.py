"""A page as one HTML file with everything in it; it needs no network, and its policy forbids to use one.

Templates, style and script are in `assets`; a template draws its figures with `figure.html.j2`.
"""

import base64
import gzip
import json
from collections.abc import Sequence
from datetime import datetime
from functools import cache
from importlib import resources

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from crosswind.text import units
from crosswind.text.picture import Picture


def render(template: str, figures: Sequence[Picture], **context: object) -> str:
    """Return a page as text.

    Args:
        template: its name in `assets`.
        figures: those that it can draw.
        context: the other variables of the template.
    """
    return (
        _environment()
        .get_template(template)
        .render(
            figures={figure.key: figure for figure in figures},
            figure_kinds={figure.key.partition("-")[0] for figure in figures},
            figure_data=json_for_script({figure.key: figure.spec for figure in figures}),
            style=_asset("report.css"),
            script=_asset("report.js"),
            plotly=_plotly(),
            **context,
        )
    )


@cache
def _environment() -> Environment:
    """Return what keeps the compiled templates: a run renders its page after every block."""
    environment = Environment(
        loader=PackageLoader("crosswind.text", "assets"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(
        number=units.number, count=units.count, percent=units.percent,
        duration=units.duration, quantity=units.quantity, rate=units.rate,
        day=_day, flat=flat, pretty=_pretty, coded=_coded, asset=_asset, json_for_script=json_for_script,
    )  # fmt: skip
    return environment


def flat(value: object, prefix: str = "") -> list[tuple[str, str]]:
    """Return nested data as (dotted name, text) rows."""
    if isinstance(value, dict) and value:
        return [
            row
            for key, member in value.items()
            for row in flat(member, f"{prefix}.{key}" if prefix else str(key))
        ]
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return [(prefix, text)]


def _day(instant: datetime | None) -> str:
    return "-" if instant is None else f"{instant:%Y-%m-%d %H:%M} UTC"


def _pretty(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def _coded(text: str) -> Markup:
    """Return text whose words between backticks are code."""
    parts = str(escape(text)).split("`")
    return Markup("".join(f"<code>{part}</code>" if i % 2 else part for i, part in enumerate(parts)))


def _asset(name: str) -> Markup:
    return Markup(resources.files("crosswind.text").joinpath("assets", name).read_text(encoding="utf-8"))


@cache
def _plotly() -> Markup:
    """Return the plotly.js of the installed plotly, compressed: 2 MB in the place of 4.8 MB.

    Browsers read the page and show its tables before they unpack and run it.
    """
    bundle = resources.files("plotly").joinpath("package_data", "plotly.min.js").read_bytes()
    # Every run and report does this: level 9 would take 0.12 s more and save 80 kB.
    return Markup(base64.b64encode(gzip.compress(bundle, compresslevel=4, mtime=0)).decode())


def json_for_script(value: object) -> Markup:
    """Return a value as the content of a script element."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return Markup(text.replace("<", "\\u003c"))
