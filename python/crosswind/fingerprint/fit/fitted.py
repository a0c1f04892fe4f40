"""A model of what was measured, as an element of a condition, with its nearness; the simplest that fits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from textwrap import wrap

from crosswind.errors import CrosswindError
from crosswind.fingerprint.fit.nearness import Nearness


class NoFit(CrosswindError):
    """Nothing that can be emulated was found; the message says what was, and what would help."""


@dataclass(frozen=True)
class Fitted:
    """A model of what was measured.

    Attributes:
        summary: one line, of the condition.
        elements: YAML of a place with its elements, not indented.
        notes: lines of the header, what was found and how sure it is.
        near: what it would give against what was measured.
    """

    summary: str
    elements: str
    notes: list[str]
    near: Nearness


# Models by name, the simplest first; each raises NoFit where it has nothing to say.
Models = Mapping[str, Callable[[], Fitted]]


@dataclass(frozen=True)
class Choice:
    """The model that was taken, and of the others by name why not, or how near they come."""

    name: str
    taken: Fitted
    others: dict[str, str]


def choose(source: str, models: Models, wanted: str | None) -> Choice:
    """Return the first model that fits, or the wanted one.

    Args:
        source: the file that was measured, for messages.
    Raises: NoFit: none fits, or the wanted one does not; says by how much, and what to try.
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
        return Choice(name, fitted[name], others)
    remedy = (
        f"what fits is {', '.join(fitted)}: write --as {next(iter(fitted))}"
        if fitted
        else "measure for longer, or cut the trace where the network changed and fit the parts"
    )
    told = {wanted: said[wanted]} if wanted is not None else said
    reasons = "\n".join(f"  {name}: {words}" for name, words in told.items())
    raise NoFit(f"{source}: no condition gives what was measured; {remedy}\n{reasons}")


def condition_text(name: str, source: str, seen: str, choice: Choice) -> str:
    """Return a file with one condition.

    Args:
        name: of the condition.
        seen: what was measured, in a few words.
    """
    taken = choice.taken
    header = [
        f"Models: what {source} was given: {seen}.",
        f"Source: measured; the model is `{choice.name}`.",
        *taken.notes,
        f"Fit: {taken.near}.",
    ]
    body = "\n".join(f"  {line}" for line in taken.elements.splitlines())
    comment = [f"# {part}" for line in header for part in wrap(line, 116)]
    return "\n".join([*comment, "", f"{name}:", f"  summary: {taken.summary}", body])
