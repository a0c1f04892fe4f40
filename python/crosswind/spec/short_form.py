"""Short forms: one parameter of an element in place of its mapping (`delay: 20ms`).

All other code sees the mapping that the short form stands for.
"""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import BeforeValidator, JsonValue

from crosswind.spec.description import Fill, Short, descriptions
from crosswind.spec.document import Path
from crosswind.spec.places import PLACES
from crosswind.spec.quantities import RATE, QuantityError

SHORT_FORMS: Mapping[str, Short] = {
    kind: each.short for kind, each in descriptions().items() if each.short is not None
}


def short_form(word: str) -> BeforeValidator:
    """Return the pydantic annotation of an element that may be written in its short form."""
    return BeforeValidator(lambda value: parameters_in_full(word, value))


def parameters_in_full(word: str, value: JsonValue) -> JsonValue:
    """Return an element's parameters as a mapping, also where they are written in short."""
    if word not in SHORT_FORMS or value is None or not isinstance(value, str | int | float | list):
        return value
    form = SHORT_FORMS[word]
    parameters: dict[str, JsonValue] = {form.key: value}
    return parameters | {key: _filled(fill, parameters[fill.of]) for key, fill in form.fills.items()}


def condition_in_full(condition: JsonValue) -> JsonValue:
    """Return a condition as plain values, with every element in its long form."""
    if not isinstance(condition, dict):
        return condition
    full, later = _places_in_full(condition), condition.get("at")
    if isinstance(later, dict):
        full["at"] = {
            time: _places_in_full(places) if isinstance(places, dict) else places
            for time, places in later.items()
        }
    return full


def short_example(path: Path) -> str | None:
    """Return how the element at `path` of a file is written in its short form, if it has one."""
    # In the list of a place, or of a name in it.
    in_place = len(path) > 2 and isinstance(path[-2], int) and not set(PLACES).isdisjoint(path[-4:-2])
    form = SHORT_FORMS.get(str(path[-1])) if in_place else None
    return None if form is None else f"{path[-1]}: {form.example}"


def _places_in_full(places: dict[str, JsonValue]) -> dict[str, JsonValue]:
    return {key: _elements_in_full(value) if key in PLACES else value for key, value in places.items()}


def _elements_in_full(elements: JsonValue) -> JsonValue:
    if isinstance(elements, dict):
        return {name: _elements_in_full(below) for name, below in elements.items()}
    return [_element_in_full(element) for element in elements] if isinstance(elements, list) else elements


def _element_in_full(element: JsonValue) -> JsonValue:
    if not isinstance(element, dict):
        return element
    return {word: parameters_in_full(str(word), value) for word, value in element.items()}


def _filled(fill: Fill, rate: JsonValue) -> str:
    """Return the default size: the bytes that the rate sends in the time, or the least size."""
    try:
        rate_bps = RATE.read_positive(rate)
    except QuantityError:  # Unlimited, or an error, which is reported where the rate is read.
        rate_bps = 0
    return f"{max(rate_bps * fill.time_ns // (8 * 10**9), fill.least_bytes)}B"
