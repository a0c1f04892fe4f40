import html.parser
import json
import re
import shutil
import subprocess

import pytest
from click.testing import CliRunner

from crosswind.cli.report import command
from crosswind.report import write_report
from synthetic import write_folder


@pytest.fixture(scope="module")
def page(folder):
    return write_report(folder).read_text()


class Outline(html.parser.HTMLParser):
    """Collects tags with their attributes; text of scripts and styles is left out by the parser."""

    def __init__(self, text):
        super().__init__()
        self.tags = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def of(self, name):
        return [attributes for tag, attributes in self.tags if tag == name]


def test_the_page_needs_nothing_beside_itself(page):
    outline = Outline(page)
    assert outline.of("link") == []
    assert all("src" not in script for script in outline.of("script"))
    assert all(not link["href"].startswith(("http", "//")) for link in outline.of("a"))
    policy = next(meta["content"] for meta in outline.of("meta") if meta.get("http-equiv"))
    assert policy.startswith("default-src 'none'")


def test_plotly_is_there_once(page):
    assert len(re.findall(r"plotly\.js v\d", page)) == 1


def test_the_page_stays_small_for_thirty_trials_of_ten_thousand_operations(tmp_path):
    folder = write_folder(tmp_path / "run")
    assert write_report(folder).stat().st_size < 8_000_000


def test_every_figure_has_words_and_data(page):
    outline = Outline(page)
    figures = json.loads(re.search(r'id="figure-data">(.*?)</script>', page, re.DOTALL)[1])
    canvases = [attributes for attributes in outline.of("div") if attributes.get("class") == "canvas"]
    assert {canvas["data-figure"] for canvas in canvases} == set(figures)
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


def test_the_verb_prints_the_table_and_where_the_report_is(folder):
    result = CliRunner().invoke(command, [str(folder)])
    assert result.exit_code == 0, result.output
    assert "token-bucket-on-switch" in result.output
    assert f"report: {folder / 'report.html'}" in result.output


def test_the_verb_gives_json_to_scripts(folder):
    result = CliRunner().invoke(command, [str(folder), "--json"])
    assert json.loads(result.output)["name"] == "icpe23-ycsb-b"


@pytest.mark.skipif(shutil.which("chromium") is None, reason="no chromium here: report not opened")
def test_a_browser_draws_it_without_errors_and_without_a_network(page, tmp_path):
    log, copy = tmp_path / "net.json", tmp_path / "report.html"
    # A figure is drawn when it comes near the screen, and every one before printing: that needs no scrolling.
    printing = "<script>dispatchEvent(new Event('beforeprint'))</script>"
    copy.write_text(page.replace("</body>", f"{printing}</body>"))
    command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
    command += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
    command += [f"--user-data-dir={tmp_path / 'profile'}", f"--log-net-log={log}", "--enable-logging=stderr"]
    command += ["--window-size=1300,2000", "--virtual-time-budget=15000", "--dump-dom"]
    command += [f"file://{copy}#condition-3"]
    opened = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert [line for line in opened.stderr.splitlines() if ":CONSOLE" in line] == []
    requested = re.findall(r'"url":"(https?://[^"]*)"', log.read_text())
    # The browser itself asks its maker now and then, whatever the page.
    assert [url for url in requested if "google" not in url] == []
    dom = Outline(opened.stdout)
    canvases = [div for div in dom.of("div") if "canvas" in div.get("class", "").split()]
    assert canvases
    assert all(canvas.get("data-drawn") == "yes" for canvas in canvases)
    assert len([svg for svg in dom.of("svg") if svg.get("class") == "main-svg"]) >= len(canvases)
    opened_folds = [fold["id"] for fold in dom.of("details") if "open" in fold and "id" in fold]
    assert opened_folds == ["condition-3"]
