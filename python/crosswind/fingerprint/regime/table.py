"""Compare regimes in a table, one row each, with the statistics of the study's figures."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pydantic import JsonValue
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from crosswind.analysis.plain import as_plain
from crosswind.fingerprint.regime.appended import RegimeFileError
from crosswind.fingerprint.regime.record import Record, is_record, read_record
from crosswind.fingerprint.regime.statistics import statistics_of
from crosswind.spec.read_file import read_file, require_file
from crosswind.text.console import widen
from crosswind.text.quantities import rate_text

READING = (
    "a value is a point at full speed, otherwise the mean of a burst. Neighbouring values are not "
    "independent, so there are no intervals and no verdicts."
)
_HEADERS = ("regime", "measured", "values", "p1", "p25", "p50", "p75", "p99", "mean", "variation", "lag 1")


def is_regime(path: Path) -> bool:
    """Return whether a file holds a regime."""
    require_file(path)
    with path.open("rb") as file:
        return is_record(file.readline())


def read_regimes(paths: list[Path]) -> dict[str, Record]:
    """Return the regimes in files, by the names of the files.

    Raises: RegimeFileError: a file holds none, or has no point.
    """
    found = {}
    for path in paths:
        try:
            found[str(path)] = read_record(read_file(path))
            statistics_of(found[str(path)])
        except OSError as error:
            raise RegimeFileError(f"{path}: cannot be read: {error.strerror or error}") from None
        except ValueError as error:
            raise RegimeFileError(f"{path}: {error}") from None
    return found


def regimes_as_json(regimes: Mapping[str, Record]) -> list[dict[str, JsonValue]]:
    """Return what each regime measured and its statistics, as plain values."""
    return [
        {
            "file": file,
            "regime": record.header.regime,
            "between": list(record.header.between),
            "condition": record.header.condition,
            "measured_s": record.measured_s,
            **as_plain(statistics_of(record)),
        }
        for file, record in regimes.items()
    ]


def print_regimes(regimes: Mapping[str, Record], console: Console) -> None:
    """Print a row for each regime."""
    widen(console)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    table.add_column("file", overflow="fold")
    for header in _HEADERS:
        table.add_column(header, justify="right", no_wrap=True)
    for file, record in regimes.items():
        found = statistics_of(record)
        rates = [*found.box_bps, found.mean_bps]
        shares = (found.variation, found.autocorrelation)
        table.add_row(
            escape(file),
            *(record.header.regime, f"{record.measured_s:.4g} s", str(found.values)),
            *(rate_text(rate) for rate in rates),
            *("-" if share is None else f"{share:.3g}" for share in shares),
        )
    console.print(table, soft_wrap=False)
    console.print(READING, style="dim", markup=False)
    networks = {record.header.network for record in regimes.values()}
    if len(networks) > 1:
        console.print("[bold yellow]![/bold yellow] these regimes are of different networks or ends")
