"""Choose the simplest model that fits a measurement, and write it as a condition."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from textwrap import wrap

from crosswind.errors import CrosswindError
from crosswind.fingerprint.fit.nearness import Nearness


class NoFit(CrosswindError):
    """No model that can be emulated fits; the message gives the reason and the remedy."""


@dataclass(frozen=True)
class Fitted:
    """A model of a measurement.

    Attributes:
        summary: of the condition, one line.
        elements: YAML of a place with its elements, not indented.
        notes: lines of the header: estimates and their intervals.
        near: how near the model is to the measurement.
    """

    summary: str
    elements: str
    notes: list[str]
    near: Nearness


# Models by name, the simplest first; each raises NoFit where it does not apply.
Models = Mapping[str, Callable[[], Fitted]]


@dataclass(frozen=True)
class ChosenModel:
    """The chosen model, and for each other one why it was not chosen, or how near it is."""

    name: str
    taken: Fitted
    others: dict[str, str]


def choose(source: str, models: Models, wanted: str | None) -> ChosenModel:
    """Return the first model that fits, or the requested one.

    Args:
        source: the file that was measured, for messages.
    Raises: NoFit: none fits, or the requested one does not; gives the distances and the remedy.
    """
    fitted: dict[str, Fitted] = {}
    said: dict[str, str] = {}
    for name, fit in models.items():
        try:
            found = fit()
        except NoFit as nothing:
            said[name] = str(nothing)
            continue
        said[name] = str(found.near)
        if found.near.refused:
            said[name] += f"; does not fit: {', '.join(found.near.refused)}"
        else:
            fitted[name] = found
    name = wanted or next(iter(fitted), "")
    if name in fitted:
        others = {other: words for other, words in said.items() if other != name}
        return ChosenModel(name, fitted[name], others)
    remedy = (
        f"these models fit: {', '.join(fitted)}; give --as {next(iter(fitted))}"
        if fitted
        else "measure for longer, or cut the trace where the network changed and fit the parts"
    )
    asked = {wanted: said[wanted]} if wanted is not None else said
    reasons = "\n".join(f"  {name}: {words}" for name, words in asked.items())
    raise NoFit(f"{source}: no model fits the measurement; {remedy}\n{reasons}")


def condition_text(name: str, source: str, seen: str, choice: ChosenModel) -> str:
    """Return a file with one condition.

    Args:
        name: of the condition.
        seen: the measurement, in a few words.
    """
    taken = choice.taken
    header = [
        f"Models: the measurement {source}: {seen}.",
        f"Source: measured; the model is `{choice.name}`.",
        *taken.notes,
        f"Fit: {taken.near}.",
    ]
    body = "\n".join(f"  {line}" for line in taken.elements.splitlines())
    comment = [f"# {part}" for line in header for part in wrap(line, 116)]
    return "\n".join([*comment, "", f"{name}:", f"  summary: {taken.summary}", body])
