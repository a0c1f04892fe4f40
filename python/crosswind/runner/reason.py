"""Why a trial failed, as text for its row, and whether trials failed for the same reason."""

import re
import sqlite3

import duckdb
from pydantic import ValidationError

from crosswind.errors import CrosswindError

# The text of these says what is wrong; that of any other exception needs its name.
_SELF_EXPLANATORY = (CrosswindError, OSError, duckdb.Error, sqlite3.Error)


def reason_of(error: Exception) -> str:
    """Return an error as the reason of a failed trial."""
    return str(error) if isinstance(error, _SELF_EXPLANATORY) else exception_text(error)


def exception_text(error: Exception) -> str:
    """Return the name and text of an exception, such as `RecursionError: maximum depth exceeded`.

    Of a document with errors it is the first one with its place, in one line.
    """
    if isinstance(error, ValidationError):
        first, more = error.errors(include_url=False)[0], error.error_count() - 1
        place = ".".join(map(str, first["loc"]))
        return f"{place}: " * bool(place) + first["msg"] + f", and {more} more errors" * bool(more)
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def same_reason(reasons: list[str | None]) -> bool:
    """Return whether reasons are the same except for their numbers: ports, process ids, sizes, times."""
    return len({re.sub(r"\d+", "0", reason or "") for reason in reasons}) == 1
