"""What carries packets between the machines of a testbed: UDP, or the Ethernet that joins them."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from crosswind.spec.base import SpecModel
from crosswind.spec.quantities import QuantityError, shown

NATIVE: Literal["native"] = "native"
# As the kernel has it (dev_valid_name).
_NAME = re.compile(r"(?!\.{1,2}$)[^\s/:]{1,15}")


def check_interface(name: str) -> str:
    """Return the name of a network interface.

    Raises: QuantityError: no interface can have it.
    """
    if _NAME.fullmatch(name) is None:
        raise QuantityError(
            f"{shown(name)} is not a name of an interface; write one that `ip link` shows, such as eth1"
        )
    return name


InterfaceName = Annotated[str, AfterValidator(check_interface)]


class Carried(SpecModel):
    """What carries packets between machines of every origin."""

    network: Literal["udp", "native"] = Field(
        "udp",
        description="What carries packets between the machines: `udp`, or `native`, which is Ethernet "
        "without IP, in one layer-2 network and with ssh as root. `udp` when absent.",
    )
    interface: InterfaceName | None = Field(
        None,
        description="For `network: native`, on every machine; the one with its address when absent.",
    )
