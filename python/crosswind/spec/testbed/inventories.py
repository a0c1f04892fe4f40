"""Machines that an inventory lists: the key of a file, and the reader of its format."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import AfterValidator, Field, JsonValue

from crosswind.spec.base import SpecModel
from crosswind.spec.named_file import NamedFile, named_file
from crosswind.spec.testbed.ansible import Inventory
from crosswind.spec.testbed.ansible_file import read_ansible
from crosswind.spec.testbed.inventory import InventoryMachine
from crosswind.spec.testbed.kubernetes import read_nodes
from crosswind.spec.testbed.slurm import read_node_list
from crosswind.spec.testbed.terraform import machines_of, read_outputs


def _check_node_list(text: str) -> str:
    read_node_list(text)
    return text


class AnsibleMachines(SpecModel):
    """The machines of an Ansible inventory."""

    ansible: Annotated[NamedFile[Inventory], *named_file(read_ansible, "hosts.ini")] = Field(
        description="An inventory in the INI or the YAML format."
    )
    group: str | None = Field(None, description="Of the inventory; all machines when absent.")

    def machines(self) -> list[InventoryMachine]:
        """Return the machines of the group.

        Raises: LineError: it has none, or one that ssh does not reach.
        """
        return [] if self.ansible.says is None else self.ansible.says.machines(self.group)


class SlurmMachines(SpecModel):
    """The machines of a Slurm job."""

    slurm: Annotated[str, AfterValidator(_check_node_list)] = Field(
        description="A node list as in SLURM_JOB_NODELIST, such as `node[01-04,07]`."
    )

    def machines(self) -> list[InventoryMachine]:
        """Return the machines of the list."""
        return [InventoryMachine(name) for name in read_node_list(self.slurm)]


class TerraformMachines(SpecModel):
    """The machines of an output of Terraform or OpenTofu."""

    terraform: Annotated[NamedFile[dict[str, JsonValue]], *named_file(read_outputs, "terraform.json")] = (
        Field(description="The file of `terraform output -json`.")
    )
    output: str | None = Field(
        None, description="Its output with the machines; may be absent where there is one."
    )

    def machines(self) -> list[InventoryMachine]:
        """Return the machines of the output.

        Raises: LineError: it has none.
        """
        return [] if self.terraform.says is None else machines_of(self.terraform.says, self.output)


class KubernetesMachines(SpecModel):
    """The nodes of a Kubernetes cluster."""

    kubernetes: Annotated[NamedFile[list[InventoryMachine]], *named_file(read_nodes, "nodes.json")] = Field(
        description="The file of `kubectl get nodes -o json`."
    )

    def machines(self) -> list[InventoryMachine]:
        """Return the nodes."""
        return self.kubernetes.says or []


Inventoried = AnsibleMachines | SlurmMachines | TerraformMachines | KubernetesMachines
# By the key that only one of them has.
INVENTORIES: Mapping[str, type[Inventoried]] = {
    "ansible": AnsibleMachines,
    "slurm": SlurmMachines,
    "terraform": TerraformMachines,
    "kubernetes": KubernetesMachines,
}
