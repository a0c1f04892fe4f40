"""Suggest the word that the user probably meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

# Below this similarity a suggestion misleads more often than it helps (difflib's own default is 0.6).
_SIMILARITY_MIN = 0.55


def nearest(word: str, choices: Iterable[str], count: int = 1) -> list[str]:
    """Return up to `count` of `choices` that resemble `word`, most similar first.

    Case is ignored, and `_`, `-` and space are the same.
    """
    by_form: dict[str, str] = {}
    for choice in choices:
        by_form.setdefault(_form(choice), choice)
    forms = difflib.get_close_matches(_form(word), by_form, n=count, cutoff=_SIMILARITY_MIN)
    return [by_form[form] for form in forms]


def did_you_mean(word: str, choices: Iterable[str], count: int = 1) -> str:
    """Return `did you mean "x"?`, or the empty string where none is similar."""
    found = nearest(word, choices, count)
    if not found:
        return ""
    return "did you mean " + " or ".join(f'"{choice}"' for choice in found) + "?"


def _form(word: str) -> str:
    return word.casefold().replace("_", "-").replace(" ", "-")
