"""The testbed of an experiment: this machine, or machines that ssh reaches."""

from __future__ import annotations

import ipaddress
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, PlainValidator, Tag

from crosswind.spec.base import SpecModel
from crosswind.spec.quantities import QuantityError, shown
from crosswind.spec.resolved import ResolvedMachine
from crosswind.spec.testbed.carried import Carried, InterfaceName
from crosswind.spec.testbed.inventories import (
    INVENTORIES,
    AnsibleMachines,
    Inventoried,
    KubernetesMachines,
    SlurmMachines,
    TerraformMachines,
)
from crosswind.spec.testbed.inventory import MACHINES_MAX, InventoryMachine
from crosswind.spec.testbed.machine_name import MachineName
from crosswind.spec.testbed.placed import PlacedMachines
from crosswind.spec.testbed.provided import Provided, provided, provider_names
from crosswind.text.nearest import did_you_mean


def _check_address(text: str) -> str:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        raise QuantityError(
            f"{shown(text)} is not an IP address; write one that the other machines reach, such as 10.0.0.7"
        ) from None
    return text


Label = Annotated[str, Field(min_length=1, max_length=80)]


def _labels(host: str | None, tenant: str | None) -> dict[str, str]:
    found = {"host": host, "tenant": tenant}
    return {name: value for name, value in found.items() if value is not None}


class Machine(SpecModel):
    """A machine, and where its packets arrive from the other ones."""

    name: MachineName = Field(
        description="As ssh knows it: a host name, an address, or a Host of ~/.ssh/config."
    )
    address: Annotated[str, AfterValidator(_check_address)] | None = Field(
        None,
        description="IP address at which packets of the other machines arrive; what ssh connects to when "
        "absent.",
    )
    port: Annotated[int, Field(ge=1, le=65535)] | None = Field(
        None, description="UDP port for these packets; one that is free when absent."
    )
    interface: InterfaceName | None = Field(
        None, description="For `network: native`; that of the testbed when absent."
    )
    cores: Annotated[int, Field(ge=1, le=4096)] | None = Field(
        None, description="That the experiment may use; as many as the other machines when absent."
    )

    host: Label | None = Field(
        None, description="The physical host it is on; machines with the same word share one."
    )
    tenant: Label | None = Field(None, description="Whose it is, where a cloud keeps tenants apart.")

    def resolved(self) -> ResolvedMachine:
        """Return it as in a resolved experiment."""
        return ResolvedMachine(
            name=self.name,
            address=self.address,
            port=self.port,
            interface=self.interface,
            cores=self.cores,
            labels=_labels(self.host, self.tenant),
        )


MachineEntry = Annotated[
    Annotated[MachineName, Tag("a name")] | Annotated[Machine, Tag("a machine")],
    Discriminator(lambda raw: "a machine" if isinstance(raw, dict | Machine) else "a name"),
]


def _list_or_inventory(raw: object) -> object:
    """Refuse what is neither a list nor an inventory, in words that name both."""
    if isinstance(raw, list | Inventoried) or (isinstance(raw, dict) and set(raw) & set(INVENTORIES)):
        return raw
    raise QuantityError(
        f"{shown(raw)} is neither a list of machines nor an inventory; write [m0, m1], or one of "
        f"{', '.join(f'{key}: ...' for key in INVENTORIES)}"
    )


def _form_of(raw: object) -> str:
    if isinstance(raw, dict):
        return _of(next(key for key in INVENTORIES if key in raw))
    return "a list" if isinstance(raw, list) else _of(next(key for key in INVENTORIES if hasattr(raw, key)))


def _of(key: str) -> str:
    """Return the tag of an inventory. It is no key of a file, because errors find their places by keys."""
    return f"of {key}"


_Machines = Annotated[list[MachineEntry], Field(min_length=1, max_length=MACHINES_MAX)]
Hosts = Annotated[
    Annotated[_Machines, Tag("a list")]
    | Annotated[AnsibleMachines, Tag(_of("ansible"))]
    | Annotated[SlurmMachines, Tag(_of("slurm"))]
    | Annotated[TerraformMachines, Tag(_of("terraform"))]
    | Annotated[KubernetesMachines, Tag(_of("kubernetes"))],
    Discriminator(_form_of),
    BeforeValidator(_list_or_inventory, json_schema_input_type=_Machines | Inventoried),
]


class Ssh(PlacedMachines):
    """Machines that ssh reaches, and which of them has which part of the network."""

    hosts: Hosts = Field(description="The machines: names, or an inventory that lists them.")

    def machines(self) -> list[ResolvedMachine]:
        """Return the machines.

        Raises: LineError: an inventory has none, or one that ssh does not reach.
        """
        if not isinstance(self.hosts, list):
            return [_resolved(machine) for machine in self.hosts.machines()]
        return [
            ResolvedMachine(name=entry) if isinstance(entry, str) else entry.resolved()
            for entry in self.hosts
        ]


class Testbed(Carried):
    """Where an experiment runs, if not on this machine: machines that exist, or that a provider makes."""

    __test__ = False  # The name begins with "Test"; pytest must not collect it.

    ssh: Ssh


def _this_or_others(raw: object) -> object:
    if raw == LOCAL or isinstance(raw, Testbed | Provided):
        return raw
    known = [SSH, *provider_names()]
    if not isinstance(raw, dict):
        raise QuantityError(f"{shown(raw)} is not a testbed; write local, or ssh: {{hosts: [m0, m1]}}")
    if not set(raw) & set(known):
        meant = next((did_you_mean(str(key), known) for key in raw), "")
        remedy = meant or f"write one of {', '.join(known)}"
        raise QuantityError(f"has neither ssh nor the name of a provider; {remedy}")
    return raw


def _kind_of(raw: object) -> str:
    if isinstance(raw, str):
        return "this machine"
    written = SSH in raw if isinstance(raw, dict) else isinstance(raw, Testbed)
    return "machines that exist" if written else "machines of a provider"


SSH = "ssh"
LOCAL: Literal["local"] = "local"
TestbedEntry = Annotated[
    Annotated[Literal["local"], Tag("this machine")]
    | Annotated[Testbed, Tag("machines that exist")]
    | Annotated[Provided, PlainValidator(provided), Tag("machines of a provider")],
    Discriminator(_kind_of),
    BeforeValidator(_this_or_others, json_schema_input_type=Literal["local"] | Testbed),
]


def _resolved(machine: InventoryMachine) -> ResolvedMachine:
    return ResolvedMachine(
        name=machine.name,
        cores=machine.cores,
        host_name=machine.host_name,
        ssh_port=machine.port,
        user=machine.user,
        labels=_labels(machine.host, machine.tenant),
    )
