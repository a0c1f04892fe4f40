"""The interface to the other end is found as the kernel routes to it, whatever address it is known by."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from crosswind.fingerprint.measure import end_facts

# Two interfaces, one of them with a second address of IPv4 and one of IPv6, in a network namespace of its own
# that is gone with its shell.
_SET_UP = """
ip link set lo up
ip link add first type veth peer name second
ip link set first up mtu 1400
ip link set second up mtu 1300
ip address add 10.1.0.1/24 dev first
ip address add 10.2.0.1/24 dev first
ip address add fd00:2::1/64 dev first nodad
ip address add 10.3.0.1/24 dev second
exec "$0" - "$1"
"""


@pytest.mark.parametrize(
    ("address", "name", "own", "mtu_bytes"),
    [
        ("10.1.0.2", "first", "10.1.0.1", 1400),
        # Of a second network on one interface, whose first address is another one.
        ("10.2.0.2", "first", "10.2.0.1", 1400),
        ("10.3.0.2", "second", "10.3.0.1", 1300),
        ("fd00:2::2", "first", "fd00:2::1", 1400),
        # One's own goes over no cable.
        ("10.1.0.1", "lo", "10.1.0.1", 65536),
        ("::1", "lo", "::1", 65536),
    ],
)
def test_an_interface_is_found_by_the_route(address: str, name: str, own: str, mtu_bytes: int) -> None:
    script = Path(end_facts.__file__).read_text(encoding="utf-8")
    command = ["unshare", "--user", "--map-root-user", "--net", "sh", "-ec", _SET_UP, sys.executable, address]
    done = subprocess.run(command, input=script, capture_output=True, text=True, check=False)
    if "unshare" in done.stderr or "Not supported" in done.stderr or "ip: not found" in done.stderr:
        pytest.skip(f"SKIPPED: no network namespace, veth pair or ip here: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["interface"]
    assert (found["name"], found["address"], found["mtu_bytes"]) == (name, own, mtu_bytes)
    assert found["path_mtu_bytes"] <= mtu_bytes
    if name != "lo":
        assert found["driver"] == "veth"
