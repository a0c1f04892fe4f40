"""Merge a service into another one, for `extends` and `include`. Pure functions.

Source: the Compose Specification, "Merge and override": mappings are merged and lists appended; commands and
tests of healthchecks are replaced; of volumes, secrets and configs, one of the same target is replaced.
"""

from __future__ import annotations

from collections.abc import Callable

from crosswind.app.compose.located import Located

# Keys whose value is replaced as a whole.
_REPLACED = {"command", "entrypoint", "test"}
# Keys that may be a list of NAME=VALUE or a mapping.
_PAIRS = {"environment", "args", "labels", "annotations", "sysctls", "extra_hosts"}
# Keys that may be a list of names or a mapping of them.
_NAMES = {"depends_on", "networks"}


def as_mapping(item: Located, *, names: bool = False) -> Located:
    """Return the mapping that a list stands for: NAME=VALUE, or names alone."""
    if not isinstance(item.value, list):
        return item
    found: dict[str, Located] = {}
    for entry in item.value:
        if not isinstance(entry.value, str | int) or isinstance(entry.value, bool):
            return item  # Its model refuses it with a message.
        name, equals, text = str(entry.value).partition("=")
        found[str(entry.value) if names else name] = entry.with_value(
            {} if names else (text if equals else None)
        )
    return item.with_value(found)


def merged(base: Located, over: Located, key: str = "") -> Located:
    """Return `base` with the values of `over` added, or in place of its own."""
    if key in _REPLACED:
        return over
    if key in _PAIRS or key in _NAMES:
        base, over = (as_mapping(each, names=key in _NAMES) for each in (base, over))
    if isinstance(base.value, dict) and isinstance(over.value, dict):
        both = {
            name: merged(base.value[name], item, name) if name in base.value else item
            for name, item in over.value.items()
        }
        return over.with_value({**base.value, **both})
    if isinstance(base.value, list) and isinstance(over.value, list):
        return over.with_value(_appended(base.value, over.value, _UNIQUE.get(key)))
    return over


def _appended(
    base: list[Located], over: list[Located], same: Callable[[Located], str] | None
) -> list[Located]:
    if same is None:
        return [*base, *over]
    targets = {same(item) for item in over}
    return [*(item for item in base if same(item) not in targets), *over]


def _volume_target(item: Located) -> str:
    if isinstance(item.value, dict):
        return str(item.items["target"].value) if "target" in item.value else ""
    parts = str(item.value).split(":")
    return parts[1] if len(parts) > 1 else parts[0]


def _file_target(item: Located) -> str:
    if isinstance(item.value, dict):
        named = item.items.get("target") or item.items.get("source")
        return "" if named is None else str(named.value)
    return str(item.value)


_UNIQUE: dict[str, Callable[[Located], str]] = {
    "volumes": _volume_target,
    "secrets": _file_target,
    "configs": _file_target,
    "ports": lambda item: str(item.plain()),
    "expose": lambda item: str(item.value),
}
