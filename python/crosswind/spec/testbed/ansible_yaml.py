"""Read an Ansible inventory in the YAML format: groups with `hosts`, `children` and `vars`.

Source: Ansible documentation, `ansible.builtin.yaml` inventory plugin.
"""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import JsonValue

from crosswind.spec.document import Document, Path, parse_document
from crosswind.spec.problems import SpecErrors
from crosswind.spec.quantities import shown
from crosswind.spec.testbed.ansible import Inventory, InventoryGroup
from crosswind.spec.testbed.ansible_range import names_of
from crosswind.spec.text_lines import LineError

_KEYS = ("hosts", "children", "vars")


def read_yaml(content: bytes) -> Inventory:
    """Return the inventory of a YAML file.

    Raises: LineError: the first error, with its line.
    """
    try:
        document = parse_document(content, "inventory")
    except SpecErrors as errors:
        problem = errors.problems[0]
        raise LineError(problem.line, problem.message) from None
    reader = _Reader(document)
    for path, group in reader.entries((), document.data):
        reader.read_group(path, group)
    if not reader.inventory.hosts:
        raise LineError(0, "has no hosts; write them below a group's `hosts`")
    return reader.inventory.checked()


class _Reader:
    def __init__(self, document: Document) -> None:
        self.document = document
        self.inventory = Inventory()

    def read_group(self, path: Path, data: JsonValue) -> None:
        """Read a group and those in it. One that is written in several places is all of them together."""
        name = str(path[-1])
        group = self.inventory.groups.setdefault(name, InventoryGroup())
        for inner, value in self.entries(path, data):
            key = inner[-1]
            if key == "hosts":
                self._read_hosts(name, inner, value)
            elif key == "vars":
                group.variables |= self._variables(inner, value)
            elif key == "children":
                for child, below in self.entries(inner, value):
                    group.children[str(child[-1])] = self._line(child)
                    self.read_group(child, below)
            else:
                raise LineError(
                    self._line(inner),
                    f"group {shown(name)} has the key {shown(key)}; keys are {', '.join(_KEYS)}",
                )

    def _read_hosts(self, group: str, path: Path, data: JsonValue) -> None:
        for inner, variables in self.entries(path, data):
            line = self._line(inner)
            for name in names_of(str(inner[-1]), line):
                self.inventory.add(name, group, self._variables(inner, variables), line)

    def _variables(self, path: Path, data: JsonValue) -> dict[str, str]:
        """Return the variables that are one value; lists and mappings are for Ansible alone."""
        return {
            str(inner[-1]): str(value)
            for inner, value in self.entries(path, data)
            if isinstance(value, str | int | float)
        }

    def entries(self, path: Path, data: JsonValue) -> Iterator[tuple[Path, JsonValue]]:
        """Yield what a mapping has, with the path of each; nothing where the value is left empty."""
        if data is None:
            return
        if not isinstance(data, dict):
            what = f"{shown(path[-1])} is {shown(data)}" if path else f"is {shown(data)}"
            raise LineError(
                self._line(path), f"{what}, where a mapping is expected; write a colon after each name"
            )
        for key, value in data.items():
            yield (*path, key), value

    def _line(self, path: Path) -> int:
        place = self.document.keys if path in self.document.keys else self.document.values
        return place[path][0]
