"""Draw places.svg and trials.svg of this folder: `python docs/images/draw.py`.

Both are a function of what is written here. They have a ground of their own, so that they can be read on a
light and on a dark page.
"""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent
PAPER, INK, PALE, LINE = "#f7f8fc", "#1d2333", "#5b647d", "#9aa3bd"
PLACE, WIRE, HOST = "#3f51b5", "#e3e7f4", "#ffffff"
CONDITIONS = {"none": "#4c78a8", "lossy": "#f58518", "slow": "#54a24b"}


def text(x: float, y: float, words: str, size: int = 13, fill: str = INK, **others: str) -> str:
    more = "".join(f' {key.replace("_", "-")}="{value}"' for key, value in others.items())
    return f'<text x="{x:g}" y="{y:g}" font-size="{size}" fill="{fill}"{more}>{words}</text>'


def box(x: float, y: float, width: float, height: float, fill: str, stroke: str = LINE) -> str:
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="6" fill="{fill}" '
        f'stroke="{stroke}"/>'
    )


def arrow(x: float, y: float, to_x: float, to_y: float) -> str:
    return (
        f'<line x1="{x:g}" y1="{y:g}" x2="{to_x:g}" y2="{to_y:g}" stroke="{INK}" stroke-width="1.5" '
        'marker-end="url(#head)"/>'
    )


def drawing(width: int, height: int, title: str, parts: list[str]) -> str:
    """Return the SVG of some parts on a ground, with a title for those who do not see it."""
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
            'font-family="system-ui, sans-serif">',
            f"<title>{title}</title>",
            '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
            f'orient="auto"><path d="M0 0L8 4L0 8z" fill="{INK}"/></marker></defs>',
            f'<rect width="{width}" height="{height}" rx="10" fill="{PAPER}"/>',
            *parts,
            "</svg>\n",
        ]
    )


def places() -> str:
    """Draw the way of a packet from a node in one zone to a node in another, with the places it passes."""
    middle = {"text_anchor": "middle"}
    parts = [
        box(14, 44, 206, 122, HOST),
        text(26, 64, "host h0", 14, PALE),
        box(300, 44, 166, 122, HOST),
        text(312, 64, "switch of zone a", 14, PALE),
        box(546, 44, 166, 122, HOST),
        text(558, 64, "switch of zone b", 14, PALE),
        box(792, 44, 206, 122, HOST),
        text(804, 64, "host h1", 14, PALE),
        box(26, 84, 62, 52, WIRE),
        text(57, 114, "node", 16, **middle),
        box(924, 84, 62, 52, WIRE),
        text(955, 114, "node", 16, **middle),
    ]
    for x, width, name in (
        (104, 104, "host.egress"),
        (312, 142, "switch.ingress"),
        (558, 142, "switch.egress"),
        (804, 104, "host.ingress"),
    ):
        parts += [
            box(x, 84, width, 52, PLACE, PLACE),
            text(x + width / 2, 114, name, 16, "#fff", **middle),
        ]
    for x, name in ((232, "link"), (478, "wan"), (724, "link")):
        parts += [box(x, 92, 56, 36, PLACE, PLACE), text(x + 28, 114, name, 16, "#fff", **middle)]
    for x, to in (
        (88, 104),
        (208, 232),
        (288, 312),
        (454, 478),
        (534, 558),
        (700, 724),
        (780, 804),
        (908, 924),
    ):
        parts.append(arrow(x, 110, to - 1, 110))
    for x, first, second in (
        (260, "uplink: its buffer,", "its rate, its delay"),
        (506, "between zones:", "delay, rate, jitter, loss"),
        (752, "downlink: its buffer,", "its rate, its delay"),
    ):
        parts += [text(x, 190, first, 14, PALE, **middle), text(x, 206, second, 14, PALE, **middle)]
    parts += [
        text(156, 154, "for each node", 14, PALE, **middle),
        text(383, 154, "for each host", 14, PALE, **middle),
        text(629, 154, "for each host", 14, PALE, **middle),
        text(856, 154, "for each node", 14, PALE, **middle),
        text(
            506,
            240,
            "In a star both switches are one, and there is no wan. On one host a packet passes only "
            "host.egress and host.ingress.",
            16,
            **middle,
        ),
    ]
    title = "host.egress, link, switch.ingress, wan, switch.egress, link, host.ingress, in a packet's order"
    return drawing(1012, 260, title, parts)


def trials() -> str:
    """Draw six blocks of three conditions in random order, and the intervals over their trials."""
    orders = ["none slow lossy", "slow lossy none", "lossy none slow", "none lossy slow", "slow none lossy"]
    orders.append("lossy slow none")
    p99 = {
        "none": [21, 24, 19, 26, 22, 23],
        "lossy": [60, 74, 57, 81, 66, 70],
        "slow": [27, 22, 34, 30, 24, 29],
    }
    parts = [text(24, 32, "One trial: one run of the application under one condition.", 17)]
    for block, order in enumerate(orders):
        x = 24 + block * 152
        parts += [box(x, 50, 144, 62, HOST), text(x + 8, 66, f"block {block}, seed {block}", 13, PALE)]
        for place, name in enumerate(order.split()):
            parts += [
                box(x + 6 + place * 45, 74, 42, 30, CONDITIONS[name], CONDITIONS[name]),
                text(x + 27 + place * 45, 93, name, 13, "#fff", text_anchor="middle"),
            ]
    parts += [
        arrow(24, 128, 926, 128),
        text(932, 132, "time", 15, PALE),
        text(24, 160, "One value a trial, such as its P99. The interval of the median is over trials:", 17),
    ]
    for row, (name, values) in enumerate(p99.items()):
        y, colour = 192 + row * 34, CONDITIONS[name]
        low, high = (110 + 9 * value for value in (min(values), max(values)))
        ranked = sorted(values)
        at = 110 + 9 * (ranked[2] + ranked[3]) / 2
        parts += [
            text(24, y + 4, name, 16),
            f'<line x1="{low:g}" y1="{y}" x2="{high:g}" y2="{y}" stroke="{colour}" stroke-width="3"/>',
            *(f'<circle cx="{110 + 9 * value}" cy="{y}" r="5" fill="{colour}"/>' for value in values),
            f'<line x1="{at:g}" y1="{y - 11}" x2="{at:g}" y2="{y + 11}" stroke="{INK}" stroke-width="2"/>',
        ]
    parts.append(
        text(
            24,
            300,
            "Six trials: the 95 % interval is from the lowest to the highest. Those of none and slow "
            "overlap; lossy differs from both.",
            16,
        )
    )
    title = "Six blocks with three conditions each in random order, and the intervals over six trials"
    return drawing(980, 320, title, parts)


if __name__ == "__main__":
    for name, picture in (("places", places()), ("trials", trials())):
        (FOLDER / f"{name}.svg").write_text(picture, encoding="utf-8")
