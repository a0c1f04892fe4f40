"""Whether the data are still right: the verdicts on the histories of all trials as one answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from crosswind.results.measurement import CheckedHistory, WrongKey
from crosswind.text.units import count

QUESTION = "Is the data still right?"
# A report shows as many counterexamples of each condition.
SHOWN = 4


@dataclass(frozen=True)
class TrialHistory:
    """The verdict on the history of one trial; void ones are among them, since a wrong answer stays wrong."""

    trial: str
    condition: str
    checked: CheckedHistory


@dataclass(frozen=True)
class DataAnswer:
    """The answer in a few words and in sentences.

    Attributes:
        verdict: `ok` only where every key of every trial is right.
    """

    verdict: str
    short: str
    text: str


def data_answer(histories: Sequence[TrialHistory]) -> DataAnswer | None:
    """Return the answer over all trials; None where no trial has a history."""
    if not histories:
        return None
    trials = f"{len(histories)} trial{'' if len(histories) == 1 else 's'}"
    wrong = [one for one in histories if one.checked.verdict == "violation"]
    if wrong:
        where = ", ".join(dict.fromkeys(one.condition for one in wrong))
        first = wrong[0]
        return DataAnswer(
            "violation",
            f"No: wrong in {len(wrong)} of {trials}",
            f"Wrong under {where}. In {first.trial}, key {first.checked.shown[0].key}: "
            f"{first.checked.shown[0].why}.",
        )
    undecided = [one for one in histories if one.checked.verdict == "unknown"]
    if undecided:
        return DataAnswer(
            "unknown",
            f"Unknown in {len(undecided)} of {trials}",
            "No violation was found, but not every key could be checked. In "
            f"{undecided[0].trial}: {undecided[0].checked.undecided_because}.",
        )
    confirmed = sum(one.checked.confirmed for one in histories)
    unknown = sum(one.checked.unknown for one in histories)
    return DataAnswer(
        "ok",
        f"Yes, in {trials}",
        f"A correct store could have given all answers: {count(confirmed)} confirmed operations and "
        f"{count(unknown)} of unknown outcome.",
    )


def counterexamples(histories: Sequence[TrialHistory]) -> list[tuple[TrialHistory, WrongKey]]:
    """Return what a report shows: of each condition the first wrong keys, of as many trials as there are."""
    found: list[tuple[TrialHistory, WrongKey]] = []
    for condition in dict.fromkeys(one.condition for one in histories):
        keys = [
            (rank, place, one, key)
            for place, one in enumerate(histories)
            if one.condition == condition
            for rank, key in enumerate(one.checked.shown)
        ]
        found += [(one, key) for _, _, one, key in sorted(keys, key=lambda it: it[:2])[:SHOWN]]
    return found
