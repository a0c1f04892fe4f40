"""What all parts of a fingerprint have in common."""

from __future__ import annotations

from pydantic import ValidationError

from crosswind.spec.resolved.part import ResolvedPart


class FingerprintPart(ResolvedPart):
    """A part of a fingerprint, written and read like a part of a resolved experiment.

    A key that an older version did not write has a default. `as_json` returns only the keys that were set.
    """


def problem_of(error: ValidationError) -> str:
    """Return the first problem in a few words: its place in the document, then the rule."""
    first = error.errors(include_url=False)[0]
    place = ".".join(map(str, first["loc"]))
    return f"{place}: {first['msg']}" if place else first["msg"]
