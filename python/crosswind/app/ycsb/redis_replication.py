"""Read what `INFO replication` says.

Source: Redis 7 documentation, INFO.
"""

import re

_REPLICA = re.compile(r"slave\d+:(?P<fields>.*)")


def online_replicas(said: str) -> int | None:
    """Return how many replicas have all data and follow; None when this is no primary's answer.

    A replica that still receives the data has another state than `online`.
    """
    lines = said.splitlines()
    if "role:master" not in lines:
        return None
    replicas = [match["fields"].split(",") for line in lines if (match := _REPLICA.fullmatch(line))]
    return sum("state=online" in fields for fields in replicas)
