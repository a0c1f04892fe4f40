"""Print the tables of docs/lab/2026-11-closed-loop.md: `python -m bench.closed_loop LINES`.

LINES is the output of `python -m bench --rounds 1 fingerprint fingerprint-delays`. Errors above their target
are bold.
"""

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from bench.figures import Figure
from bench.fingerprint import WANTED
from bench.fingerprint_delays import SHARES

# The figures of each bucket or delay, by the first part of their names.
Subjects = Mapping[str, Mapping[str, Figure]]


def subjects_of(text: str) -> Subjects:
    """Return the lines of each bucket and each delay, in the order in which they were printed."""
    subjects: dict[str, dict[str, Figure]] = {}
    for row in text.splitlines():
        if '"value"' not in row:
            continue  # A figure that was skipped.
        line = Figure.model_validate_json(row)
        about, _, subject = line.figure.partition(", ")
        subjects.setdefault(subject, {})[about] = line
    return subjects


def buckets(subjects: Subjects) -> Iterator[str]:
    """Yield the table of buckets, a row each."""
    yield _row(
        "bucket", f"error of {', '.join(WANTED)}, %", "fitted and again, changed by, %", "published rule"
    )
    yield _row(*["---"] * 4)
    for subject, lines in subjects.items():
        again = "when it is fitted and measured again"
        if subject == "all buckets":
            continue
        if first := lines.get("error of the budget"):
            changes = _shares(lines.get(f"change of the budget {again}"), "change")
            yield _row(subject, _shares(first, "error"), changes, _late(first))
        if bound := lines.get("bound over budget"):
            change = lines.get(f"change of the high rate {again}")
            high = "" if change is None else f"high {_percent('high', change.value)}"
            yield _row(subject, f"not emptied: at least {bound.value:.3f} of the budget", high, _late(bound))


def delays(subjects: Subjects) -> Iterator[str]:
    """Yield the table of delays, a row each."""
    names = [f"p{100 * share:g}" for share in SHARES]
    heads = ["fitted and again, changed by, us", "expected of fit and floor, us", "fitted as"]
    yield _row("delay", f"error of {', '.join(names)}, us", *heads)
    yield _row(*["---"] * (2 + len(heads)))
    for subject, lines in subjects.items():
        abouts = [f"of the delay's {name} over 2 us + 1 %" for name in names]
        first = [lines.get(f"error {about}") for about in abouts]
        again = [lines.get(f"change {about} when it is fitted and measured again") for about in abouts]
        if any(first):
            model = again[0].text("model") if again[0] else ""
            expected = ", ".join(f"{line.number('expected_us'):.1f}" for line in again if line)
            changes = [_microseconds(again, "change_us"), expected]
            yield _row(subject, _microseconds(first, "error_us"), *changes, model)


def _shares(line: Figure | None, kind: str) -> str:
    if line is None:
        return ""
    # The figure itself is that of the name without a key of its own.
    shares = {name: line.number(f"{name}_{kind}") for name in WANTED}
    return ", ".join(_percent(name, line.value if each is None else each) for name, each in shares.items())


def _percent(name: str, share: float) -> str:
    return _bold(f"{100 * share:.2f}", share > WANTED[name])


def _microseconds(lines: list[Figure | None], name: str) -> str:
    return ", ".join(_bold(f"{line.number(name):.1f}", line.value > 1) for line in lines if line) or ""


def _late(line: Figure) -> str:
    reported_s = line.number("published_rule_reports_s")
    emptied_s = line.number("emptied_s") or 0.0
    return "never" if reported_s is None else f"{reported_s - emptied_s:.2f} s late"


def _bold(text: str, beyond: bool) -> str:
    return f"**{text}**" if beyond else text


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    found = subjects_of(Path(sys.argv[1]).read_text())
    print("\n".join([*buckets(found), "", *delays(found)]))
