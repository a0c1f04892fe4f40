"""Rules inside a process: which keys go together, and what a single value cannot show."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from pydantic import JsonValue

from crosswind.spec.draft import items, sound, sound_field, value_at
from crosswind.spec.link_log import FORMATS
from crosswind.spec.parameters.process_keys import LAWS, MarkovState, RateProcess
from crosswind.spec.quantile_law import CERTAIN_PPB
from crosswind.spec.quantities import TIME, shown
from crosswind.spec.setting import Finding
from crosswind.text.nearest import did_you_mean

# The processes that a key belongs to.
_BELONGS_TO = {
    "tails": ("ballani",),
    "hold": ("quantiles", "ballani", "markov"),
    "repeat": ("steps", "trace", "mahimahi", "log"),
    "resample": ("steps", "trace"),
}


def process_findings(raw: JsonValue) -> Iterator[Finding]:
    """Yield what is wrong between the keys of the mapping `raw`."""
    given = [law for law in LAWS if value_at(raw, law) is not None]
    if len(given) != 1:
        found = f"has {' and '.join(given)}" if given else "has no process"
        yield (), f"{found}; write exactly one of {', '.join(LAWS)}"
        return
    law = given[0]
    for key, laws in _BELONGS_TO.items():
        if value_at(raw, key) is not None and law not in laws:
            yield (key,), f"does not go with {law}, only with {' or '.join(laws)}; remove it"
    if law == "markov":
        yield from _markov_findings(raw)
    if law == "quantiles":
        yield from _quantile_findings(raw)
    if law == "log":
        yield from _log_findings(raw)
    if law == "steps":
        yield from _step_findings(raw)
    if value_at(raw, "resample") is not None:
        if law == "steps" and value_at(raw, "repeat") is None:
            yield (), 'is resampled and needs "repeat", the time at which its steps end; add it'
        if value_at(raw, "repeat") is False:
            yield ("repeat",), "must be true or a time: with resample there is no end"
    if law == "mahimahi" and not isinstance(value_at(raw, "repeat"), bool | None):
        yield ("repeat",), "must be true or false: the last line of the trace is its period"


def _log_findings(raw: JsonValue) -> Iterator[Finding]:
    direction = value_at(raw, "direction")
    if direction is None:
        yield (), 'needs "direction", because a log has both; write one capacity with up and one with down'
    for path, _ in items(raw, "log"):
        form = FORMATS.get(str(path[-1]))
        if form is not None and direction in ("up", "down") and not form.has(str(direction)):
            other = "down" if direction == "up" else "up"
            yield ("direction",), f"{path[-1]} has no column for {direction}; write {other}"


def _step_findings(raw: JsonValue) -> Iterator[Finding]:
    instants: dict[int, str] = {}
    rates = sound_field(RateProcess, "steps", raw) or {}
    for step_path, _ in items(raw, "steps"):
        at_ns = sound(TIME.read, step_path[-1])
        if at_ns is None:
            continue
        if at_ns in instants:
            yield step_path, f'is the same time as "{instants[at_ns]}"; remove one of the two'
        instants[at_ns] = str(step_path[-1])
    if not instants:
        return
    first, last = min(instants), max(instants)
    if first > 0:
        yield ("steps",), f"begins at {instants[first]}; add a rate from 0s on"
    if rates and all(rate == 0 for rate in rates.values()):
        yield ("steps",), "has no rate above zero, so nothing would ever pass; write one"
    repeat = sound_field(RateProcess, "repeat", raw)
    if isinstance(repeat, bool):
        yield ("repeat",), f"must be a time after which to start again, longer than {instants[last]}"
    elif repeat is not None and repeat <= last:
        text = shown(value_at(raw, "repeat"))
        yield ("repeat",), f"{text} is not after the last step, {instants[last]}; write a longer time"


def _quantile_findings(raw: JsonValue) -> Iterator[Finding]:
    if value_at(raw, "hold") is None:
        yield (), 'needs "hold", how long a draw is used; add it'
    quantiles = sorted((sound_field(RateProcess, "quantiles", raw) or {}).items())
    if quantiles and len(quantiles) < len(items(raw, "quantiles")):
        yield ("quantiles",), "has one share twice; remove one of the two"
    for (share, rate), (next_share, next_rate) in pairwise(quantiles):
        if next_rate < rate:
            what = f"the rate at {next_share / 1e7:g}% is below that at {share / 1e7:g}%"
            yield ("quantiles",), f"{what}; rates must not descend"
    if quantiles and not quantiles[-1][1]:
        yield ("quantiles",), "has no rate above zero, so nothing would ever pass; write one"


def _markov_findings(raw: JsonValue) -> Iterator[Finding]:
    if value_at(raw, "hold") is None:
        yield (), 'needs "hold", the length of a step; add it'
    states = items(raw, "markov")
    names = [str(state_path[-1]) for state_path, _ in states]
    for state_path, state in states:
        where = (*state_path, "to")
        shares = sound_field(MarkovState, "to", state) or {}
        for other in shares:
            if other not in names:
                remedy = did_you_mean(other, names) or f"states are {', '.join(names)}"
                yield (*where, other), f"is not a state; {remedy}"
            if other == state_path[-1]:
                yield (
                    (*where, other),
                    "is the state itself, and the rest is the probability to stay; remove it",
                )
        if sum(shares.values()) > CERTAIN_PPB:
            yield where, f"adds up to {sum(shares.values()) / 1e7:g}%; at most 100%"
    rates = [sound_field(MarkovState, "rate_bps", state) for _, state in states]
    if states and all(rate == 0 for rate in rates):
        yield ("markov",), "has no rate above zero, so nothing would ever pass; write one"
