"""An SVG file with the colours and the type of the report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from importlib import resources

from crosswind.spec.network import Network
from crosswind.topology.line import network_line

TEXT_PX = 13
MARGIN_PX = 24
# Mean width of a letter of this size; pictures must be laid out without a browser.
LETTER_PX = 7.2
BOLD_LETTER_PX = 7.9


@dataclass
class Svg:
    """An SVG picture to which elements are added."""

    width: float
    height: float
    title: str
    parts: list[str] = field(default_factory=list)

    def text(self, x: float, y: float, words: str, kind: str = "", anchor: str = "middle") -> None:
        """Add a line of text around, or beside, a point."""
        self.parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="{kind}">{escape(words)}</text>'
        )

    def line(
        self, x1: float, y1: float, x2: float, y2: float, kind: str, hint: str, links: Sequence[str]
    ) -> None:
        """Add a line for links; `hint` is shown when the pointer is on it."""
        self.parts.append(
            f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{kind}"{_of(links)}>'
            f"<title>{escape(hint)}</title></line>"
        )

    def box(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        kind: str,
        *,
        opacity: float = 1,
        host: str = "",
        links: Sequence[str] = (),
    ) -> None:
        """Add a rectangle by its upper left corner, for a host or for links."""
        shade = "" if opacity == 1 else f' fill-opacity="{opacity:.3f}"'
        of = f' data-host="{escape(host)}"' if host else _of(links)
        self.parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="5" '
            f'class="{kind}"{shade}{of}/>'
        )

    def file(self) -> str:
        """Return the whole file, with its colours."""
        paper = f'<rect width="{self.width:.0f}" height="{self.height:.0f}" class="paper"/>'
        return self._with(f"<style>{style()}</style>\n{paper}")

    def drawing(self) -> str:
        """Return it for a page that has `style`."""
        return self._with("")

    def _with(self, background: str) -> str:
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width:.0f} {self.height:.0f}" '
            f'width="{self.width:.0f}" height="{self.height:.0f}" role="img">'
        )
        return "\n".join(
            [
                head,
                f"<title>{escape(self.title)}</title>",
                background,
                *self.parts,
                "</svg>\n",
            ]
        )


def titled(network: Network, width: float, height: float) -> Svg:
    """Return a picture whose first line describes the network."""
    found = Svg(width, height, network_line(network))
    found.text(MARGIN_PX, MARGIN_PX + TEXT_PX, network_line(network), "head", "start")
    return found


def title_width(network: Network) -> float:
    """Return the width of that line with the margins."""
    return len(network_line(network)) * BOLD_LETTER_PX + 2 * MARGIN_PX


def text_width(words: str) -> float:
    """Return the approximate width of a text."""
    return len(words) * LETTER_PX


def _of(links: Sequence[str]) -> str:
    """Return the attribute by which a program finds what stands for links."""
    return f' data-links="{escape(" ".join(links))}"' if links else ""


def style() -> str:
    """Return the styles, with the colours of the report."""
    report = resources.files("crosswind.text").joinpath("assets/report.css").read_text(encoding="utf-8")
    colours = report.partition("* { box-sizing")[0].replace(":root:not(.printing)", ":root")
    return f"""
{colours.strip()}
.paper {{ fill: var(--paper); }}
text {{
  font: {TEXT_PX}px system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif;
  fill: var(--ink);
}}
.head {{ font-weight: 600; }}
.soft {{ fill: var(--soft); font-size: 12px; }}
.label {{ paint-order: stroke; stroke: var(--paper); stroke-width: 5px; }}
.switch {{ fill: var(--s1); }}
.on-switch {{ fill: var(--card); font-weight: 600; }}
.host {{ fill: var(--card); stroke: var(--line); }}
.trunk {{ stroke: var(--soft); stroke-width: 2; }}
.uplink {{ stroke: var(--line); stroke-width: 1.5; }}
.cell {{ fill: var(--s1); }}
.plain {{ fill: var(--grid); }}
"""
