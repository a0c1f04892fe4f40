"""Runs in an emulated kernel that has netem: sets every mapping of `backend: tc`, and sends packets through.

Prints a line of JSON: what was set under which condition, and the round trip through a netem of 10 ms each
way.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from crosswind.spec import fabric_of, resolve
from crosswind.spec.load import parse_experiment
from crosswind.testbed import Agent, Node
from crosswind.testbed.enter import words_to_enter
from crosswind.testbed.kernel_modules import TRIALS, lacking_modules
from crosswind.testbed.traffic_control import TrafficControlFabric

EXPERIMENT = """
name: guest
topology:
  hosts: 2
  uplink: {rate: 20Mbit/s, delay: 10ms, buffer: 64KiB}
  nodes: {server: h0, client: h1}
backend: tc
conditions:
  - delayed: {}
  - impaired:
      link:
        - delay: {time: 5ms, jitter: 1ms, law: normal, order: free}
        - lose: 1%
        - duplicate: 0.5%
        - corrupt: 0.1%
  - bursts: {link: [{lose: {gilbert_elliott: {p: 1%, r: 20%}}}]}
  - policed: {switch.ingress: [{police: {rate: 5Mbit/s, burst: 20kB}}, {mark: {dscp: AF41}}]}
  - strict: {switch.egress: [{schedule: {by: strict, queues: [{dscp: [AF41]}, {dscp: default}]}}]}
  - shared:
      switch.egress:
        - schedule: {by: drr, queues: [{dscp: [AF41], weight: 3}, {dscp: default, weight: 1}]}
  - codel: {switch.egress: [{queue: {buffer: 100kB, drop: {codel: {target: 5ms, interval: 100ms}}}}]}
application: {rpc: {size: small}}
trials: {repeat: 1, seed: 7}
"""
ECHO = """
import socket
with socket.socket(type=socket.SOCK_DGRAM) as end:
    end.bind(("0.0.0.0", 7)); print("listening", flush=True)
    for _ in range(COUNT):
        data, whom, *_ = *end.recvfrom(64), None
        end.sendto(data, whom)
"""
ASK = """
import json, socket, time
took = []
with socket.socket(type=socket.SOCK_DGRAM) as end:
    end.connect(("WHERE", 7)); end.settimeout(5)
    for _ in range(COUNT):
        began = time.monotonic(); end.send(b"ping"); end.recv(64); took.append(time.monotonic() - began)
print(json.dumps(took))
"""
COUNT = 10


def round_trips_s(sender: Node, receiver: Node) -> list[float]:
    echo, ask = (text.replace("COUNT", str(COUNT)) for text in (ECHO, ASK.replace("WHERE", receiver.address)))
    listening = subprocess.Popen(
        [*words_to_enter(receiver.pid), sys.executable, "-c", echo], stdout=subprocess.PIPE
    )
    assert listening.stdout is not None
    listening.stdout.readline()
    asked = subprocess.run(
        [*words_to_enter(sender.pid), sys.executable, "-c", ask], capture_output=True, text=True, check=True
    )
    listening.wait()
    return json.loads(asked.stdout)


def main() -> None:
    resolved = resolve(parse_experiment(EXPERIMENT.encode(), "guest.yaml"))
    found: dict[str, object] = {"lacking": lacking_modules(TRIALS)}
    spec = fabric_of(resolved, "delayed")
    with tempfile.TemporaryDirectory() as folder, Agent() as agent:
        logs, own = Path(folder) / "logs", Path(folder) / "tc"
        with TrafficControlFabric(agent, spec, logs, None, own) as fabric:
            found["round_trips_s"] = round_trips_s(fabric.nodes["server"], fabric.nodes["client"])
            for condition in resolved.conditions:
                began_s = time.monotonic()
                fabric.set(fabric_of(resolved, condition.name).condition)
                by = sorted({each.by for each in fabric.decided})
                found[condition.name] = {"by": by, "took_s": round(time.monotonic() - began_s, 1)}
    print("guest:", json.dumps(found))


if __name__ == "__main__":
    main()
