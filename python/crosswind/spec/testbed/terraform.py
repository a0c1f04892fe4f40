"""Read machines from the outputs of Terraform or OpenTofu, as `terraform output -json` prints them.

An output is a host name or an address, a list of them, or a map from names to them. An object in their place
has `name`, and may have `address`, `cores`, `host` and `tenant`.

Source: Terraform CLI documentation, `terraform output` (`sensitive`, `type`, `value` of each output).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from crosswind.spec.quantities import shown
from crosswind.spec.testbed.inventory import InventoryMachine, check_size, checked, listed
from crosswind.spec.testbed.json_text import place_of, read_json
from crosswind.spec.text_lines import LineError
from crosswind.text.nearest import did_you_mean

_REMEDY = "write a list of addresses, or a map from names to addresses"


class _Output(BaseModel):
    """One output; `type` and `sensitive` do not matter here."""

    model_config = ConfigDict(strict=True, frozen=True)

    value: JsonValue


class _Machine(BaseModel):
    """A machine that is written as an object; other attributes are Terraform's own."""

    model_config = ConfigDict(strict=True, frozen=True)

    name: str
    address: str | None = None
    cores: int | None = Field(None, ge=1)
    host: str | None = Field(None, min_length=1)
    tenant: str | None = Field(None, min_length=1)


def read_outputs(content: bytes) -> dict[str, JsonValue]:
    """Return the value of each output.

    Raises: LineError: the first error, with its line.
    """
    check_size(content)
    data = read_json(content)
    if not isinstance(data, dict) or not data:
        raise LineError(0, "has no outputs; write it with `terraform output -json`")
    found = {}
    for name, output in data.items():
        try:
            found[name] = _Output.model_validate(output).value
        except ValidationError:
            raise LineError(
                0, f"output {shown(name)} has no value; write it with `terraform output -json`"
            ) from None
    return found


def machines_of(outputs: Mapping[str, JsonValue], name: str | None) -> list[InventoryMachine]:
    """Return the machines of one output.

    Args:
        name: of the output; may be absent where there is only one.

    Raises: LineError: there is no such output, or it has something else.
    """
    if name is None and len(outputs) > 1:
        raise LineError(
            0, f"has the outputs {listed(list(outputs))}; name one, such as output: {next(iter(outputs))}"
        )
    chosen = next(iter(outputs)) if name is None else name
    if chosen not in outputs:
        remedy = did_you_mean(chosen, list(outputs)) or f"outputs are {listed(list(outputs))}"
        raise LineError(0, f"has no output {shown(chosen)}; {remedy}")
    machines = checked(_machines(chosen, outputs[chosen]))
    if not machines:
        raise LineError(0, f"output {shown(chosen)} has no machines; {_REMEDY}")
    return machines


def _machines(name: str, value: JsonValue) -> Iterator[InventoryMachine]:
    if isinstance(value, dict) and not _is_machine(value):
        for key, inner in value.items():
            if not isinstance(inner, str):
                raise LineError(0, f"output {shown(name)}: {shown(key)} is not an address; {_REMEDY}")
            yield InventoryMachine(key, host_name=inner)
        return
    for item in value if isinstance(value, list) else [value]:
        yield _machine(name, item)


def _machine(name: str, value: JsonValue) -> InventoryMachine:
    if isinstance(value, str):
        return InventoryMachine(value)
    if not isinstance(value, dict):
        raise LineError(
            0, f"output {shown(name)}: {shown(value)} is not a host name or an address; {_REMEDY}"
        )
    try:
        machine = _Machine.model_validate(value)
    except ValidationError as error:
        raise LineError(0, f"output {shown(name)}: {place_of(error, _REMEDY)}") from None
    return InventoryMachine(
        machine.name,
        host_name=machine.address,
        cores=machine.cores,
        host=machine.host,
        tenant=machine.tenant,
    )


def _is_machine(value: Mapping[str, JsonValue]) -> bool:
    """Return whether an object is one machine; a map of names to addresses may have a machine called name."""
    return "name" in value and set(value) & {"address", "cores", "host", "tenant"} != set()
