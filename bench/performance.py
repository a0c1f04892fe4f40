"""Write measured figures into docs/lab/performance.md: `python -m bench.performance LINES`.

LINES is the output of `python -m bench`, for all benchmarks or for some. Rows are found by their first cell.
A row stays as it is if any of its figures was not measured. Figures that miss their target are bold.

The six rows of docs/explanation/performance.md are made from the medians on that page.
"""

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench import bucket_tails
from bench.delay import CASES, Case
from bench.figures import Figure
from bench.nodes import NODES
from bench.rates import PACED
from crosswind.certify.live.rates import RATES_BPS
from crosswind.text.quantities import rate_text

DOCS = Path(__file__).parents[1] / "docs"
PAGE = DOCS / "lab" / "performance.md"
SUMMARY = DOCS / "explanation" / "performance.md"
# The table between these lines is replaced.
BEGIN, END = "<!-- begin: python -m bench.performance -->", "<!-- end -->"


@dataclass(frozen=True)
class Cell:
    """The cell of a column, made from some figures."""

    figures: Sequence[str]
    text: Callable[[Sequence[Figure]], str]


@dataclass(frozen=True)
class Row:
    """A row of the page by its first cell; cells by the number of their column."""

    what: str
    cells: Mapping[int, Cell]


def measured(*figures: str, scale: float = 1) -> Cell:
    """Return a cell with each figure's median and its interval, or its range where it has none."""
    return Cell(figures, lambda lines: ", ".join(_value(line, scale) for line in lines))


def beside(key: str, name: str) -> Cell:
    """Return a cell with one of the further keys of a figure."""
    return Cell([name], lambda lines: _number(lines[0].number(key)))


def updated(page: str, lines: Sequence[Figure]) -> tuple[str, list[str]]:
    """Return the page with the measured figures, and the names of figures without a row."""
    found = {line.figure: line for line in lines}
    rows = {row.what: row for row in ROWS}
    used: set[str] = set()
    text = []
    for one in page.splitlines():
        cells = [cell.strip() for cell in one.strip().strip("|").split("|")] if one.startswith("|") else []
        row = rows.get(cells[0]) if cells else None
        if row and all(name in found for cell in row.cells.values() for name in cell.figures):
            for column, cell in row.cells.items():
                cells[column] = cell.text([found[name] for name in cell.figures])
                used.update(cell.figures)
            one = f"| {' | '.join(cells)} |"
        text.append(one)
    return "\n".join(text) + "\n", [name for name in found if name not in used]


@dataclass(frozen=True)
class Short:
    """A row of the summary: the range of the medians in one column of some rows of the page."""

    what: str
    rows: Sequence[str]
    column: int
    unit: str
    target: str


def summarised(summary: str, page: str) -> str:
    """Return the summary with its table made from the page of all figures.

    Raises: ValueError: the page lacks a row, or a cell has no number.
    """
    cells = {}
    for line in page.splitlines():
        if line.startswith("|"):
            first, *others = (cell.strip() for cell in line.strip("|").split("|"))
            cells[first] = [first, *others]
    table = ["| what | measured | target |", "|---|---|---|"]
    for row in SHORT:
        medians = [median for name in row.rows for median in _medians(cells[name][row.column])]
        table.append(f"| {row.what} | {_range(medians)}{row.unit} | {row.target} |")
    before, _, rest = summary.partition(BEGIN)
    _, _, after = rest.partition(END)
    return "\n".join([before + BEGIN, "", *table, "", END + after])


def _medians(cell: str) -> list[float]:
    """Return the numbers of a cell that are not in brackets.

    Raises: ValueError: there are none, or there is other text.
    """
    bare = re.sub(r"\[[^]]*\]|\([^)]*\)|\*", "", cell)
    return [float(number.replace(",", "")) for number in bare.split(", ")]


def _value(line: Figure, scale: float) -> str:
    value, interval = line.value, line.interval
    low, high = interval or (line.min, line.max)
    around = f"[{_number(low * scale)}, {_number(high * scale)}]" if interval else _range([low, high], scale)
    if line.rounds == 1:
        return _bold(_number(value * scale), _worse(line))
    return f"{_bold(_number(value * scale), _worse(line))} {around if interval else f'({around})'}"


def _worse(line: Figure) -> bool:
    wanted = re.match(r"(at most |at least |below |under )?([\d.]+)", line.wanted or "")
    if not wanted:
        return False
    bound = float(wanted[2])
    return bool(line.value < bound if wanted[1] == "at least " else line.value > bound)


def _range(values: Sequence[float], scale: float = 1) -> str:
    low, high = _number(min(values) * scale), _number(max(values) * scale)
    return low if low == high else f"{low} to {high}"


def _number(value: float | None) -> str:
    """Return a number with three significant digits, all digits before the point, and no negative zero."""
    if value is None:
        return "unknown"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{float(f'{value:.3g}') + 0.0:g}"


def _bold(text: str, worse: bool) -> str:
    return f"**{text}**" if worse else text


def _case(case: Case) -> str:
    return f"{case.declared_us} us link, {case.rate_per_s // 1000} kpps, {case.wait}"


def _delay(p: str, cases: Sequence[Case]) -> dict[int, Cell]:
    names = [f"added one-way delay error {p}, {_case(case)}" for case in cases]

    def controls(lines: Sequence[Figure]) -> str:
        paced, ledger = (
            _range([line.number(key) or 0.0 for line in lines])
            for key in ("paced_over_bare_veth_us", "left_late_by_the_ledger_us")
        )
        return f"{paced} paced over a bare pair; {ledger} by the ledger"

    return {2: measured(*names), 3: Cell(names, controls)}


def _rate(rate_bps: int) -> Row:
    at = rate_text(rate_bps)
    errors = [f"rate error of {limit}, {at}" for limit in ("link", "shape", "tbf")]
    excess = [f"bucket excess over every window, {name} {at}" for name in ("shape", PACED, "tbf")]
    cells = enumerate((measured(name) for name in (*errors, *excess)), 1)
    return Row(at, dict(cells) | {7: beside("late_us", excess[0])})


def _bucket(rate_bps: int) -> Row:
    at = rate_text(rate_bps)
    ours, paced, tbf = bucket_tails.OURS, bucket_tails.PACED, bucket_tails.TBF
    worst = "excess over every window, {}, " + at
    cells = (
        measured(worst.format(ours)),
        measured(worst.format(paced)),
        measured(f"excess of a bucket of a packet over that of a paced program, {at}"),
        *(measured(f"windows that exceed by more than a packet, {kind}, {at}") for kind in (ours, paced)),
        beside("late_us", worst.format(ours)),
        beside("ledger_late_us_max", worst.format(ours)),
        *(measured(f"rate that is missed, {kind}, {at}") for kind in (ours, tbf)),
    )
    return Row(f"one packet at {at}", dict(enumerate(cells, 1)))


def _rattan(p: str, kpps: int) -> Row:
    name = f"Rattan's delay error {p} over ours, 10 ms link, {kpps} kpps"

    def errors(lines: Sequence[Figure]) -> str:
        (line,) = lines
        ours, theirs = _range(line.numbers("ours_us")), _range(line.numbers("rattan_us"))
        paced = _number(line.number("paced_over_bare_veth_us"))
        return f"{ours} and {theirs} us; {paced} us paced over a bare pair"

    return Row(
        f"against Rattan 0.1.1, 10 ms link: error {p} at {kpps} kpps",
        {2: measured(name), 3: Cell([name], errors)},
    )


def _both(name: str, ours: str, theirs: str, unit: str) -> Cell:
    def ranges(lines: Sequence[Figure]) -> str:
        return f"{_range(lines[0].numbers(ours))} and {_range(lines[0].numbers(theirs))} {unit}"

    return Cell([name], ranges)


def _nodes(way: str) -> Row:
    name = f"{NODES} nodes {way}"

    def kernel(lines: Sequence[Figure]) -> str:
        alone = _range(lines[0].numbers("kernel_alone_s"))
        return f"the kernel alone, namespaces and veth pairs, in the same rounds: {alone} s"

    return Row(f"1,000 nodes {way}", {2: measured(name), 3: Cell([name], kernel)})


SPINNING = [case for case in CASES if case.wait == "spin" and case.rate_per_s == 1000]
FAST = [case for case in CASES if case.rate_per_s > 1000]
SLEEPING = [case for case in CASES if case.wait == "sleep"]
TWO = ("p50", "p99")
LOSSLESS = "our highest packet rate without loss over Rattan's, of those tried"
GOODPUT = "our TCP goodput over Rattan's, 10 ms link"
UNLIMITED = "TCP goodput through an unlimited link"
WATCHED = "TCP goodput with monitors of {}, against none"
EVENTS = [f"virtual-time events a second, {pending} pending" for pending in (1000, 100_000)]
FORWARDED = [
    f"forwarder in memory, {frame}, {hosts} hosts"
    for frame in ("short frame", "train of 28")
    for hosts in (2, 16)
]
CHANGING = [f"throughput lost by a capacity that changes every 1 ms, {at} Gbit/s" for at in (1, 10)]


def _one_level(lines: Sequence[Figure]) -> str:
    lost = ", ".join(_range(line.numbers("lost_by_one_level")) for line in lines)
    return f"that a process drives the link at all, so that each departure is an event, costs {lost}"


DOMAINS = [
    f"two domains against one on 16 hosts, {what}" for what in ("packets a second", "CPU time a packet")
]
ROWS = (
    Row("delay, spinning, 1 kpps: 5, 10, 50, 200, 1000 us, p50", _delay("p50", SPINNING)),
    Row("the same, p99, spinning", _delay("p99", SPINNING)),
    Row("delay of 50 us, spinning, 10 and 50 kpps, p99", _delay("p99", FAST)),
    Row(
        "packets lost of these",
        {2: measured(*(f"packets lost, {_case(case)}" for case in FAST))},
    ),
    Row("delay, sleeping, 1 kpps: 60, 200, 1000 us, p50", _delay("p50", SLEEPING)),
    Row("the same, p99, sleeping", _delay("p99", SLEEPING)),
    Row(
        "the same, share of a core",
        {2: measured(*(f"emulator, share of a core, {_case(case)}" for case in SLEEPING))},
    ),
    Row("packets that left early, all of the above", {2: measured("packets that left early, all cases")}),
    Row(
        "control: the floor of a bare pair from the next one's, 1 kpps, p50, p99",
        {2: measured(*(f"a bare veth pair's floor from the next one's, {p}, 1 kpps" for p in TWO))},
    ),
    Row(
        "control: how late sleeps of 1 ms end without any packet, p97.5, p99",
        {2: measured(*(f"how late sleeps of 1 ms end, {p}" for p in ("p97.5", "p99")))},
    ),
    *(_rate(rate_bps) for rate_bps in RATES_BPS),
    *(_bucket(rate_bps) for rate_bps in bucket_tails.RATES_BPS),
    Row(
        "one TCP stream through an unlimited link, share of a bare veth pair",
        {
            2: measured(f"{UNLIMITED} against bare veth"),
            3: Cell([UNLIMITED], lambda lines: f"bare: {_range(lines[0].numbers('bare_gbps'))} Gbit/s"),
        },
    ),
    Row(
        "one TCP stream through 10 Gbit/s, each wire packet decided",
        {2: measured("TCP goodput of one stream through a link of 10 Gbit/s")},
    ),
    Row(
        "the same with monitors on every packet: what the engine sees, and headers too",
        {2: measured(*(WATCHED.format(what) for what in ("what the engine sees", "that and headers")))},
    ),
    Row(
        "64 B UDP packets lost at 100 kpps, of 200,000",
        {2: measured("64 B UDP packets lost of 200 000 at 100 kpps")},
    ),
    *(_rattan(p, kpps) for p in TWO for kpps in (1, 10)),
    Row(
        "against Rattan, packet rate without loss",
        {2: measured(LOSSLESS), 3: _both(LOSSLESS, "ours_per_s", "rattan_per_s", "packets/s")},
    ),
    Row(
        "against Rattan, TCP goodput, sockets of 64 MiB at both",
        {2: measured(GOODPUT), 3: _both(GOODPUT, "ours_gbps", "rattan_gbps", "Gbit/s")},
    ),
    Row(
        "events in virtual time, 1,000 and 100,000 pending, million/s",
        {
            2: measured(*EVENTS, scale=1e-6),
            3: Cell(EVENTS, lambda lines: f"ns-3 in the same rounds: {_ns3(lines)}"),
        },
    ),
    Row(
        "engine alone: one link, ten stages, million packets/s",
        {2: measured("engine alone, one link", "engine alone, ten stages", scale=1e-6)},
    ),
    Row(
        "throughput lost by a capacity that changes every 1 ms, 1 and 10 Gbit/s, 10,000 pending events",
        {2: measured(*CHANGING), 3: Cell(CHANGING, _one_level)},
    ),
    Row(
        "forwarder in memory: a short frame, a train of 28, each with 2 and 16 hosts, ns",
        {2: measured(*FORWARDED)},
    ),
    Row(
        "two domains against one on 16 hosts, in virtual time: packets a second, CPU time a packet",
        {
            2: measured(*DOMAINS),
            3: Cell(DOMAINS[:1], lambda lines: f"million packets/s: {_domains(lines[0])}"),
        },
    ),
    _nodes("up"),
    _nodes("down"),
    Row("4 hosts up, down, s", {2: measured("four hosts up", "four hosts down")}),
    Row("idle emulator, share of a core", {2: measured("idle emulator, share of a core")}),
)

SHORT = (
    Short(
        "error of a delay of 5 us to 1 ms, median packet",
        ["delay, spinning, 1 kpps: 5, 10, 50, 200, 1000 us, p50"],
        2,
        " us",
        "at most 1 us",
    ),
    Short("the same, 99th percentile", ["the same, p99, spinning"], 2, " us", "at most 15 us"),
    Short("packets that left early", ["packets that left early, all of the above"], 2, "", "0"),
    Short(
        "error of the rate of a link of 1 Mbit/s to 5 Gbit/s",
        [rate_text(rate_bps) for rate_bps in RATES_BPS],
        1,
        " %",
        "at most 0.1 %",
    ),
    Short(
        "one TCP stream through a link of 10 Gbit/s",
        ["one TCP stream through 10 Gbit/s, each wire packet decided"],
        2,
        " Gbit/s",
        "at least 9.4 Gbit/s",
    ),
    Short("time to bring up 1,000 nodes", ["1,000 nodes up"], 2, " s", "at most 2 s"),
)


def _domains(line: Figure) -> str:
    one, two = line.numbers("packets_per_s_in_one"), line.numbers("packets_per_s_in_two")
    return f"{_range(one, 1e-6)} in one, {_range(two, 1e-6)} in two"


def _ns3(lines: Sequence[Figure]) -> str:
    rates = [line.numbers("ns3_per_s") for line in lines]
    return ", ".join(_range(each, 1e-6) if each else "not here" for each in rates)


if __name__ == "__main__":
    text = Path(sys.argv[1]).read_text().splitlines()
    # Lines of figures that were skipped have no value.
    printed = [Figure.model_validate_json(line) for line in text if line[:1] == "{" and '"value"' in line]
    page, without_row = updated(PAGE.read_text(encoding="utf-8"), printed)
    PAGE.write_text(page, encoding="utf-8")
    SUMMARY.write_text(summarised(SUMMARY.read_text(encoding="utf-8"), page), encoding="utf-8")
    for name in without_row:
        print(f"{PAGE.name} has no row for: {name}", file=sys.stderr)
