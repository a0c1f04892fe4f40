"""Read an Ansible inventory in the INI format: sections of hosts, of children and of variables.

Source: Ansible documentation, `ansible.builtin.ini` inventory plugin.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from crosswind.spec.quantities import shown
from crosswind.spec.testbed.ansible import UNGROUPED, Inventory, InventoryGroup
from crosswind.spec.testbed.ansible_range import names_of
from crosswind.spec.testbed.inventory import check_size
from crosswind.spec.text_lines import LineError, numbered

_SECTION = re.compile(r"\[(?P<group>[^:\]\s]+)(?::(?P<what>\w+))?\]\s*(?:#.*)?")
_PORT = re.compile(r"(?P<name>[^\[\]:]*(?:\[[^\]]*\][^\[\]:]*)*):(?P<port>[0-9]+)")
_VARIABLE = re.compile(r"(?P<name>[A-Za-z_][A-Za-z0-9_]*)\s*=\s*(?P<value>.*)")


def read_ini(content: bytes) -> Inventory:
    """Return the inventory of an INI file.

    Raises: LineError: the first error, with its line.
    """
    check_size(content)
    inventory = Inventory()
    group, what = UNGROUPED, "hosts"
    for number, line in numbered(content):
        text = line.strip()
        if not text or text[0] in "#;":
            continue
        if text.startswith("["):
            group, what = _section(text, number)
            inventory.groups.setdefault(group, InventoryGroup())
        elif what == "hosts":
            _add_hosts(inventory, group, text, number)
        elif what == "children":
            inventory.groups[group].children[_words(text, number)[0]] = number
        else:
            name, value = _variable(text, number)
            inventory.groups[group].variables[name] = value
    if not inventory.hosts:
        raise LineError(0, "has no hosts; write the name of one in each line")
    return inventory.checked()


def _section(text: str, line: int) -> tuple[str, str]:
    match = _SECTION.fullmatch(text)
    if match is None:
        raise LineError(
            line, f"{shown(text)} is not a section; write [group], [group:children] or [group:vars]"
        )
    what = match["what"] or "hosts"
    if what not in ("hosts", "children", "vars"):
        raise LineError(line, f"{shown(text)}: {shown(what)} is neither hosts, children nor vars")
    if match["group"] == UNGROUPED and what == "children":
        raise LineError(line, f"{shown(text)}: {UNGROUPED} has no children; name another group")
    return match["group"], what


def _add_hosts(inventory: Inventory, group: str, text: str, line: int) -> None:
    pattern, *rest = _words(text, line)
    variables = dict(_variable(word, line) for word in rest)
    # An IPv6 address has more than one colon, and no port.
    if (with_port := _PORT.fullmatch(pattern)) is not None:
        pattern = with_port["name"]
        variables.setdefault("ansible_port", with_port["port"])
    for name in names_of(pattern, line):
        inventory.add(name, group, variables, line)


def _words(text: str, line: int) -> Sequence[str]:
    try:
        words = shlex.split(text, comments=True)
    except ValueError as error:
        raise LineError(line, f"has quotes that do not end ({error}); close them") from None
    if not words:
        raise LineError(line, "has no name; write one, or remove the line")
    return words


def _variable(text: str, line: int) -> tuple[str, str]:
    match = _VARIABLE.fullmatch(text)
    if match is None:
        raise LineError(line, f"{shown(text)} is not a variable; write name=value")
    value = match["value"].strip()
    is_quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "'\""
    return match["name"], value[1:-1] if is_quoted else value
