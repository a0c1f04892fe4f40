"""Read the answers of the commands hello and replSetGetStatus, as relaxed extended JSON.

Source: MongoDB documentation, hello, replSetGetStatus.
"""

import json


def takes_writes(said: str) -> bool:
    """Tell whether the member that answered hello is the primary, and its election is over."""
    return json.loads(said).get("isWritablePrimary") is True


def follows(said: str, primary: str, members: int) -> bool:
    """Tell whether `primary` leads and all other members hold what it holds.

    Args:
        said: what `crosswind-load mongodb-command` printed.
        primary: `host:port`.
        members: of the whole set.
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
