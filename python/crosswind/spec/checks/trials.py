"""Rules of trials, their number and the time that they take, and of published figures."""

from __future__ import annotations

import math
from collections.abc import Iterator

from crosswind.spec import declared
from crosswind.spec.budget_rules import budget_findings
from crosswind.spec.checks.document import named_conditions, parameters_of, problem_at
from crosswind.spec.document import Document
from crosswind.spec.draft import items, sound_field, value_at
from crosswind.spec.experiment import Experiment
from crosswind.spec.problems import Problem
from crosswind.spec.published import published_findings
from crosswind.spec.quantities import shown
from crosswind.spec.setting import Finding
from crosswind.spec.topology import form_of
from crosswind.spec.trials import Growing, Limits, Trials, Until


def trials_problems(document: Document) -> Iterator[Problem]:
    """Yield what is wrong with the number of trials, their files, budgets and time."""
    trials = value_at(document.data, "trials")
    repeat = value_at(trials, "repeat")
    at_least = sound_field(Growing, "at_least", repeat)
    at_most = sound_field(Growing, "at_most", repeat)
    where = ("trials", "repeat")
    if at_least is not None and at_most is not None and at_least > at_most:
        yield problem_at(
            document, (*where, "at least"), f'"{at_least}" is above at most "{at_most}"; swap them'
        )
    until = value_at(repeat, "until")
    quantile, confidence = sound_field(Until, "quantile", until), sound_field(Until, "confidence", until)
    if confidence is not None and not 0 < confidence < 1:
        yield problem_at(
            document, (*where, "until", "confidence"), "must be above 0% and below 100%; 95% is usual"
        )
    elif quantile is not None and confidence is not None and at_most is not None:
        needed = trials_needed(quantile, confidence)
        if at_most < needed:
            message = (
                f'"{at_most}" is too few: a {100 * confidence:g} % interval of the {quantile:g} quantile '
                f"needs at least {needed} trials; write at least {needed}, or another quantile"
            )
            yield problem_at(document, (*where, "at most"), message)
    if sound_field(Until, "within", until) == 0:
        yield problem_at(
            document, (*where, "until", "within"), "is zero and can never be reached; write a share above 0%"
        )
    for path, message in _one_domain_findings(document):
        yield problem_at(document, ("trials", *path), message)
    conditions = [condition for _, condition in named_conditions(document)]
    for path, message in budget_findings(trials, conditions):
        yield problem_at(document, ("trials", *path), message)
    yield from _duration_problems(document, at_least or sound_field(Trials, "repeat", trials))


def trials_needed(quantile: float, confidence: float) -> int:
    """Return how many trials an equal-tailed distribution-free interval needs to have both ends.

    With n trials the lowest and highest value bound the quantile, except with probability (1-q)^n and q^n:
    each must be at most half of 1 - confidence. Median and 95 %: 6.

    Source: Le Boudec, Performance Evaluation of Computer and Communication Systems, 2010, chapter 2.
    """
    tail = (1 - confidence) / 2
    return math.ceil(math.log(tail) / math.log(max(quantile, 1 - quantile)) - 1e-9)


def _one_domain_findings(document: Document) -> Iterator[Finding]:
    """Yield files that the emulator writes in one domain only, where several domains are declared."""
    raw, trials = value_at(document.data, "topology"), value_at(document.data, "trials")
    domains = sound_field(form_of(raw), "domains", raw)
    count = len(domains) if isinstance(domains, list) else domains
    if not isinstance(count, int) or count < 2:
        return
    for key in ("record", "capture"):
        if sound_field(Trials, key, trials):
            yield (
                (key,),
                f"needs one domain, and the topology has {count}; write domains: 1 there, or remove {key}",
            )


def _duration_problems(document: Document, repeat: object) -> Iterator[Problem]:
    """Yield that the time limit of a run is too short for its trials, before the run starts."""
    trials = value_at(document.data, "trials")
    limit_ns = sound_field(Limits, "duration_ns", value_at(trials, "limits"))
    busy_ns = declared.busy_ns(parameters_of(document))
    rest_ns = sound_field(Trials, "rest_ns", trials)
    if limit_ns is None or busy_ns is None or rest_ns is None or not isinstance(repeat, int):
        return
    count = repeat * len(items(document.data, "conditions"))
    time = sound_field(Experiment, "time", document.data)
    # The limit is of real time.
    factors = [1] if time is None else time.dilation
    count, needed_ns = count * len(factors), count * (busy_ns + rest_ns) * sum(factors)
    if needed_ns > limit_ns:
        text = shown(value_at(trials, "limits", "duration"))
        message = (
            f"{text} is too short for {count} trials, which take {needed_ns / 1e9:g}s without their set-up; "
            f"allow more time, or write fewer or shorter trials"
        )
        yield problem_at(document, ("trials", "limits", "duration"), message)


def published_problems(document: Document) -> Iterator[Problem]:
    """Yield what is wrong with published figures."""
    entry = sound_field(Experiment, "published", document.data)
    if entry is None:
        return
    found = [value for _, value in items(document.data, "conditions")]
    names = [next(iter(value)) if isinstance(value, dict) and value else value for value in found]
    for path, message in published_findings(entry, [name for name in names if isinstance(name, str)]):
        yield problem_at(document, ("published", *path), message)
