"""Read the nodes of a Kubernetes cluster, as `kubectl get nodes -o json` prints them.

ssh connects to a node's internal address, or to its external one where it has no other. Cores are those that
the cluster gives to pods.

Source: Kubernetes API reference, core/v1 Node (`addresses`, `allocatable` and `conditions` of `status`).
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from crosswind.spec.quantities import shown
from crosswind.spec.testbed.inventory import InventoryMachine, check_size, checked
from crosswind.spec.testbed.json_text import place_of, read_json
from crosswind.spec.text_lines import LineError

_LIST = ("List", "NodeList")


class _Part(BaseModel):
    """A part of a node, with the few attributes of it that matter here."""

    model_config = ConfigDict(strict=True, frozen=True)


class _Address(_Part):
    type: str
    address: str


class _Condition(_Part):
    type: str
    status: str


class _Status(_Part):
    addresses: list[_Address] = Field(default_factory=list)
    conditions: list[_Condition] = Field(default_factory=list)
    allocatable: dict[str, str] = Field(default_factory=dict)


class _Metadata(_Part):
    name: str


class _Node(_Part):
    kind: str = "Node"
    metadata: _Metadata
    status: _Status = _Status()


class _Nodes(_Part):
    items: list[_Node]


def read_nodes(content: bytes) -> list[InventoryMachine]:
    """Return the nodes of a cluster that are ready.

    Raises: LineError: the first error, with its place.
    """
    check_size(content)
    data = read_json(content)
    kind = data.get("kind") if isinstance(data, dict) else None
    if kind not in (*_LIST, "Node"):
        found = "has no kind" if kind is None else f"has the kind {shown(kind)}"
        raise LineError(0, f"{found}, where nodes are expected; write it with `kubectl get nodes -o json`")
    try:
        nodes = [_Node.model_validate(data)] if kind == "Node" else _Nodes.model_validate(data).items
    except ValidationError as error:
        raise LineError(0, place_of(error, "write it with `kubectl get nodes -o json`")) from None
    if not nodes:
        raise LineError(0, "has no nodes; select another cluster with `kubectl config use-context`")
    return checked(_machine(node) for node in nodes)


def _machine(node: _Node) -> InventoryMachine:
    name, status = node.metadata.name, node.status
    if node.kind != "Node":
        raise LineError(0, f"has a {node.kind} {shown(name)}; write it with `kubectl get nodes -o json`")
    if any(condition.type == "Ready" and condition.status != "True" for condition in status.conditions):
        raise LineError(0, f"node {shown(name)} is not ready; wait until it is, or remove it from the file")
    by_type = {address.type: address.address for address in status.addresses}
    address = by_type.get("InternalIP") or by_type.get("ExternalIP")
    return InventoryMachine(name, host_name=address, cores=_cores(name, status.allocatable.get("cpu")))


def _cores(name: str, text: str | None) -> int | None:
    """Return whole cores of a quantity such as `8` or `7910m`."""
    if text is None:
        return None
    number, per_core = (text[:-1], 1000) if text.endswith("m") else (text, 1)
    if not number.isdecimal() or not number.isascii() or len(number) > 9:
        raise LineError(
            0, f"node {shown(name)}: cpu {shown(text)} is not a number of cores, such as 8 or 7910m"
        )
    return max(1, int(number) // per_core)
