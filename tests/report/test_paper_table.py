"""Tables for papers are compiled by LaTeX, where it is there, and hold what TeX reads otherwise."""

import shutil
import subprocess
from pathlib import Path

import pytest

from crosswind.analysis.summarise import summarise
from crosswind.report.paper_table import _latex, paper_table
from surfaces import write_surface
from synthetic import write_folder

# Where the package booktabs is not installed its rules are plain lines.
PAPER = r"""
\documentclass{article}
\IfFileExists{booktabs.sty}{\usepackage{booktabs}}{\let\toprule\hline\let\midrule\hline\let\bottomrule\hline}
\begin{document}
TABLE
\end{document}
"""


def compile_paper(table: str, folder: Path) -> None:
    if shutil.which("pdflatex") is None:
        pytest.skip("SKIPPED: no pdflatex here (Debian: texlive-latex-base), so no table was compiled")
    (folder / "paper.tex").write_text(PAPER.replace("TABLE", table))
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 0, ended.stdout[-2000:]
    assert (folder / "paper.pdf").stat().st_size > 5000


def test_a_table_of_operations_compiles(folder, tmp_path):
    compile_paper(paper_table(summarise(folder), "latex"), tmp_path)


def test_the_caption_says_that_there_is_no_interval_and_what_is_degraded(folder):
    """Ten conditions in three blocks; one trial failed and one is void, so two conditions have two trials."""
    caption = paper_table(summarise(folder), "markdown").splitlines()[-1]
    says = "no interval (2 to 3 trials, 6 needed); 28 counted trials, 1 of them degraded."
    assert caption.endswith(f": medians over trials, {says}*")


def test_the_caption_names_intervals_where_there_are_some(tmp_path):
    run = write_folder(tmp_path / "run", operations=20, blocks=7, conditions=2)
    caption = paper_table(summarise(run), "markdown").splitlines()[-1]
    assert "medians over trials with exact 95 % intervals; 13 counted trials.*" in caption
    run = write_folder(tmp_path / "few", operations=20, blocks=6, conditions=2)
    caption = paper_table(summarise(run), "markdown").splitlines()[-1]
    assert "with exact 95 % intervals where there are 6 trials; 11 counted trials.*" in caption


def test_a_table_of_a_network_profile_compiles(tmp_path):
    run = write_surface(tmp_path / "run", 2, monitors=False)
    compile_paper(paper_table(summarise(run), "latex"), tmp_path)


def test_what_tex_reads_otherwise_is_written_as_it_looks(tmp_path):
    hostile = "a_b&c%d$e#f{g}h~i^j\\k<l>m|n\u2212o\u202fp\u00a0q\u00d7r\u2013s\u00b5t\u2265u\u00b1v\u221ew"
    table = _latex(["Condition", hostile], [[hostile, "1"]], hostile)
    for written in (r"\textless{}", r"\textgreater{}", r"\textbar{}", r"$-$", r"$\geq$", r"$\infty$"):
        assert written in table
    compile_paper(table, tmp_path)
