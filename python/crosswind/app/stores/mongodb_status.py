"""Read the answers of the commands hello and replSetGetStatus, as relaxed extended JSON.

Source: MongoDB documentation, hello, replSetGetStatus.
"""

import json


def takes_writes(said: str) -> bool:
    """Return whether the member that answered hello is the primary and accepts writes."""
    return json.loads(said).get("isWritablePrimary") is True


def follows(said: str, primary: str, members: int) -> bool:
    """Return whether `primary` leads and all other members have the same data.

    Args:
        said: the output of `crosswind-load mongodb-command`.
        primary: `host:port`.
        members: number of members of the set.
    """
    status = json.loads(said)["members"]
    states = {member["name"]: member["stateStr"] for member in status}
    others = [state for name, state in states.items() if name != primary]
    applied = {json.dumps(member.get("optime"), sort_keys=True) for member in status}
    return (
        len(states) == members
        and states.get(primary) == "PRIMARY"
        and all(state == "SECONDARY" for state in others)
        and len(applied) == 1
    )
