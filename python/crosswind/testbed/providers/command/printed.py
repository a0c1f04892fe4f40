"""What the user's commands print, read: machines, and what exists."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from crosswind.spec.resolved import ResolvedMachine
from crosswind.spec.testbed.inventory import listed
from crosswind.spec.testbed.machine_name import MachineName
from crosswind.testbed.errors import NotHere
from crosswind.testbed.providers.base import Found

# What a list of a thousand machines has, tenfold.
PRINTED_MAX = 4 << 20
_Tag = Annotated[str, Field(pattern=r"^crosswind-[0-9a-f]{8}$")]


def _check_ip(text: str) -> str:
    ipaddress.ip_address(text)
    return text


def _check_word(text: str) -> str:
    if not text or text.startswith("-") or any(each.isspace() or not each.isprintable() for each in text):
        raise ValueError("is no word that ssh takes")
    return text


class PrintedMachine(BaseModel):
    """A machine as `up` prints it.

    Attributes:
        address: that ssh connects to; an address, or a name.
        tunnel_address: where packets of the other machines arrive; None: `address`.
        key: file with the private key; None: the user's own keys.
        host_key: the machine's own key, as in a `.pub` file; None: the first one that it shows.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    name: str
    address: MachineName
    tunnel_address: Annotated[str, AfterValidator(_check_ip)] | None = None
    user: Annotated[str, AfterValidator(_check_word)] | None = None
    port: Annotated[int, Field(ge=1, le=65535)] | None = None
    key: str | None = None
    host_key: Annotated[str, Field(pattern=r"^[a-z0-9@.-]+ [A-Za-z0-9+/=]+( [^\n]*)?$")] | None = None
    cores: Annotated[int, Field(ge=1, le=4096)] | None = None
    labels: dict[str, str] = {}


_Value = TypeVar("_Value")
_MACHINES: TypeAdapter[list[PrintedMachine]] = TypeAdapter(list[PrintedMachine])
_FOUND: TypeAdapter[dict[_Tag, list[str]]] = TypeAdapter(dict[_Tag, list[str]])


def read_machines(
    printed: str, ordered: Sequence[ResolvedMachine], known_hosts: Path
) -> list[ResolvedMachine]:
    """Return the machines in the order in which they were ordered; their own keys go into `known_hosts`.

    Raises: NotHere: it is no list of these machines.
    """
    found = {machine.name: machine for machine in _read(_MACHINES, "up", printed)}
    names = [machine.name for machine in ordered]
    if sorted(found) != sorted(names):
        raise NotHere(
            f"testbed.command.up: it printed {listed(list(found)) or 'no machine'}, and {listed(names)} are "
            "needed; print each name in CROSSWIND_MACHINES once"
        )
    machines = [found[name] for name in names]
    known_hosts.write_text("".join(_known(machine) for machine in machines if machine.host_key is not None))
    return [_resolved(machine, known_hosts) for machine in machines]


def read_found(printed: str) -> list[Found]:
    """Return what exists.

    Raises: NotHere: it is no mapping from tags to names.
    """
    tags = _read(_FOUND, "list", printed)
    return [Found(tag, "machine", name) for tag, names in tags.items() for name in names]


def _read(adapter: TypeAdapter[_Value], command: str, printed: str) -> _Value:
    try:
        return adapter.validate_json(printed)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"])
        place = f" at {where.removeprefix('.')}" if where else ""
        raise NotHere(
            f"testbed.command.{command}: what it printed on its standard output is not as it should be"
            f"{place}: {first['msg'][:1].lower()}{first['msg'][1:]}; docs/guides/providers.md has an example"
        ) from None


def _known(machine: PrintedMachine) -> str:
    at = machine.address if machine.port in (None, 22) else f"[{machine.address}]:{machine.port}"
    return f"{at} {machine.host_key}\n"


def _resolved(machine: PrintedMachine, known_hosts: Path) -> ResolvedMachine:
    return ResolvedMachine(
        name=machine.name,
        address=machine.tunnel_address,
        cores=machine.cores,
        host_name=machine.address,
        ssh_port=machine.port,
        user=machine.user,
        identity=machine.key,
        known_hosts=str(known_hosts),
        labels=machine.labels,
    )
