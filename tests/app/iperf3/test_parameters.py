"""What may be asked of iperf3, and what it would misunderstand."""

from typing import Any

import pytest
from pydantic import ValidationError

from crosswind.app.iperf3 import Iperf3, Iperf3Parameters


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"duration": "1500ms"}, "write duration: 2s"),
        ({"duration": "2s", "warm_up": "100ms"}, "write warm_up: 1s"),
        ({"duration": "2s", "rate": "0bit/s"}, "write a rate above zero, or unlimited"),
        ({"duration": "2s", "protocol": "udp", "warm_up": "0s"}, "write rate: 100Mbit/s"),
        ({"duration": "2s", "protocol": "udp", "rate": "1Mbit/s"}, "write warm_up: 0s"),
        ({"duration": "2s", "streams": 129}, "128"),
        ({"duration": "2s", "write": "2MiB"}, "1048576"),
    ],
)
def test_what_iperf3_would_misunderstand_is_refused_with_the_remedy(
    asked: dict[str, Any], words: str
) -> None:
    with pytest.raises(ValidationError, match=words):
        Iperf3Parameters.model_validate(asked)


def test_udp_without_a_limit_has_to_be_meant() -> None:
    asked = {"duration": "2s", "protocol": "udp", "rate": "unlimited", "warm_up": "0s"}
    assert Iperf3Parameters.model_validate(asked).rate_bps is None


def test_round_trips_are_shown_where_iperf3_tells_them() -> None:
    def labels(**asked: Any) -> list[str]:
        parameters = Iperf3Parameters.model_validate({"duration": "2s"} | asked)
        return [figure.label for figure in Iperf3(parameters).figures()]

    assert labels() == ["goodput", "retransmits", "round trip", "fairness"]
    assert labels(sender="server") == ["goodput", "retransmits", "fairness"]
