import base64
import gzip
import io
import json
import os
import re
import shutil
from pathlib import Path

import duckdb
import pytest
from click.testing import CliRunner
from outline import Outline
from rich.console import Console

from crosswind.cli.report import command
from crosswind.report import print_table, write_report, write_report_so_far
from crosswind.results import FolderInUse, only_writer
from synthetic import write_folder


@pytest.fixture(scope="module")
def page(folder):
    return write_report(folder).read_text()


def test_the_page_needs_nothing_beside_itself(page):
    outline = Outline(page)
    assert outline.of("link") == []
    assert all("src" not in script for script in outline.of("script"))
    assert all(not link["href"].startswith(("http", "//")) for link in outline.of("a"))
    policy = next(meta["content"] for meta in outline.of("meta") if meta.get("http-equiv"))
    assert policy.startswith("default-src 'none'")


def test_plotly_is_there_once(page):
    (packed,) = re.findall(r'<script type="application/gzip" id="plotly">(.*?)</script>', page)
    assert len(re.findall(rb"plotly\.js v\d", gzip.decompress(base64.b64decode(packed)))) == 1
    assert not re.search(r"plotly\.js v\d", page)


@pytest.mark.long
def test_the_page_stays_below_four_megabytes_for_two_hundred_trials(tmp_path):
    folder = write_folder(tmp_path / "run", operations=300, blocks=20)
    assert write_report(folder).stat().st_size < 4_000_000


def test_every_figure_has_words_and_data(page):
    outline = Outline(page)
    figures = json.loads(re.search(r'id="figure-data">(.*?)</script>', page, re.DOTALL)[1])
    canvases = [attributes for attributes in outline.of("div") if attributes.get("class") == "canvas"]
    # Three are drawn from the trials that the reader chooses.
    explored = {"over-time", "compare-latency", "compare-time"}
    assert {canvas["data-figure"] for canvas in canvases} == set(figures) | explored
    assert all(canvas["aria-label"] for canvas in canvases)
    assert {"boxes", "ccdf", "ecdf", "measure-4"} <= set(figures)


def test_headers_of_tables_say_what_they_head(page):
    assert all(header.get("scope") in ("row", "col") for header in Outline(page).of("th"))


def test_every_trial_and_the_reason_of_the_failed_one_stand_in_the_page(page, folder):
    for trial in (folder / "logs").iterdir():
        assert f"<code>{trial.name}</code>" in page
    assert "process postgres on db0 exited with 1" in page
    assert "deadlines missed by 3.1 % of packets" in page


def test_names_from_the_folder_cannot_become_markup(folder, tmp_path):
    copy = tmp_path / "run"
    shutil.copytree(folder, copy)
    resolved = json.loads((copy / "resolved.json").read_text())
    resolved["summary"] = "<script>alert(1)</script>"
    (copy / "resolved.json").write_text(json.dumps(resolved))
    assert "<script>alert(1)" not in write_report(copy).read_text()


def test_a_run_without_one_counted_trial_still_has_a_report(tmp_path):
    folder = write_folder(tmp_path / "run", operations=50, blocks=1, conditions=1)
    shutil.rmtree(folder / "samples")
    shutil.rmtree(folder / "monitors")
    (folder / "metrics.parquet").unlink()
    assert "Nothing to compare" in write_report(folder).read_text()


def test_a_run_that_failed_begins_with_the_reason_and_draws_no_empty_axes(tmp_path):
    folder = write_folder(tmp_path / "run", operations=50, blocks=2, conditions=2)
    table, reason = folder / "trials.parquet", "load on client: exit status 3; no such server"
    failed = f"'failed' AS status, '{reason}' AS reason, NULL AS fidelity, NULL AS fidelity_reason"
    duckdb.sql(f"CREATE TABLE failed AS SELECT * REPLACE ({failed}) FROM '{table}'")
    duckdb.sql(f"COPY failed TO '{table}'")
    for part in ("samples", "monitors"):
        shutil.rmtree(folder / part)
    (folder / "metrics.parquet").unlink()
    page = write_report(folder).read_text()
    first_card = re.search(r'class="answers">.*?<h3>(.*?)</h3>(.*?)</div>', page, re.DOTALL)
    assert first_card[1] == "What was measured?"
    assert "Nothing: 4 failed" in first_card[2]
    assert f"4 trials: {reason}" in first_card[2]
    assert "<figure" not in page
    assert Outline(page).of("svg") == []
    assert "No trial counts, so there are no pictures." in page


def test_what_failed_in_part_begins_with_what_was_compared(page):
    assert re.search(r'<p class="meta">10 conditions: ycsb in 30 trials', page)
    questions = re.findall(r"<h3>(.*?)</h3>", re.search(r'class="answers">.*?<table', page, re.DOTALL)[0])
    assert questions == ["What changed, and by how much?", "How sure is that?", "Can I trust the emulation?"]


def test_three_warnings_are_shown_and_one_line_opens_the_others(page):
    section = re.search(r'<section id="cautions".*?</section>', page, re.DOTALL)[0]
    shown, folded = section.split("<details", 1)
    assert shown.count("<li ") == 3
    assert folded.count("<li ") == int(re.search(r">(\d+) more<", folded)[1]) > 0
    # The order is the terminal's: the table, then the warnings.
    assert page.index('<table class="summary"') < page.index('<section id="cautions"')


def test_each_trial_is_linked_with_its_raw_rows(page, folder):
    rows = re.findall(r'<th scope="row"><code>(b\d\d-[^<]*)</code>(.*?)</th>', page, re.DOTALL)
    assert len(rows) == 30
    for trial, cell in rows:
        links = re.findall(r'<a href="([^"]*)">(\w+)</a>', cell)
        assert links[-1] == (f"logs/{trial}/", "logs")
        assert all((folder / path).exists() for path, _ in links)
        if (folder / "samples" / f"{trial}.parquet").exists():
            assert (f"samples/{trial}.parquet", "operations") in links
            assert (f"monitors/{trial}.json", "measurement") in links


def test_a_page_is_refused_while_a_run_writes_the_folder(tmp_path):
    folder = write_folder(tmp_path / "run", operations=50, blocks=1, conditions=1)
    with only_writer(folder), pytest.raises(FolderInUse, match=f"process {os.getpid()} "):
        write_report(folder)
    assert not (folder / "report.html").exists()


def test_one_condition_has_an_interval_and_no_ratio_that_would_be_missing(tmp_path):
    page = write_report(write_folder(tmp_path / "run", operations=50, blocks=8, conditions=1)).read_text()
    assert "See the interval<" in page
    assert "has no ratio" not in page


def test_the_verb_prints_the_table_and_where_the_report_is(folder):
    result = CliRunner().invoke(command, [str(folder)])
    assert result.exit_code == 0, result.output
    assert "token-bucket-on-switch" in result.output
    assert f"report: {folder / 'report.html'}" in result.output


def test_the_verb_gives_json_to_scripts(folder):
    result = CliRunner().invoke(command, [str(folder), "--json"])
    assert json.loads(result.output)["name"] == "icpe23-ycsb-b"


def test_parts_have_names_for_those_who_do_not_see_them(page):
    outline = Outline(page)
    assert outline.of("html")[0]["lang"] == "en"
    named = [attributes["id"] for _, attributes in outline.tags if "id" in attributes]
    assert len(named) == len(set(named))
    assert all(section["aria-labelledby"] in named for section in outline.of("section"))
    assert all(link["href"][1:] in named for link in outline.of("a") if link["href"].startswith("#"))
    # What scrolls can be reached and moved by the keyboard, and says what it is.
    scrolling = [div for div in outline.of("div") if "scroll" in (div.get("class") or "").split()]
    assert scrolling
    assert all(div["tabindex"] == "0" and div["aria-label"] for div in scrolling)
    downloads = [button for button in outline.of("button") if "data-figure" in button]
    assert {button["class"] for button in downloads} == {"svg", "csv"}
    assert all(button["aria-label"] for button in downloads)


def test_trials_that_an_interval_takes_are_told_from_ten_trials_on(tmp_path):
    few = write_folder(tmp_path / "few", operations=300, blocks=9, conditions=1)
    assert 'id="figure-repetitions"' not in write_report(few).read_text()
    many = write_folder(tmp_path / "many", operations=300, blocks=12, conditions=1)
    page = write_report(many).read_text()
    assert 'id="figure-repetitions"' in page
    assert re.search(r"about all 12|more than 12|<td class=\"num\">\d+</td></tr>", page)


@pytest.mark.parametrize("language", ["latex", "markdown"])
def test_the_verb_gives_tables_to_papers(folder, language):
    result = CliRunner().invoke(command, [str(folder), "--table", language])
    assert result.exit_code == 0, result.output
    rows = [line for line in result.output.splitlines() if "token-bucket-on-switch" in line]
    if language == "markdown":
        assert all(line.startswith("| ") and line.endswith(" |") for line in rows)
        assert len({line.count("|") for line in result.output.splitlines() if line.startswith("|")}) == 1
    else:
        assert all(line.endswith(r" \\") for line in rows)
        assert r"\,\%" not in result.output
        assert "Over 100 ms" in result.output
        assert not re.search(r"(?<!\\)%(?! \\usepackage)", result.output)
    assert not (folder / "table").exists()


def test_json_and_a_table_are_not_asked_for_together(folder):
    result = CliRunner().invoke(command, [str(folder), "--table", "latex", "--json"])
    assert result.exit_code == 2


def test_a_report_of_a_run_that_goes_on_or_was_stopped_says_at_its_top_how_much_it_knows(tmp_path):
    folder = write_folder(tmp_path / "run", operations=200, blocks=2, conditions=3)
    assert "So far:" not in (finished := write_report(folder).read_text())
    assert re.search(r"2026-11-20 09:30 to 09:31 UTC", finished)
    table = folder / "trials.parquet"
    rows = (
        f"SELECT * REPLACE (CASE WHEN position > 3 THEN 'pending' ELSE status END AS status) FROM '{table}'"
    )
    duckdb.sql(f"COPY ({rows}) TO '{table}.part' (FORMAT parquet)")
    Path(f"{table}.part").replace(table)
    known = r"So far: 4 of 6 trials, as of \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC"
    page = write_report(folder).read_text()
    resume = re.escape(f"crosswind resume {folder}")
    assert re.search(rf"{known}\. The run was stopped; {resume} continues it\.", page)
    with only_writer(folder):  # As a run has the lock between its trials.
        page = write_report_so_far(folder).read_text()
    again = re.escape(f"crosswind report {folder}")
    # A run that is killed cannot write it again.
    assert re.search(
        rf"{known}, while the run went on\. If it has ended since, {again} writes this page anew\.", page
    )
    assert "of 4 faithful" in page
    console = Console(file=io.StringIO(), width=80)
    print_table(folder, console)
    assert "So far: 4 of 6 trials." in console.file.getvalue()
