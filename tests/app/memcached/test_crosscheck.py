"""The other side of the cross-check, read from what memcaslap 1.0 (libmemcached-tools 1.1.4) printed against
memcached 1.6.18: eight connections, two seconds."""

from pathlib import Path

import pytest

from bench.crosscheck_services import Seen, read_memcaslap
from crosswind.testbed import TestbedError

CAPTURED = Path(__file__).parent / "captured"


def captured(name: str) -> str:
    return (CAPTURED / f"{name}.txt").read_text()


def test_rate_and_averages_are_those_of_all_operations_together() -> None:
    # Not those of the reads, nor those of the table of the last period, which stand before them.
    assert read_memcaslap(captured("memcaslap")) == Seen(67742, 117, 99.92, None)


@pytest.mark.parametrize("name", ["memcaslap-no-server", "memcaslap-killed"])
def test_a_run_without_an_end_is_refused(name: str) -> None:
    with pytest.raises(TestbedError, match="its output has no end"):
        read_memcaslap(captured(name))


def test_every_truncation_is_refused() -> None:
    printed = captured("memcaslap").rstrip()
    for length in range(len(printed)):
        with pytest.raises(TestbedError, match="its output has no end"):
            read_memcaslap(printed[:length])
