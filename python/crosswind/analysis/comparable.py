"""Check whether two runs are comparable: the same network, machine, application and conditions."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import JsonValue

from crosswind.analysis.network.attached import attached, of_one_kind
from crosswind.analysis.network.comparison import compare_fingerprints
from crosswind.analysis.network.comparison_text import sides_text
from crosswind.analysis.summary import Summary
from crosswind.errors import CrosswindError, Exit
from crosswind.machine import machine_fingerprint
from crosswind.spec.resolved import Resolved, dilation_of, slower_text


class NotComparable(CrosswindError):
    """The runs differ in more than their numbers; the message names the differences."""

    exit = Exit.NOT_COMPARABLE


@dataclass(frozen=True)
class Sameness:
    """What differs between two runs, in sentences."""

    hindrances: list[str]  # differences that make numbers incomparable
    notes: list[str]  # differences that may be the purpose of the comparison
    time: list[str]  # how slow time was in both, or the notes that it differs; empty in real time


def sameness(base: Summary, other: Summary) -> Sameness:
    """Return the differences between two runs other than their numbers."""
    hindrances: list[str] = []
    notes: list[str] = []
    was, found = (_fingerprint(summary) for summary in (base, other))
    if was is None or found is None:
        notes.append("a provenance.json is missing or incomplete, so the machines may differ")
    else:
        for name in sorted({*was, *found}):
            before, now = was.get(name, "absent"), found.get(name, "absent")
            if before != now:
                # A new version is often the purpose of the comparison; another CPU never is.
                kind = notes if name.startswith("version of ") else hindrances
                kind.append(f"{name}: {before} and {now}")
    written = _written(base.resolved, other.resolved)
    for key in ("application", "topology", "scale"):
        parts = [_without_files(document.get(key)) for document in written]
        hindrances += [f"{key}{line}" for line in _differences(parts[0], parts[1])]
    # The user's own program may be the purpose, too; its file is identified by its hash.
    was, found = (_hashes(summary) for summary in (base, other))
    notes += [f"file {name}: different content" for name in was if found.get(name, was[name]) != was[name]]
    budgets = [summary.resolved.trials.budgets for summary in (base, other)]
    hindrances += [f"trials.budgets{line}" for line in _differences(*budgets)]
    # Perceived time is the same at every dilation.
    of_time = _dilations(base.resolved, other.resolved)
    notes += of_time
    # Another TCP may be the purpose, and it explains many differences.
    for name, settings in (("tcp of the nodes", _declared_tcp), ("tcp of the machine", _default_tcp)):
        one, another = settings(base), settings(other)
        notes += [f"{name}{line}" for line in _differences(one, another) if one and another]
    described = [
        {
            condition.name: condition.model_copy(update={"dilation": None}).as_json()
            for condition in summary.resolved.conditions
        }
        for summary in (base, other)
    ]
    for name in described[0]:
        if name in described[1] and described[0][name] != described[1][name]:
            hindrances.append(f"condition {name}: is defined differently")
    different, undecided = _networks(base, other)
    time = of_time or [line for line in (slower_text(base.resolved.dilations),) if line]
    return Sameness([*different, *hindrances], [*notes, *undecided], time)


def _written(*runs: Resolved) -> list[dict[str, JsonValue]]:
    """Return resolved.json of each run; in real time with how the emulator waits where the file is silent."""
    documents = [run.as_json() for run in runs]
    if not any(dilation for run in runs for dilation in run.dilations):
        for document in documents:
            if isinstance(topology := document.get("topology"), dict):
                topology.setdefault("wait", "spin")
    return documents


def _dilations(base: Resolved, other: Resolved) -> list[str]:
    """Return where time was not as slow in both runs: in all that they have in common, or by condition."""
    was, found = (
        {condition.name: dilation_of(run, condition) for condition in run.conditions} for run in (base, other)
    )
    both = {name: (was[name], found[name]) for name in was if name in found}
    lines = {name: _differences(*sides) for name, sides in both.items()}
    if len(set(both.values())) == 1:
        return [f"dilation{line}" for line in next(iter(lines.values()))]
    return [f"condition {name}: dilation{line}" for name, found in lines.items() for line in found]


def _networks(base: Summary, other: Summary) -> tuple[list[str], list[str]]:
    """Return the differences between the networks of two runs, and notes."""
    sides = [attached(summary.folder) for summary in (base, other)]
    lacking = [name for name, side in zip(("base", "other"), sides, strict=True) if not side]
    if lacking:
        return [], [f"network: no fingerprint in {' and '.join(lacking)}, so the networks may differ"]
    if not of_one_kind(*sides):
        return [], [
            "network: the fingerprints are of different conditions or nodes, so they are not compared"
        ]
    found = compare_fingerprints(*(list(side.values()) for side in sides))
    different = [
        f"network, {figure.figure.title}: {' and '.join(sides_text(figure))}"
        for figure in found.figures
        if figure.verdict == "different"
    ]
    named = found.named("undecided")
    return different, [f"network: undecided whether the same in {', '.join(named)}"] if named else []


def _fingerprint(summary: Summary) -> dict[str, str] | None:
    """Return the facts of the machine that have to be the same; None where they are not recorded."""
    before = summary.provenance.before
    return None if before is None else machine_fingerprint(before)


def _declared_tcp(summary: Summary) -> dict[str, JsonValue]:
    return summary.resolved.tcp.as_json()


def _default_tcp(summary: Summary) -> dict[str, JsonValue]:
    before = summary.provenance.before
    sysctls = {} if before is None else before.sysctls
    prefix = "net.ipv4.tcp_"
    return {name.removeprefix(prefix): sysctls[name] for name in sysctls if name.startswith(prefix)}


def _hashes(summary: Summary) -> dict[str, str]:
    """Return the hash of every file that the application's parameters name, by its path."""
    return {file.file: file.sha256 for file in summary.resolved.application.files}


def _without_hashes(part: JsonValue) -> JsonValue:
    """Return a part of resolved.json without hashes of files; their content stays, as `says`."""
    if isinstance(part, list):
        return [_without_hashes(each) for each in part]
    if not isinstance(part, dict):
        return part
    named = "file" in part
    return {key: _without_hashes(value) for key, value in part.items() if not (named and key == "sha256")}


def _without_files(part: JsonValue) -> JsonValue:
    """Return a part of resolved.json without its list of files, which other keys repeat."""
    whole = _without_hashes(part)
    return (
        {key: value for key, value in whole.items() if key != "files"} if isinstance(whole, dict) else whole
    )


def _differences(before: JsonValue, now: JsonValue, where: str = "") -> list[str]:
    """Return the differences of two values of resolved.json, such as `.parameters.clients: 4 and 8`."""
    if before == now:
        return []
    parts = [_parts(side) for side in (before, now)]
    if any(parts):
        return [
            line
            for key in dict.fromkeys((*parts[0], *parts[1]))
            for line in _differences(parts[0].get(key), parts[1].get(key), f"{where}.{key}")
        ]
    return [f"{where}: {_value_text(before)} and {_value_text(now)}"]


def _parts(value: JsonValue) -> dict[str, JsonValue]:
    """Return the parts of a value by name, or by place from 1; empty for a value that is shown as a whole."""
    if isinstance(value, dict):
        return value
    if isinstance(value, list) and any(isinstance(part, dict | list) for part in value):
        return {str(place): part for place, part in enumerate(value, 1)}
    return {}


def _value_text(value: JsonValue) -> str:
    """Return a value as an experiment file writes it."""
    if value is None or value in ({}, []):
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    return ", ".join(map(_value_text, value)) if isinstance(value, list) else str(value)
