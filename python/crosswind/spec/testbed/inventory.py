"""What every inventory says of a machine, whatever its format."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from crosswind.spec.quantities import QuantityError, shown
from crosswind.spec.testbed.machine_name import check_machine_name
from crosswind.spec.text_lines import LineError

# Far more than one experiment can use; refuses typing errors in ranges, and files that are something else.
MACHINES_MAX = 1000
# Inventories are small; a larger file is something else.
INVENTORY_BYTES_MAX = 16 << 20


@dataclass(frozen=True)
class InventoryMachine:
    """A machine of an inventory.

    Attributes:
        name: as ssh knows it, unless the next three differ.
        host_name, port, user: what ssh connects to, in place of `~/.ssh/config`.
        cores: that an experiment may use.
        host, tenant: which physical host it is on, and whose it is.
    """

    name: str
    host_name: str | None = None
    port: int | None = None
    user: str | None = None
    cores: int | None = None
    host: str | None = None
    tenant: str | None = None


def checked(machines: Iterable[InventoryMachine], line: int = 0) -> list[InventoryMachine]:
    """Return the machines of an inventory, whose names are valid and different.

    Args:
        line: of the error, where they are all from one.

    Raises: LineError: the first that is not.
    """
    found: dict[str, InventoryMachine] = {}
    for machine in machines:
        for text in (machine.name, machine.host_name):
            if text is not None:
                check_line(text, line)
        if machine.name in found:
            raise LineError(line, f"has {shown(machine.name)} twice; a machine is listed once")
        found[machine.name] = machine
        check_count(len(found), line)
    return list(found.values())


def check_line(name: str, line: int) -> None:
    """Raise LineError where the text on this line is no name of a machine."""
    try:
        check_machine_name(name)
    except QuantityError as error:
        raise LineError(line, str(error)) from None


def check_count(count: int, line: int) -> None:
    """Raise LineError where an inventory has too many machines."""
    if count > MACHINES_MAX:
        raise LineError(line, f"has more than {MACHINES_MAX} machines; name a part of them")


def check_size(content: bytes) -> None:
    """Raise LineError where a file is too large to be an inventory."""
    if len(content) > INVENTORY_BYTES_MAX:
        raise LineError(0, f"has {len(content)} bytes; an inventory has at most {INVENTORY_BYTES_MAX}")


def listed(names: Sequence[str]) -> str:
    """Return the first names of a list as text, for an error."""
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
