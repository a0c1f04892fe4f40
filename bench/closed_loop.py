"""Print the tables of docs/lab/2026-11-closed-loop.md: `python -m bench.closed_loop LINES`.

LINES is what `python -m bench --rounds 1 fingerprint fingerprint-delays` printed. Bold is what is more than
wanted.
"""

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bench.fingerprint import WANTED
from bench.fingerprint_delays import SHARES

Line = Mapping[str, Any]
# Of each bucket or delay, its lines by what they are about.
Subjects = Mapping[str, Mapping[str, Line]]


def subjects_of(text: str) -> Subjects:
    """Return the lines of each bucket and each delay, in the order in which they were printed."""
    subjects: dict[str, dict[str, Line]] = {}
    for row in text.splitlines():
        line = json.loads(row)
        about, _, subject = line["figure"].partition(", ")
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
            high = "" if change is None else f"high {_percent('high', change['value'])}"
            yield _row(
                subject, f"not emptied: at least {bound['value']:.3f} of the budget", high, _late(bound)
            )


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
            model = again[0]["model"] if again[0] else ""
            expected = ", ".join(f"{line['expected_us']:.1f}" for line in again if line)
            changes = [_microseconds(again, "change_us"), expected]
            yield _row(subject, _microseconds(first, "error_us"), *changes, model)


def _shares(line: Line | None, kind: str) -> str:
    if line is None:
        return ""
    return ", ".join(_percent(name, line.get(f"{name}_{kind}", line["value"])) for name in WANTED)


def _percent(name: str, share: float) -> str:
    return _bold(f"{100 * share:.2f}", share > WANTED[name])


def _microseconds(lines: list[Line | None], name: str) -> str:
    return ", ".join(_bold(f"{line[name]:.1f}", line["value"] > 1) for line in lines if line) or ""


def _late(line: Line) -> str:
    reported_s = line.get("published_rule_reports_s")
    return "never" if reported_s is None else f"{reported_s - (line.get('emptied_s') or 0.0):.2f} s late"


def _bold(text: str, beyond: bool) -> str:
    return f"**{text}**" if beyond else text


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    found = subjects_of(Path(sys.argv[1]).read_text())
    print("\n".join([*buckets(found), "", *delays(found)]))
