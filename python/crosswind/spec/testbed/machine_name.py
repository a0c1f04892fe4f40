"""Names of machines as ssh takes them: a host name, an address, or a `Host` of the user's ~/.ssh/config."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator

from crosswind.spec.quantities import QuantityError, shown

# The length of a name in the DNS (RFC 1035, section 2.3.4).
MACHINE_NAME_MAX = 253
# Never a hyphen first: ssh would read an option. Colons and percent signs are those of IPv6 addresses.
_FORM = re.compile(r"[A-Za-z0-9_:][A-Za-z0-9_.:%-]*")
_USER = re.compile(r"(?:ssh://)?[^@\s]+@(?P<host>.+)")


def check_machine_name(name: str) -> str:
    """Return a valid name of a machine.

    Raises: QuantityError: it is none; the message starts with it.
    """
    if (with_user := _USER.fullmatch(name)) is not None:
        raise QuantityError(
            f"{shown(name)} has a user in it; write {with_user['host']}, and the user as User in "
            "~/.ssh/config"
        )
    if not _FORM.fullmatch(name):
        raise QuantityError(
            f"{shown(name)} is not a name of a machine; write a host name, an address, or a Host of "
            "~/.ssh/config"
        )
    if len(name) > MACHINE_NAME_MAX:
        raise QuantityError(
            f"{shown(name)} has {len(name)} characters; a name of a machine has at most {MACHINE_NAME_MAX}"
        )
    return name


MachineName = Annotated[str, AfterValidator(check_machine_name)]
