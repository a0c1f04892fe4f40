"""The parameters of `dns`, its zone and its questions."""

import re

import pytest
from pydantic import ValidationError

from crosswind.app.dns import DnsParameters, nsd


def asked(**parameters: object) -> DnsParameters:
    return DnsParameters.model_validate({"duration": "2s", **parameters})


def test_every_question_is_about_a_name_of_the_zone() -> None:
    names = set(re.findall(r"^(h\d+) A ", nsd.zone("10.77.0.1", 50, None), re.MULTILINE))
    assert len(names) == 50
    questions = nsd.queries(50, "A", seed=7).splitlines()
    assert {question.partition(".")[0] for question in questions} == names
    assert all(question.endswith(f".{nsd.ZONE} A") for question in questions)


def test_questions_follow_from_the_seed() -> None:
    assert nsd.queries(50, "A", seed=7) == nsd.queries(50, "A", seed=7) != nsd.queries(50, "A", seed=8)


@pytest.mark.parametrize("size", [1, 255, 256, 1000])
def test_texts_have_their_size_in_strings_of_at_most_255_bytes(size: int) -> None:
    zone = nsd.zone("10.77.0.1", 3, size)
    texts = [re.findall('"(x+)"', line) for line in zone.splitlines() if " TXT " in line]
    assert len(texts) == 3
    assert all(sum(map(len, strings)) == size and max(map(len, strings)) <= 255 for strings in texts)


def test_a_rate_comes_with_room_for_lost_queries_unless_told_otherwise() -> None:
    assert asked().outstanding_max == 100
    assert asked(rate="2000/s").outstanding_max == 2001
    assert asked(rate="2000/s", outstanding=10).outstanding_max == 10


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"duration": "900ms"}, "shorter than 1s"),
        ({"rate": "0.5/s"}, "dnsperf needs a whole number"),
        ({"timeout": "3s"}, "longer than its `duration`"),
        ({"text": "2kB"}, "udp carries 1100B in one answer; write a smaller one, or `protocol: tcp`"),
        ({"text": "64kB", "protocol": "tcp"}, "tcp carries 60000B"),
    ],
)
def test_what_cannot_be_measured_is_refused_with_the_remedy(parameters: dict[str, str], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        asked(**parameters)
