"""Write the summary as a table for a paper: Markdown, or LaTeX for the package booktabs.

A row is a condition; a cell is the median over trials, with its interval in brackets if there is one.
"""

from collections import Counter
from collections.abc import Callable
from typing import Literal

from crosswind.analysis.moved import ranges_meet
from crosswind.analysis.summary import ConditionSummary, Estimate, Summary
from crosswind.stats import Interval, NeedsTrials, RatioInterval, RefusedComparison, RefusedInterval
from crosswind.text.units import column_unit, number, percent, short_names, times, units_of

Language = Literal["latex", "markdown"]
Rows = list[list[str]]

# Special characters of TeX, and characters in numbers that its fonts lack.
_TEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{",
    "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\u202f": r"\,", "\u00a0": "~",
    "\u00d7": r"$\times$", "\u2013": "--", "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}",
    "\u2212": "$-$", "\u00b5": r"$\mu$", "\u2265": r"$\geq$", "\u00b1": r"$\pm$", "\u221e": r"$\infty$",
}  # fmt: skip


def paper_table(summary: Summary, language: Language) -> str:
    """Return the table as text that ends with a line break."""
    heads, rows = _cells(summary)
    caption = f"{summary.name}: medians over trials{_intervals(summary)}; {_trials(summary)}"
    return _latex(heads, rows, caption) if language == "latex" else _markdown(heads, rows, caption)


def _intervals(summary: Summary) -> str:
    """Return which medians have an interval: a cell without one does not say why."""
    medians = [condition.estimates[summary.primary.key] for condition in summary.conditions]
    lacking = [median for median in medians if isinstance(median, NeedsTrials)]
    if not lacking:
        return " with exact 95 % intervals"
    needed = max(median.needed for median in lacking)
    if len(lacking) < len(medians):
        return f" with exact 95 % intervals where there are {needed} trials"
    few, many = min(median.n for median in lacking), max(median.n for median in lacking)
    there = f"{few} to {many}" if few < many else f"{few}"
    return f", no interval ({there} trial{'' if many == 1 else 's'}, {needed} needed)"


def _trials(summary: Summary) -> str:
    """Return how many trials count, and in how many of them the machine disturbed the network."""
    counted = [trial for condition in summary.conditions for trial in condition.counted]
    text = f"{len(counted)} counted trial{'' if len(counted) == 1 else 's'}"
    marked = Counter(trial.row.fidelity for trial in counted if trial.row.fidelity != "faithful")
    return ", ".join([text, *(f"{many} of them {kind}" for kind, many in marked.items())])


def _cells(summary: Summary) -> tuple[list[str], Rows]:
    """Return the headers and the rows; the name of the condition comes first."""
    short = short_names(condition.name for condition in summary.conditions)
    columns = {"Condition": [short[condition.name] for condition in summary.conditions]}
    for measure in summary.measures:
        estimates = [condition.estimates[measure.key] for condition in summary.conditions]
        unit = column_unit((e.estimate for e in estimates), units_of(measure.unit))
        name = f"{measure.title} ({unit.name})" if unit.name else measure.title
        columns[name] = [_estimate(estimate, unit.show) for estimate in estimates]
        if measure == summary.ratio_after:
            ratios = ["1" if c.name == summary.baseline else _ratio(summary, c) for c in summary.conditions]
            columns[f"{summary.primary.title} vs {short[summary.baseline]}"] = ratios
    if summary.has_operations:
        columns["Over 100 ms"] = [_estimate(c.slow_share, percent) for c in summary.conditions]
    columns["Trials"] = [str(len(condition.counted)) for condition in summary.conditions]
    return list(columns), [list(row) for row in zip(*columns.values(), strict=True)]


def _estimate(estimate: Estimate, show: Callable[[float | None], str]) -> str:
    if isinstance(estimate, Interval):
        return f"{show(estimate.estimate)} [{show(estimate.low)}\u2013{show(estimate.high)}]"
    return f"{show(estimate.estimate)}{' (refused)' if isinstance(estimate, RefusedInterval) else ''}"


def _ratio(summary: Summary, condition: ConditionSummary) -> str:
    ratio = condition.ratios.get(summary.primary.key)
    if ratio is None:
        return "-"
    if isinstance(ratio, RatioInterval):
        return f"{times(ratio.estimate)} [{number(ratio.low)}\u2013{number(ratio.high)}]"
    if isinstance(ratio, RefusedComparison):
        return f"{times(ratio.estimate)} (refused)"
    meeting = ranges_meet(condition, summary.base, summary.primary.key)
    return f"{times(ratio.estimate)}{' (ranges meet)' if meeting else ''}"


def _markdown(heads: list[str], rows: Rows, caption: str) -> str:
    lines = [heads, ["---", *["---:"] * (len(heads) - 1)], *rows]
    escaped = ("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
    return "\n".join([*escaped, "", f"*{caption}.*"]) + "\n"


def _latex(heads: list[str], rows: Rows, caption: str) -> str:
    head, *body = (" & ".join(map(_tex, line)) + r" \\" for line in (heads, *rows))
    return "\n".join(
        [
            r"% \usepackage{booktabs}",
            r"\begin{table}",
            rf"  \caption{{{_tex(caption)}.}}",
            rf"  \begin{{tabular}}{{l{'r' * (len(heads) - 1)}}}",
            r"    \toprule",
            f"    {head}",
            r"    \midrule",
            *(f"    {line}" for line in body),
            r"    \bottomrule",
            r"  \end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def _tex(text: str) -> str:
    return "".join(_TEX.get(character, character) for character in text)
