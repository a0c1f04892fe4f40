"""docs/reference/exit-codes.md: what each exit status means and what to do about it."""

from __future__ import annotations

from crosswind.errors import Exit
from reference_pages import markdown

# Meaning, and what to do. A status without an entry here cannot be published: the page would fail to build.
_MEANINGS = {
    Exit.DONE: ("done", "nothing"),
    Exit.INTERNAL: (
        "internal error: a fault in Crosswind",
        "set `CROSSWIND_DEBUG=1` to see where, and report it",
    ),
    Exit.USAGE: (
        "wrong command line or invalid file; nothing was run",
        "each line of the message names file, line, column and remedy",
    ),
    Exit.PREFLIGHT: (
        "this machine cannot honour the request; nothing was run",
        "`crosswind doctor` says what is missing and what brings it",
    ),
    Exit.TRIALS: (
        "trials failed or are void, or the run was stopped: a signal, a limit, a full disk",
        "remove the cause, which the report's trial tables name; then `crosswind resume`",
    ),
    Exit.REGRESSION: ("`crosswind check` found a regression", "its table names the conditions"),
    Exit.UNDECIDED: (
        "more trials are needed than `at most` allows, or trials are pending; or `check`, or `compare` of "
        "two fingerprints, cannot tell yet, or `check` refuses trials that are not independent",
        "raise `at most`, or accept a wider interval; `check` says what would decide or help; measure "
        "fingerprints for longer",
    ),
    Exit.NOT_COMPARABLE: (
        "the machine or a tool is no longer the one that the run started on; or two runs to compare differ "
        "in machine, application or conditions; or two fingerprints differ",
        "start a new run; or `crosswind compare --force`",
    ),
    Exit.CLEANUP_INCOMPLETE: (
        "something could not be removed",
        "the message names it; it belongs to another account, or is still in use",
    ),
}

_OTHERS = """\
Some are not Crosswind's own. 130 is Ctrl-C outside a run, as shells report it (a run that is interrupted
exits 4: what is stored can be resumed). `crosswind exec` exits with the status of its command, 128 plus the
number of the signal that ended it, 126 or 127 when it cannot be executed or found, and 3 when the node cannot
be entered."""


def page() -> str:
    """Return the page."""
    rows = [[str(int(code)), f"`{code.name}`", *_MEANINGS[code]] for code in Exit]
    return markdown.page(
        "Exit statuses",
        "python/crosswind/errors.py",
        markdown.table(["status", "name", "meaning", "what to do"], rows),
        _OTHERS,
    )
