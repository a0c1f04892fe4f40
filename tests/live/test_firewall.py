"""A firewall that drops: it is named with the port, and what was measured until then is kept."""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from crosswind.fingerprint.measure.ends import End
from crosswind.fingerprint.measure.own_ends import own_fabric
from crosswind.testbed import TestbedError
from crosswind.testbed.plain import plain_fabric

if TYPE_CHECKING:
    from conftest import Live

SHORT = ("--full-speed", "1s", "--rest", "1s", "--connections", "2", "--repeat", "1", "--writes", "64KiB")


def drop(end: End, what: str) -> None:
    """Have the kernel of an end drop what arrives there and matches."""
    wall = "add table inet wall; add chain inet wall in { type filter hook input priority 0; }"
    nft = shutil.which("nft")
    if nft is None:
        pytest.skip("SKIPPED: nft is missing; tests/prepare.sh installs it (nftables)")
    try:
        end.run([nft, f"{wall}; add rule inet wall in {what} drop"])
    except TestbedError as error:
        pytest.skip(f"SKIPPED: no firewall can be made here: {error}")


@contextmanager
def behind_a_wall(what: str) -> Iterator[list[str]]:
    """Bring two nodes up, drop at the second, and give the words of a fingerprint that finds them so."""
    with own_fabric(plain_fabric(("a", "b"), rate_bps=50_000_000)) as ends:
        drop(ends.far, what)
        near, far = (shlex.join(end.prefix) for end in (ends.near, ends.far))
        yield ["fingerprint", "--near", near, "--far", far, "--to", ends.far.address, *SHORT]


@pytest.mark.long
def test_where_udp_is_dropped_what_tcp_measured_is_kept(live: Live) -> None:
    with behind_a_wall("udp dport 7080") as command:
        status, said = live.run(*command, timeout_s=180)
    assert status == 4, said
    assert "as far as it was measured" in said
    found = json.loads((live.folder / "fingerprint.json").read_text())
    assert "does a firewall between a and b drop UDP port 7080?" in found["ended"]
    assert found["round_trip"]["idle"]["ns"]["p50"] > 0
    assert not {"delay", "bulk", "token_bucket", "trace"} & found.keys()


@pytest.mark.long
def test_where_bulk_transfer_is_dropped_round_trips_and_delays_are_kept(live: Live) -> None:
    with behind_a_wall("tcp dport 7078") as command:
        status, said = live.run(*command, timeout_s=180)
    assert status == 4, said
    found = json.loads((live.folder / "fingerprint.json").read_text())
    assert "7078" in found["ended"]
    assert found["round_trip"]["idle"]["ns"]["p50"] > 0
    assert found["delay"]["one_way_ns"]["p50"] > 0
    assert not {"bulk", "token_bucket", "trace"} & found.keys()


@pytest.mark.long
def test_where_questions_are_dropped_it_ends_before_anything_is_measured(live: Live) -> None:
    with behind_a_wall("tcp dport 7079") as command:
        status, said = live.run(*command, timeout_s=180)
    assert status == 4, said
    assert "port 7079: timed out; does a firewall on the path drop or refuse it?" in said
    assert not (live.folder / "fingerprint.json").exists()
