"""What may be asked of traffic, and what would mean nothing."""

from typing import Any

import pytest
from pydantic import ValidationError

from crosswind.app.traffic import Traffic, TrafficParameters
from crosswind.spec.restored import restored


def read(**asked: Any) -> TrafficParameters:
    return TrafficParameters.model_validate(asked)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({}, "write duration: 5s, or count: 10"),
        ({"duration": "1s", "count": 3}, "needs exactly one of"),
        ({"count": 3}, "has a `count` of messages but no `message`"),
        ({"duration": "1s", "rate": "5/s"}, "has a `rate` of messages but no `message`"),
        ({"duration": "1s", "exchange": "ping-pong"}, "add one, such as message: 1kB"),
        ({"duration": "1s", "exchange": "request-response", "message": "1kB"}, "add response: 1kB"),
        ({"duration": "1s", "message": "1kB", "response": "1kB"}, "or leave it out"),
        ({"count": 3, "message": "1kB"}, "write warm_up: 0s"),
        ({"duration": "1s", "message": {"uniform": {"least": "2kB", "most": "1kB"}}}, "exchange them"),
        ({"duration": "1s", "message": {"pareto": {"mean": "2kB", "shape": 1}}}, "greater than 1"),
        ({"duration": "1s", "message": "1000"}, "has no unit"),
        ({"duration": "1s", "congestion_control": ["cubic; rm"]}, "pattern"),
    ],
)
def test_what_means_nothing_is_refused_with_the_remedy(asked: dict[str, Any], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        read(**asked)


@pytest.mark.parametrize(
    ("message", "argument"),
    [
        ("1MB", "1000000"),
        ("web-search", "web-search"),
        ({"uniform": {"least": "1kB", "most": "2kB"}}, "uniform:1000:2000"),
        ({"exponential": {"mean": "1MiB"}}, "exponential:1048576"),
        ({"pareto": {"mean": "10kB", "shape": 1.5}}, "pareto:10000:1.5"),
    ],
)
def test_a_law_is_what_the_load_generator_reads_also_after_a_resume(message: Any, argument: str) -> None:
    asked = read(duration="1s", message=message)
    assert str(asked.message) == argument
    again = restored(TrafficParameters, asked.model_dump(mode="json"))
    assert str(again.message) == argument


def test_figures_follow_from_what_is_asked() -> None:
    def labels(**asked: Any) -> list[str]:
        return [figure.label for figure in Traffic(read(**asked)).figures()]

    assert labels(duration="1s") == ["goodput", "fairness", "retransmits"]
    assert labels(count=2, message="1MB", warm_up="0s")[0] == "completion"
    assert labels(duration="1s", message="1kB", exchange="ping-pong")[0] == "P99"


def test_nodes_that_a_pattern_cannot_use_are_named() -> None:
    ring = read(duration="1s", pattern="ring")
    assert [message for _, message in Traffic.misfits(ring, ["a"])] == [
        "needs at least two nodes, and the topology has 1; add nodes"
    ]
    assert list(Traffic.misfits(ring, ["a", "b", "c"])) == []
    (found,) = Traffic.misfits(read(duration="1s"), ["a", "b", "c"])
    assert found[0] == ("pattern",)
    assert "is odd" in found[1]
