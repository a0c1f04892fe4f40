"""Why a trial failed, as its row says it, and when two trials failed for the same reason."""

import re
import sqlite3

import duckdb

from crosswind.errors import CrosswindError

# These say themselves what is wrong; the text of any other exception needs its name to mean anything.
_TELLING = (CrosswindError, OSError, duckdb.Error, sqlite3.Error)


def reason_of(error: Exception) -> str:
    """Return an error as the reason of a failed trial."""
    return str(error) if isinstance(error, _TELLING) else exception_text(error)


def exception_text(error: Exception) -> str:
    """Return the name of an exception and what it says, such as `RecursionError: maximum depth exceeded`."""
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def same_reason(reasons: list[str | None]) -> bool:
    """Tell whether reasons are the same but for their numbers: ports, process ids, sizes, times."""
    return len({re.sub(r"\d+", "0", reason or "") for reason in reasons}) == 1
