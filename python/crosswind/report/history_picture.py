"""Draw a counterexample: processes as rows, operations as bars with their values, the wrong one marked.

Plain SVG with the colours of the page, which needs no script. Begins and ends are at equal distances in their
order, because only the order decides, and a bar of microseconds would have no room for its value.
"""

from dataclasses import dataclass

from markupsafe import Markup

from crosswind.results.measurement import ShownOperation, WrongKey

_STEP, _ROW, _BAR, _LABEL, _HEAD = 108, 34, 22, 96, 26


@dataclass(frozen=True)
class CounterExample:
    """A wrong key of a trial, as the report shows it."""

    trial: str
    condition: str
    key: int
    why: str
    hidden: int
    picture: Markup


def draw(wrong: WrongKey) -> Markup:
    """Return the picture of the operations of a key."""
    instants = sorted(
        {
            instant
            for one in wrong.operations
            for instant in (one.began_ns, one.ended_ns)
            if instant is not None
        }
    )
    place = {instant: _LABEL + (number + 0.5) * _STEP for number, instant in enumerate(instants)}
    # Where what has an unknown outcome may still take effect.
    right = _LABEL + (len(instants) + 0.5) * _STEP
    processes = list(dict.fromkeys(one.process for one in wrong.operations))
    height = _HEAD + len(processes) * _ROW
    grid = Markup("").join(_instant(instant, x, height) for instant, x in place.items())
    rows = Markup("").join(_name(process, row) for row, process in enumerate(processes))
    bars = Markup("").join(
        _bar(one, place[one.began_ns], right if one.ended_ns is None else place[one.ended_ns], row)
        for one in wrong.operations
        for row in (processes.index(one.process),)
    )
    said = "; ".join(_said(one) for one in wrong.operations)
    return Markup(
        '<svg class="history" viewBox="0 0 {0} {1}" width="{0}" role="img" aria-label="{2}">'
    ).format(round(right), height, said) + Markup("{}{}{}</svg>").format(grid, rows, bars)


def _instant(instant_ns: int, x: float, height: int) -> Markup:
    line = Markup('<line class="grid" x1="{0}" x2="{0}" y1="{1}" y2="{2}"/>').format(x, _HEAD - 6, height)
    text = Markup('<text x="{}" y="13" text-anchor="middle">{:.4f} s</text>').format(x, instant_ns / 1e9)
    return line + text


def _name(process: int, row: int) -> Markup:
    return Markup('<text x="0" y="{}">process {}</text>').format(_HEAD + row * _ROW + 19, process)


def _bar(one: ShownOperation, left: float, right: float, row: int) -> Markup:
    top = _HEAD + row * _ROW + (_ROW - _BAR) / 2
    kind = "wrong" if one.is_wrong else "unknown" if one.ended_ns is None else "known"
    bar = Markup('<rect class="{}" x="{}" y="{}" width="{}" height="{}" rx="4"><title>{}</title></rect>')
    text = Markup('<text class="value" x="{}" y="{}">{}</text>')
    words = one.words if one.ended_ns is not None else f"{one.words}?"
    return bar.format(kind, left, top, max(right - left, 1), _BAR, _said(one)) + text.format(
        left + 6, top + 15, words
    )


def _said(one: ShownOperation) -> str:
    ended = "outcome unknown" if one.ended_ns is None else f"to {one.ended_ns / 1e9:.6f} s"
    wrong = ", which cannot be right" if one.is_wrong else ""
    return f"process {one.process}: {one.words}, from {one.began_ns / 1e9:.6f} s, {ended}{wrong}"
