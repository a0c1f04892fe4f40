"""Limits of a service: `mem_limit`, `cpus` and `deploy.resources.limits`, which become limits of its node.

Source: the Compose Specification, sections "Specifying byte values", mem_limit and cpus; Compose Deploy
Specification, section resources.
"""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import Field, PlainValidator

from crosswind.spec.base import SpecModel
from crosswind.spec.node_limits import NodeLimits, check_cpus, check_memory
from crosswind.spec.quantities import QuantityError, shown

_BYTES = re.compile(r"(?P<number>[0-9]{1,15}(?:\.[0-9]{1,6})?) ?(?P<unit>b|kb?|mb?|gb?)?", re.IGNORECASE)
# As in compose: k is 1024 bytes.
_UNIT_BYTES = {"b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


def read_bytes(value: object) -> int:
    """Return the bytes of a byte value of a compose file, such as `512m`; a plain number is bytes.

    Raises: QuantityError: it is not a byte value, or too small for a node.
    """
    match = None if isinstance(value, bool) else _BYTES.fullmatch(str(value))
    if match is None:
        raise QuantityError(f"{shown(value)} is not a byte value; write such as 512m or 2g")
    return check_memory(int(float(match["number"]) * _UNIT_BYTES[(match["unit"] or "b")[0].lower()]))


def read_cpus(value: object) -> float:
    """Return a number of CPUs from a number, or a text such as `'0.50'`.

    Raises: QuantityError: it is not a number of CPUs.
    """
    text = "" if isinstance(value, bool) else str(value)
    if not re.fullmatch(r"[0-9]{1,6}(?:\.[0-9]{1,9})?", text):
        raise QuantityError(f"{shown(value)} is not a number of CPUs; write such as 0.5")
    return check_cpus(float(text))


ByteValue = Annotated[int, PlainValidator(read_bytes)]
Cpus = Annotated[float, PlainValidator(read_cpus)]


class DeployedLimits(SpecModel):
    """`deploy.resources.limits`."""

    memory_bytes: ByteValue | None = Field(None, alias="memory")
    cpus: Cpus | None = None


class Resources(SpecModel):
    """`deploy.resources`."""

    limits: DeployedLimits | None = None


class Deploy(SpecModel):
    """`deploy`, of which only limits apply to nodes."""

    resources: Resources | None = None

    @property
    def limits(self) -> NodeLimits:
        """Its limits."""
        limits = None if self.resources is None else self.resources.limits
        return NodeLimits() if limits is None else NodeLimits(limits.memory_bytes, limits.cpus)
