"""What the stores' own tools say, read from captured output.

Captured from Redis 7.0.15, etcd 3.4.23 and MongoDB 6.0.5 in the nodes of a trial, and where addresses are
127.0.0.1 from servers started by hand.
"""

import json
from pathlib import Path

import pytest

from crosswind.app.stores.etcd_status import Member, member_id, parse_status
from crosswind.app.stores.mongodb_status import follows, takes_writes
from crosswind.app.stores.redis_replication import online_replicas
from crosswind.app.stores.store import parse_version

CAPTURED = Path(__file__).parent / "captured"


def captured(name: str) -> str:
    return (CAPTURED / name).read_text()


def test_only_replicas_that_hold_all_data_are_online() -> None:
    assert online_replicas(captured("redis-online.txt")) == 2
    # Connected, and still waiting for the snapshot: `state=wait_bgsave`.
    assert online_replicas(captured("redis-not-yet-online.txt")) == 0


def test_a_replica_is_no_primary_and_an_error_is_no_answer() -> None:
    assert online_replicas(captured("redis-replica.txt")) is None
    assert online_replicas("LOADING Redis is loading the dataset in memory\n") is None
    assert online_replicas("") is None


def test_every_member_tells_its_leader_and_how_far_it_is() -> None:
    status = parse_status(captured("etcd-status-other-leader.json"))
    # Ids are above 2^53 and must not pass through floating point.
    assert status[0] == Member("http://db0:2379", 15412461216864144985, 15034765299921967435, 57)
    assert {member.leader for member in status} == {member_id(status, "http://db2:2379")}
    behind = parse_status(captured("etcd-status-one-behind.json"))
    assert [member.applied for member in behind] == [56, 57, 57]
    moved = parse_status(captured("etcd-status-db0-leads.json"))
    assert {member.leader for member in moved} == {member_id(moved, "http://db0:2379")}


def test_members_that_do_not_answer_are_missing_from_the_status() -> None:
    assert len(parse_status(captured("etcd-status-one-down.json"))) == 1
    assert parse_status(captured("etcd-status-db0-leads.json")[:400]) == []
    assert parse_status("") == []


def test_the_primary_alone_takes_writes() -> None:
    assert takes_writes(captured("mongodb-hello-primary.json"))
    assert not takes_writes(captured("mongodb-hello-secondary.json"))
    # Before its set has been initiated.
    assert not takes_writes(captured("mongodb-hello-no-set.json"))


def test_a_set_that_elected_a_moment_ago_does_not_follow_yet() -> None:
    primary = json.loads(captured("mongodb-hello-primary.json"))["me"]
    assert follows(captured("mongodb-status.json"), primary, 3)
    assert not follows(captured("mongodb-status-early.json"), primary, 3)


def replica_set(states: dict[str, str], seconds: dict[str, int]) -> str:
    """Return what replSetGetStatus answers, less what nobody reads."""
    members = [
        {
            "_id": number,
            "name": name,
            "stateStr": state,
            "optime": {"ts": {"$timestamp": {"t": seconds[name], "i": 1}}, "t": 3},
        }
        for number, (name, state) in enumerate(states.items())
    ]
    return json.dumps({"set": "crosswind", "members": members, "ok": 1.0})


@pytest.mark.parametrize(
    ("states", "seconds", "expected"),
    [
        (("PRIMARY", "SECONDARY", "SECONDARY"), (9, 9, 9), True),
        (("PRIMARY", "SECONDARY", "SECONDARY"), (9, 9, 8), False),
        (("SECONDARY", "PRIMARY", "SECONDARY"), (9, 9, 9), False),
        (("PRIMARY", "STARTUP2", "SECONDARY"), (9, 9, 9), False),
        (("PRIMARY", "SECONDARY"), (9, 9), False),
    ],
)
def test_a_replica_set_is_ready_when_db0_leads_and_all_others_have_its_data(
    states: tuple[str, ...], seconds: tuple[int, ...], expected: bool
) -> None:
    names = [f"db{number}:27017" for number in range(len(states))]
    said = replica_set(dict(zip(names, states, strict=True)), dict(zip(names, seconds, strict=True)))
    assert follows(said, "db0:27017", 3) is expected


@pytest.mark.parametrize(
    ("printed", "version"),
    [
        (
            "Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64 build=d8e7b57e9c1d2c38",
            "7.0.15",
        ),
        ("db version v6.0.5\nBuild Info: {\n", "6.0.5"),
        ("etcd Version: 3.4.23\nGit SHA: Not provided (use ./build instead of go build)\n", "3.4.23"),
        ("postgres (PostgreSQL) 15.13 (Debian 15.13-0+deb12u1)\n", "15.13"),
    ],
)
def test_the_version_is_the_first_number_with_a_dot(printed: str, version: str) -> None:
    assert parse_version(printed) == version


def test_a_program_without_a_version_is_an_error() -> None:
    with pytest.raises(ValueError, match="no version"):
        parse_version("permission denied")
