"""Put the levels of factors into conditions: one condition of a file becomes one for each combination.

`$delay` stands for a level of the factor `delay`. In a condition's name it becomes a word (`50us`), as a
whole value it becomes the level exactly as written, and within longer text the text of the level. Problems
are reported in the words of the file, where one condition stands for many, and at its place there; a problem
of a level at the level.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from pydantic import JsonValue

from crosswind.spec.design import CONDITIONS_MAX, Design, Factors, Point, combinations_of, matches, points_of
from crosswind.spec.document import Document, Path, Place
from crosswind.spec.draft import items, only_key, sound, sound_field, value_at
from crosswind.spec.factor import FACTOR, LevelRange, levels_of, unit_of
from crosswind.spec.level import Level
from crosswind.spec.problems import Problem
from crosswind.spec.quantities import shown
from crosswind.spec.setting import Finding
from crosswind.spec.translate import describe, dotted
from crosswind.spec.trials import Trials
from crosswind.text.nearest import did_you_mean

_REFERENCE = re.compile(r"\$([a-z][a-z0-9_]*)")
_ITEM = re.compile(r"^conditions\[(\d+)\]")


@dataclass(frozen=True)
class Expanded:
    """A file whose conditions are all written out.

    Attributes:
        points: the levels of each condition, by its name; conditions without factors are absent.
        origins: the place in the file of each condition, in their order.
    """

    document: Document
    points: dict[str, Point] = field(default_factory=dict)
    origins: list[Path] = field(default_factory=list)

    def as_written(self, problem: Problem) -> Problem:
        """Return a problem of the expanded file in the words of the file."""
        found = _ITEM.match(problem.message)
        if not found or not self.origins:
            return problem
        number = int(found[1]) - 1
        entry = value_at(self.document.data, "conditions", number)
        name = only_key(entry) or ""
        whole, origin = dotted(("conditions", number, name)), self.origins[number]
        if name and problem.message.startswith(whole):
            return replace(problem, message=dotted(origin) + problem.message[len(whole) :])
        return replace(problem, message=dotted(origin[:2]) + problem.message[found.end() :])


def expanded(document: Document, problems: list[Problem]) -> Expanded:
    """Return the file with its conditions written out; what is wrong with factors is added to `problems`."""
    entries = items(document.data, "conditions")
    if not any(_names_in(entry) for _, entry in entries) and not _has_design(document):
        return Expanded(document)
    found = _findings(document)
    problems.extend(_problem(document, path, message) for path, message in found)
    factors = _factors(document)
    design = _design(document)
    if found or factors is None or design is None:
        return _without_templates(document)
    points = points_of(factors, design, _seed(document))
    return _write_out(document, factors, points, problems)


def _has_design(document: Document) -> bool:
    return any(value_at(document.data, key) is not None for key in ("factors", "design"))


def _factors(document: Document) -> dict[str, list[Level] | LevelRange] | None:
    """Return the factors; None where one of them has an error."""
    read: dict[str, list[Level] | LevelRange] = {}
    for path, raw in items(document.data, "factors"):
        factor = sound(FACTOR.validate_python, raw)
        if factor is None:
            return None
        read[str(path[-1])] = factor
    return read


def _design(document: Document) -> Design | None:
    raw = value_at(document.data, "design")
    return Design() if raw is None else sound(Design.model_validate, raw)


def _seed(document: Document) -> int:
    seed = sound_field(Trials, "seed", value_at(document.data, "trials"))
    return 1 if seed is None else int(seed)


def _without_templates(document: Document) -> Expanded:
    """Return the conditions that can still be checked: those without factors, or the empty one."""
    entries = [(path, entry) for path, entry in items(document.data, "conditions") if not _names_in(entry)]
    if not entries:
        return Expanded(document.with_value("conditions", ["none"]))
    return _renumbered(document, [(path, entry, {}, {}) for path, entry in entries])


# --- what is wrong -----------------------------------------------------------------------------------------


def _findings(document: Document) -> list[Finding]:
    """Return what is wrong with factors and design as a whole, with the path in the file."""
    known = [str(path[-1]) for path, _ in items(document.data, "factors")]
    found = list(_reference_findings(document, known))
    factors, design = _factors(document), _design(document)
    if factors and design is not None:  # Else reading refuses them.
        hypercube = design.latin_hypercube is not None
        of_levels = [each for name in known for each in _levels_findings(name, factors[name], hypercube)]
        found += [*of_levels, *_combination_findings(factors, design)]
        found += [] if of_levels else _adaptive_findings(factors, design, document)
        found += [] if of_levels else _points_findings(factors, design, _seed(document))
    return found


def _reference_findings(document: Document, known: list[str]) -> Iterator[Finding]:
    """Yield names in conditions that are not factors, and factors that no condition names."""
    used: set[str] = set()
    for path, entry in items(document.data, "conditions"):
        for where, name in _names_in(entry):
            used.add(name)
            if name not in known:
                others = f"factors are {', '.join(known)}" if known else f"add factors: {{{name}: [...]}}"
                yield (
                    (*path, *where),
                    f'names "${name}", which is not a factor; {did_you_mean(name, known) or others}',
                )
    for name in known:
        if name not in used:
            yield (
                ("factors", name),
                f"is not used by any condition; write ${name} where its level belongs, or remove it",
            )
    if not known:
        yield ("design",), "needs factors; add them, or remove it"


def _levels_findings(name: str, factor: list[Level] | LevelRange, hypercube: bool) -> Iterator[Finding]:
    where = ("factors", name)
    if isinstance(factor, LevelRange) and hypercube:
        if factor.count is not None:
            yield (*where, "levels"), "has no effect with a latin hypercube, which cuts the range; remove it"
        return
    if isinstance(factor, LevelRange) and factor.count is None:
        yield where, 'needs "levels", the number of them; add it'
        return
    levels = levels_of(factor)
    for index, level in enumerate(levels):
        if any(level.same_as(other) for other in levels[:index]):
            place = where if isinstance(factor, LevelRange) else (*where, index)
            yield place, f"{shown(level.written)} is given twice; a factor has each level once"


def _combination_findings(factors: Factors, design: Design) -> Iterator[Finding]:
    for key in ("exclude", "include"):
        for index, part in enumerate(getattr(design, key) or []):
            for name in part:
                if name not in factors:
                    remedy = did_you_mean(name, factors) or f"factors are {', '.join(factors)}"
                    yield ("design", key, index, name), f"is not a factor; {remedy}"
    for index, part in enumerate(design.include or []):
        for name in factors:
            if name not in part:
                yield ("design", "include", index), f'needs every factor, and "{name}" is missing; add it'


def _adaptive_findings(factors: Factors, design: Design, document: Document) -> Iterator[Finding]:
    adaptive, where = design.adaptive, ("design", "adaptive")
    if adaptive is None:
        return
    if design.latin_hypercube is not None:
        yield where, "chooses among combinations, and a latin hypercube has none; remove one of the two"
        return
    if adaptive.start > adaptive.at_most:
        yield (*where, "start"), f'"{adaptive.start}" is above at most "{adaptive.at_most}"; swap them'
    for name, factor in factors.items():
        if unit_of(levels_of(factor)) is None:
            yield (
                ("factors", name),
                "has levels that are names, and adaptive needs quantities; remove adaptive",
            )
    if not isinstance(value_at(document.data, "trials", "repeat"), int):
        yield (
            ("trials", "repeat"),
            "must be a number with design: adaptive: the trials of each point",
        )
    for path, entry in items(document.data, "conditions"):
        if set(factors) - {name for _, name in _names_in(entry)}:
            yield path, "lacks a factor; with design: adaptive every condition must use all factors"


def _points_findings(factors: Factors, design: Design, seed: int) -> Iterator[Finding]:
    count = design.latin_hypercube or math.prod(len(levels_of(factor)) for factor in factors.values())
    if count > CONDITIONS_MAX:
        remedy = "use fewer levels, or a latin hypercube"
        yield ("factors",), f"make {count} combinations; at most {CONDITIONS_MAX}: {remedy}"
        return
    points = combinations_of(factors, design.latin_hypercube, seed)
    for index, part in enumerate(design.exclude or []):
        if set(part) <= set(factors) and not any(matches(part, point) for point in points):
            yield (
                ("design", "exclude", index),
                "excludes nothing, because no combination has these levels; remove it",
            )


def _names_in(entry: JsonValue) -> list[tuple[Path, str]]:
    """Return the factors that an entry of the conditions names, each with its place inside the entry."""
    titles = (
        [((), name) for title in entry for name in _REFERENCE.findall(title)]
        if isinstance(entry, dict)
        else []
    )
    return [*titles, *((path, name) for path, text in _texts(entry) for name in _REFERENCE.findall(text))]


def _texts(value: JsonValue, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Yield every text in a value with its path."""
    if isinstance(value, str):
        yield path, value
    for inner, item in items(value):
        yield from _texts(item, (*path, *inner))


# --- writing out -------------------------------------------------------------------------------------------

# The path of an entry in the file, the entry written out, its levels, and the place of each level.
_Written = tuple[Path, JsonValue, Point, dict[str, Path]]


def _write_out(
    document: Document, factors: Factors, points: list[Point], problems: list[Problem]
) -> Expanded:
    written: list[_Written] = []
    for path, entry in items(document.data, "conditions"):
        used = [name for name in factors if name in {name for _, name in _names_in(entry)}]
        title = only_key(entry)
        if title is not None:
            unnamed = [
                name for name in used if name not in _REFERENCE.findall(title) and _varies(name, points)
            ]
            if unnamed:
                missing = "-".join(f"${name}" for name in unnamed)
                message = f"is one name for several conditions; write {title}-{missing}"
                problems.append(_problem(document, (*path, title), message, at_key=True))
                return _without_templates(document)
        for point in _distinct([{name: point[name] for name in used} for point in points]):
            places = {name: _place(factors[name], name, level) for name, level in point.items()}
            written.append((path, _filled(entry, point, top=True), point, places))
    return _renumbered(document, written)


def _varies(name: str, points: list[Point]) -> bool:
    return any(not point[name].same_as(points[0][name]) for point in points)


def _distinct(points: list[Point]) -> list[Point]:
    """Return each point once: a condition may use some factors only, or none."""
    found: dict[tuple[str, ...], Point] = {}
    for point in points:
        found.setdefault(tuple(level.text for level in point.values()), point)
    return list(found.values())


def _place(factor: list[Level] | LevelRange, name: str, level: Level) -> Path:
    for index, each in enumerate(factor if isinstance(factor, list) else []):
        if each is level:
            return ("factors", name, index)
    return ("factors", name)


def _filled(value: JsonValue, point: Point, *, top: bool = False) -> JsonValue:
    """Return a value with levels in place of factors; `top`: an entry, whose key is a condition's name."""
    if isinstance(value, str):
        whole = _REFERENCE.fullmatch(value)
        return point[whole[1]].written if whole else _text(value, lambda name: point[name].text)
    if isinstance(value, list):
        return [_filled(item, point) for item in value]
    if isinstance(value, dict):
        return {
            _text(key, lambda name: point[name].word) if top else key: _filled(item, point)
            for key, item in value.items()
        }
    return value


def _text(text: str, of: Callable[[str], str]) -> str:
    return _REFERENCE.sub(lambda found: of(found[1]), text)


def _renumbered(document: Document, written: list[_Written]) -> Expanded:
    """Return the document with these conditions, each value placed where the file has it."""
    values, keys = dict(document.values), dict(document.keys)
    places_below = [(_by_condition(document.values), values), (_by_condition(document.keys), keys)]
    points: dict[str, Point] = {}
    origins: list[Path] = []
    for number, (path, entry, point, places) in enumerate(written):
        inline, title = only_key(entry), only_key(value_at(document.data, *path))
        origin = path if title is None else (*path, title)
        origins.append(origin)
        start: Path = ("conditions", number) if inline is None else ("conditions", number, inline)
        name = entry if isinstance(entry, str) else inline
        if point and name is not None:
            points[name] = point
        values[("conditions", number)] = document.values[path]
        for source, target in places_below:
            for old, place in source.get(path, ()):
                if old[: len(origin)] == origin:
                    target[(*start, *old[len(origin) :])] = place
        for where, text in _texts(value_at(document.data, *origin)):
            if whole := _REFERENCE.fullmatch(text):
                values[(*start, *where)] = document.values[places[whole[1]]]
    expanded = document.with_value("conditions", [entry for _, entry, _, _ in written])
    return Expanded(replace(expanded, values=values, keys=keys), points, origins)


def _by_condition(places: Mapping[Path, Place]) -> dict[Path, list[tuple[Path, Place]]]:
    """Return the places below each entry of the conditions, by the entry's path."""
    found: dict[Path, list[tuple[Path, Place]]] = {}
    for path, place in places.items():
        if len(path) > 1 and path[0] == "conditions":
            found.setdefault(path[:2], []).append((path, place))
    return found


def _problem(document: Document, path: Path, message: str, *, at_key: bool = False) -> Problem:
    return document.problem(path, describe(path, message), at_key=at_key)
