import dataclasses
import io
import re
from pathlib import Path
from typing import Any

import duckdb
import pytest
from rich.console import Console

from crosswind.analysis.summarise import summarise
from crosswind.report import print_table
from crosswind.report.describe import describe
from crosswind.report.table import summary_table
from crosswind.spec import ResolvedCondition
from crosswind.text.units import DURATIONS, column_unit, duration, number, percent, rate, short_names
from synthetic import write_folder

# Interference, as far as every entry has it.
FLOW = {
    "between": ["h0", "h1"],
    "by": "ghost",
    "hold_ns": 5 * 10**9,
    "pacing_ns": 10**7,
    "packet_ip_bytes": 1500,
}


def test_one_unit_serves_a_whole_column():
    assert column_unit([176e3, 290e3]).name == "us"
    assert column_unit([449e3, 204e6]).name == "ms"  # 204 000 us would be hard to read
    assert column_unit([449e3, 204e6]).show(449e3) == "0.449"
    assert column_unit([None, None]) in DURATIONS


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "-"),
        (0, "0"),
        (0.449, "0.449"),
        (9279.4, "9\u202f279"),
        (float("inf"), "unbounded"),
        (999.9, "1\u202f000"),
    ],
)
def test_numbers_have_three_digits_that_carry(value, text):
    assert number(value) == text


def test_small_shares_do_not_become_zero():
    assert percent(0.00015) == "0.015\u00a0%"
    assert percent(0) == "0\u00a0%"
    assert percent(None) == "-"


def test_standing_alone_a_value_has_its_own_unit():
    assert duration(205e6) == "205\u00a0ms"
    assert rate(8e8) == "800\u00a0Mbit/s"


def test_a_folder_that_all_names_share_is_left_out():
    assert short_names(["icpe23/a", "icpe23/b"]) == {"icpe23/a": "a", "icpe23/b": "b"}
    assert short_names(["icpe23/a", "none"]) == {"icpe23/a": "icpe23/a", "none": "none"}


def test_a_condition_is_told_with_units():
    condition = ResolvedCondition.model_validate(
        {
            "name": "x",
            "places": {
                "switch.ingress": [
                    {"police": {"rate_bps": 800_000_000, "burst_bytes": 10_000, "on": ["h0", "h2"]}}
                ],
                "host.egress": [{"shape": {"rate_bps": 10**9, "burst_bytes": 3000, "buffer_bytes": None}}],
            },
            "interference": [
                {
                    **FLOW,
                    "rate": {
                        "normal": {"mean_bps": 5 * 10**8, "sd_bps": 10**8, "low_bps": 0, "high_bps": 10**9}
                    },
                }
            ],
            "timeline": [{"at_ns": 30_000_000_000, "places": {"link": []}}],
        }
    )
    told = {place.replace("\u00a0", " "): text.replace("\u00a0", " ") for place, text in describe(condition)}
    assert told == {
        "switch.ingress": "police (rate 800 Mbit/s, burst 10.0 kB, on h0 h2)",
        "host.egress": "shape (rate 1.00 Gbit/s, burst 3000 B, buffer unlimited)",
        "interference": "ghost between h0 and h1, normal mean 500 Mbit/s, sd 100 Mbit/s, low 0 bit/s, high "
        "1.00 Gbit/s, hold 5.00 s, pacing 10.0 ms, packet ip 1500 B",
        "at 30.0 s, link": "nothing",
    }


def printed(folder, **options):
    stream = io.StringIO()
    print_table(folder, Console(file=stream, **options))
    return stream.getvalue()


def test_the_table_is_plain_text_away_from_a_terminal(folder):
    text = printed(folder)
    assert "\x1b" not in text
    row = next(line for line in text.splitlines() if line.strip().startswith("token-bucket-on-switch"))
    assert "3 faithful" in row
    assert "P99.9" in text
    assert "! 1 trial failed." in text


def test_no_color_is_honoured_on_a_terminal(folder, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    text = printed(folder, force_terminal=True, width=120)
    assert "\x1b[3" not in text  # no colour; bold and dim remain


def test_no_name_is_cut_on_a_narrow_terminal(folder):
    text = printed(folder, width=80, force_terminal=True, no_color=True)
    assert "\u2026" not in text


@pytest.mark.parametrize(
    ("width", "narrow"),
    [
        (80, " Too narrow for: P95, P99.9, throughput, over 100 ms, dropped packets."),
        (120, ""),
    ],
)
def test_a_terminal_shows_answer_table_and_three_warnings_and_names_what_it_leaves_out(folder, width, narrow):
    def shown(width: int) -> list[str]:
        text = printed(folder, width=width, force_terminal=True, no_color=True)
        return [line.rstrip() for line in re.sub(r"\x1b\[[\d;]*m", "", text).splitlines()]

    lines, unbroken = shown(width), shown(1000)
    assert max(map(len, lines)) <= width
    order = [
        next(place for place, line in enumerate(lines) if line.startswith(start))
        for start in ("10 conditions. P99 ", "condition ", "Medians over trials", "! 1 trial failed.")
    ]
    assert order == sorted(order)
    assert sum(line.startswith(("! ", "- ")) for line in lines) == 3
    assert lines[-1] == "6 more in the report."
    # Prose is broken between words: put together again it is what a terminal without an end would show.
    reading = next(line for line in unbroken if line.startswith("Medians"))
    told = " ".join([f"{reading}{narrow}", *unbroken[-4:]])
    assert " ".join(lines[order[2] :]) == told


def test_a_small_run_fits_on_a_screen_of_80_by_24(tmp_path):
    folder = write_folder(tmp_path / "run", operations=500, blocks=6, conditions=3)
    lines = printed(folder, width=80, force_terminal=True, no_color=True).splitlines()
    # The path of the report and the prompt come below; the name of the experiment may leave the screen.
    assert len(lines) <= 24, lines


@pytest.mark.parametrize(
    ("flow", "told"),
    [
        (
            {"rate": {"constant_bps": 10**6}, "packet_ip_bytes": "imix", "arrivals": "poisson", "tcp": None},
            "ghost between h0 and h1, constant 1.00 Mbit/s, hold 5.00 s, pacing 10.0 ms, arrivals poisson, "
            "packet ip imix",
        ),
        (
            {
                "rate": {"constant_bps": 10**6},
                "arrivals": {"on_off": {"on_ns": 10, "off_ns": 20, "shape_thousandths": None}},
            },
            "ghost between h0 and h1, constant 1.00 Mbit/s, hold 5.00 s, pacing 10.0 ms, arrivals on off on "
            "10.0 ns, off 20.0 ns, packet ip 1500 B",
        ),
        (
            {"rate": None, "dscp": 46, "arrivals": {"replay": {"packets": [[5, 60]] * 3, "repeat": True}}},
            "ghost between h0 and h1, a replay of 3 packets repeatedly, dscp 46",
        ),
    ],
)
def test_interference_says_what_it_is_and_not_what_it_is_not(flow: dict[str, Any], told: str) -> None:
    condition = ResolvedCondition.model_validate({"name": "x", "interference": [{**FLOW, **flow}]})
    assert describe(condition)[0][1].replace("\u00a0", " ") == told


def test_a_run_whose_trials_all_failed_gives_the_reason_first(tmp_path):
    folder = write_folder(tmp_path / "run", operations=200, blocks=2, conditions=7)
    table = folder / "trials.parquet"
    failed = "'failed' AS status, NULL AS fidelity, 'no answer' AS reason"
    duckdb.sql(f"COPY (SELECT * REPLACE ({failed}) FROM '{table}') TO '{table}.part' (FORMAT parquet)")
    Path(f"{table}.part").replace(table)
    console = Console(file=io.StringIO(), width=80)
    print_table(folder, console)
    first = console.file.getvalue().splitlines()[1]
    assert first == "Nothing: 14 failed. 14 trials: no answer"


def test_a_condition_without_a_counted_trial_has_no_number_of_dropped_packets(folder):
    """0 is a number that somebody counted."""
    summary = summarise(folder)
    none = dataclasses.replace(summary.conditions[2], trials=[])
    uncounted = dataclasses.replace(summary, conditions=[*summary.conditions[:2], none])
    table, _ = summary_table(uncounted, 250)
    (dropped,) = (column for column in table.columns if str(column.header).startswith("dropped"))
    cells = list(dropped.cells)
    assert cells[0] == "0"
    assert cells[2] == "-"
