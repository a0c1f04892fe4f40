"""Small experiments with a backend, for the tests of this folder."""

from textwrap import indent

from crosswind.spec import Resolved, resolve
from crosswind.spec.load import parse_experiment

_EXPERIMENT = """\
name: switched
topology:
  hosts: {hosts}
  uplink: {{rate: 100Mbit/s, delay: {delay}, buffer: 64KiB}}
  nodes: {{{nodes}}}
backend: {backend}
conditions:
  - tried:
{condition}
application:
  rpc: {{size: small}}
trials: {{repeat: 2, seed: 7{trials}}}
"""


def resolved(
    condition: str,
    *,
    backend: str = "ovs",
    hosts: int | str = 2,
    nodes: str = "server: h0, client: h1",
    delay: str = "0us",
    trials: str = "",
) -> Resolved:
    """Return an experiment with one condition, `tried`, written as its keys."""
    text = _EXPERIMENT.format(
        condition=indent(condition.strip("\n"), "      "),
        backend=backend,
        hosts=hosts,
        nodes=nodes,
        delay=delay,
        trials=trials,
    )
    return resolve(parse_experiment(text.encode(), "switched.yaml"))


QUEUES = """
switch.ingress:
  - mark: {dscp: AF41, on: [h0]}
switch.egress:
  - schedule:
      by: BY
      queues:
        - {dscp: [AF41, AF42, AF43]WEIGHT_0}
        - {dscp: default, buffer: 10kBWEIGHT_1}
"""


def scheduled(by: str) -> str:
    """Return a condition that schedules the ports of a switch."""
    weights = ("", "") if by == "strict" else (", weight: 70", ", weight: 30")
    return QUEUES.replace("BY", by, 1).replace("WEIGHT_0", weights[0]).replace("WEIGHT_1", weights[1])
