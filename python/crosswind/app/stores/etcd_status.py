"""Read the output of `etcdctl endpoint status --write-out=json`.

Source: etcd 3.4, `etcdctl/ctlv3/command/ep_command.go`; numbers above 2^53 are written as JSON integers.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Member:
    """The status that one member reports.

    Attributes:
        endpoint: URL of the member.
        id: of the member.
        leader: id of the member that it considers the leader; 0 for none.
        applied: number of the last entry of the log that it has applied.
    """

    endpoint: str
    id: int
    leader: int
    applied: int


def parse_status(said: str) -> list[Member]:
    """Return the members that answered, in the order of the endpoints; none if the output is cut off."""
    try:
        answers = json.loads(said)
    except json.JSONDecodeError:
        return []
    return [
        Member(
            endpoint=answer["Endpoint"],
            id=answer["Status"]["header"]["member_id"],
            leader=answer["Status"].get("leader", 0),
            applied=answer["Status"].get("raftAppliedIndex", 0),
        )
        for answer in answers
    ]


def member_id(status: Sequence[Member], endpoint: str) -> int:
    """Return the id of the member with an endpoint, which must exist."""
    return next(member.id for member in status if member.endpoint == endpoint)
