"""A lost SYN where time passes ten times slower: it is sent again after a second that is perceived."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crosswind.results.measurement import Measurement
from crosswind.spec import fabric_of, resolve
from crosswind.spec.load import parse_experiment
from crosswind.testbed import Agent
from crosswind.testbed.replies import Started, Up

if TYPE_CHECKING:
    from conftest import Live

FACTOR = 10
EXPERIMENT = """
name: live
topology:
  hosts: 2
  uplink: {rate: 1Gbit/s, delay: 0us, buffer: 1MiB}
  wait: sleep
  nodes: {server: h0, client: h1}
conditions: [dead: {link: [{lose: 100%}]}]
application: {rpc: {duration: 500ms, warm_up: 100ms}}
trials: {repeat: 2, rest: 0s, seed: 7}
"""
CLIENT = """python3 -c '
import socket
try:
    socket.create_connection(("server", 7000), 1.3)
except TimeoutError:
    pass'"""


@pytest.mark.long
def test_a_lost_syn_is_sent_again_after_a_perceived_second(live: Live) -> None:
    folder = live.folder / "open"
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    fabric = fabric_of(resolve(parse_experiment(EXPERIMENT.encode(), "live.yaml")), "dead")
    with Agent() as agent:
        up = agent.request(
            "up",
            Up,
            {
                "fabric": fabric.model_dump(by_alias=True, exclude_none=True),
                "dilation": {"factor": FACTOR},
            },
        )
        assert up.dilation is not None
        if "handshake" not in up.dilation.tcp:
            pytest.skip("the machine lacks what slows a first timeout: root, control groups of version 2")
        request = {
            "node": "client", "name": "test", "argv": ["bash", "-c", CLIENT], "cwd": str(folder),
            "stdout": str(folder / "out"), "stderr": str(folder / "out"),
        }  # fmt: skip
        process = agent.request("start", Started, request).process
        ended = agent.wait_exit(process, timeout_s=90)
        assert ended is not None, "the client hangs"
        assert ended.code == 0, (folder / "out").read_text()
        (again,) = agent.request("read", Measurement).retransmissions.rows
    # Timers of the kernel are at most an eighth late. Of its own second, a tenth would be perceived.
    assert again.since_first_ns is not None
    assert 1e9 <= again.since_first_ns < 1.125e9
