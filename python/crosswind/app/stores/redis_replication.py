"""Read the output of `INFO replication`.

Source: Redis 7 documentation, INFO.
"""

import re

_REPLICA = re.compile(r"slave\d+:(?P<fields>.*)")


def online_replicas(said: str) -> int | None:
    """Return the number of replicas that have all data and follow; None if a primary did not answer.

    A replica that is still receiving the data is not in the state `online`.
    """
    lines = said.splitlines()
    if "role:master" not in lines:
        return None
    replicas = [match["fields"].split(",") for line in lines if (match := _REPLICA.fullmatch(line))]
    return sum("state=online" in fields for fields in replicas)
