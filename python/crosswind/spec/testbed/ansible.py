"""An Ansible inventory: hosts, groups, and the variables that say how to connect.

`ansible_host`, `ansible_port` and `ansible_user` are used, also of groups: those of a host come first, then
those of the groups nearest to it. `crosswind_host` and `crosswind_tenant` say where a machine is, and whose.
Keys and jump hosts are those of `~/.ssh/config`; variables that set them
are refused.

Source: Ansible documentation, "How to build your inventory" (precedence of variables, `all` and `ungrouped`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from crosswind.spec.quantities import shown
from crosswind.spec.testbed.inventory import InventoryMachine, check_count, check_line, checked, listed
from crosswind.spec.text_lines import LineError
from crosswind.text.nearest import did_you_mean

ALL, UNGROUPED = "all", "ungrouped"
# Names of Ansible before 2.0 are still read by it.
_HOST, _PORT, _USER = (
    ("ansible_host", "ansible_ssh_host"),
    ("ansible_port", "ansible_ssh_port"),
    ("ansible_user", "ansible_ssh_user"),
)
_PHYSICAL_HOST, _TENANT = ("crosswind_host",), ("crosswind_tenant",)
_SSH_CONNECTIONS = ("ssh", "smart", "paramiko", "paramiko_ssh", "ansible.builtin.ssh")
# What they are in ~/.ssh/config.
_REFUSED = {
    "ansible_ssh_private_key_file": "IdentityFile",
    "ansible_private_key_file": "IdentityFile",
    "ansible_ssh_common_args": "ProxyJump or another keyword",
    "ansible_ssh_extra_args": "ProxyJump or another keyword",
    "ansible_ssh_args": "ProxyJump or another keyword",
    "ansible_password": "a key, with IdentityFile",
    "ansible_ssh_pass": "a key, with IdentityFile",
}
Variables = Mapping[str, str]


@dataclass
class InventoryGroup:
    """A group: its hosts, the groups in it, and its variables, each with the line of its last one."""

    hosts: dict[str, None] = field(default_factory=dict)
    children: dict[str, int] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)


@dataclass
class Inventory:
    """What an inventory file says; readers of both formats fill it in.

    Attributes:
        hosts: the variables of each host.
        lines: where each host was first named.
        groups: `all` is the root of all others; `ungrouped` has the hosts that are in no other.
    """

    hosts: dict[str, dict[str, str]] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    groups: dict[str, InventoryGroup] = field(
        default_factory=lambda: {ALL: InventoryGroup(), UNGROUPED: InventoryGroup()}
    )

    def add(self, name: str, group: str, variables: Variables, line: int) -> None:
        """Add a host to a group; one that is there already gets more variables."""
        check_line(name, line)
        self.hosts.setdefault(name, {}).update(variables)
        self.lines.setdefault(name, line)
        self.groups.setdefault(group, InventoryGroup()).hosts[name] = None
        check_count(len(self.hosts), line)

    def checked(self) -> Inventory:
        """Return the inventory, in which every group exists and none contains itself.

        Raises: LineError: otherwise, with the line.
        """
        for name, group in self.groups.items():
            for child, line in group.children.items():
                if child not in self.groups:
                    remedy = did_you_mean(child, list(self.groups)) or "write a section of this name"
                    raise LineError(
                        line, f"group {shown(name)} has the child {shown(child)}, which is no group; {remedy}"
                    )
        for name, group in self.groups.items():
            for child, line in group.children.items():
                if name in self._below(child):
                    raise LineError(
                        line, f"group {shown(child)} contains itself by way of {shown(name)}; remove one"
                    )
        return self

    def machines(self, group: str | None) -> list[InventoryMachine]:
        """Return the machines of a group, in the order of the file; of all of them where it is absent.

        Raises: LineError: there is no such group, it has no hosts, or one is not reached by ssh.
        """
        name = ALL if group is None else group
        if name not in self.groups:
            groups = [each for each in self.groups if each not in (ALL, UNGROUPED)]
            remedy = did_you_mean(name, groups) or f"groups are {listed(groups) or 'none'}"
            raise LineError(0, f"has no group {shown(name)}; {remedy}")
        chosen = set(self.hosts) if name == ALL else set(self._hosts_of(name))
        if not chosen:
            raise LineError(0, f"group {shown(name)} has no hosts; add one, or name another group")
        return checked(self._machine(host) for host in self.hosts if host in chosen)

    def _machine(self, host: str) -> InventoryMachine:
        variables: dict[str, str] = {}
        for group in self._groups_of(host):
            variables |= self.groups[group].variables
        variables |= self.hosts[host]
        line = self.lines[host]
        connection = variables.get("ansible_connection", "ssh")
        if connection not in _SSH_CONNECTIONS:
            raise LineError(
                line, f"{host}: ansible_connection is {shown(connection)}; machines are reached by ssh alone"
            )
        for variable, keyword in _REFUSED.items():
            if variable in variables:
                raise LineError(
                    line,
                    f"{host}: {variable} is not used; write {keyword} for it in ~/.ssh/config, and remove it",
                )
        host_name, port, user = (_first(variables, names, host, line) for names in (_HOST, _PORT, _USER))
        physical, tenant = (_first(variables, names, host, line) for names in (_PHYSICAL_HOST, _TENANT))
        return InventoryMachine(
            host,
            host_name,
            None if port is None else _port(host, port, line),
            user,
            host=physical,
            tenant=tenant,
        )

    def _groups_of(self, host: str) -> list[str]:
        """Return the groups of a host: the farthest first; by name among groups that are equally far."""
        parents: dict[str, list[str]] = {}
        for name, group in self.groups.items():
            for child in group.children:
                parents.setdefault(child, []).append(name)
        waiting = [name for name, group in self.groups.items() if host in group.hosts]
        found = {ALL, *waiting}
        while waiting:
            more = [parent for parent in parents.get(waiting.pop(), ()) if parent not in found]
            found |= set(more)
            waiting += more
        depths = {name: _depth(name, parents) for name in found}
        return sorted(found, key=lambda name: (depths[name], name))

    def _below(self, name: str) -> set[str]:
        """Return a group and all groups in it."""
        found, waiting = {name}, [name]
        while waiting:
            more = [child for child in self.groups[waiting.pop()].children if child not in found]
            found |= set(more)
            waiting += more
        return found

    def _hosts_of(self, name: str) -> Iterator[str]:
        if name == UNGROUPED:
            grouped = {
                host
                for each, group in self.groups.items()
                if each not in (ALL, UNGROUPED)
                for host in group.hosts
            }
            yield from (host for host in self.hosts if host not in grouped)
            return
        for group in self._below(name):
            yield from self.groups[group].hosts


def _depth(group: str, parents: Mapping[str, Sequence[str]]) -> int:
    """Return the length of the longest way from `all` to a group."""
    depth, level = 0, {group}
    while level - {ALL}:
        depth, level = depth + 1, {parent for name in level - {ALL} for parent in parents.get(name, ())}
    return depth


def _first(variables: Variables, names: Sequence[str], host: str, line: int) -> str | None:
    for name in names:
        if name in variables:
            value = variables[name]
            if "{{" in value:
                raise LineError(line, f"{host}: {name} is a template, {shown(value)}; write its value")
            if not value or value.startswith("-") or any(character.isspace() for character in value):
                raise LineError(line, f"{host}: {name} is {shown(value)}; write one word")
            return value
    return None


def _port(host: str, text: str, line: int) -> int:
    if not (text.isdecimal() and text.isascii() and len(text) < 6 and 0 < int(text) < 65536):
        raise LineError(line, f"{host}: the port {shown(text)} is not a number from 1 to 65535")
    return int(text)
