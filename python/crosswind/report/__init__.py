"""Report the results of a run: as data, as a table for a terminal, and as one HTML file."""

from pathlib import Path

from crosswind.analysis.summarise import summarise
from crosswind.analysis.summary import Summary
from crosswind.report.table import print_table
from crosswind.results.reading import NotAResultsFolder

__all__ = ["NotAResultsFolder", "Summary", "print_table", "summarise", "write_report", "write_report_so_far"]


def write_report(folder: Path) -> Path:
    """Write `report.html` into the results folder and return its path; see `crosswind.report.page`."""
    # Imported late: plotly takes longer to import than the summary takes to print.
    from crosswind.report import page

    return page.write_report(folder)


def write_report_so_far(folder: Path) -> Path:
    """Write `report.html` between two trials of a run, and return its path."""
    from crosswind.report import page

    return page.write_report_so_far(folder)
