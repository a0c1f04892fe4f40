"""Servers as an ordinary user's: whole trials without root, skipped where packages are missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crosswind.app import find

if TYPE_CHECKING:
    from conftest import Live

EXPERIMENT = """
name: live
topology:
  hosts: 2
  uplink: {{rate: 1Gbit/s, delay: 10us, buffer: 256KiB}}
  wait: sleep
  nodes: {{{nodes}}}
conditions: [none]
application: {{{application}}}
trials: {{repeat: 1, rest: 0s, seed: 7, limits: {{void: accept}}}}
"""
STORE = "workload: a, records: 200, duration: 300ms, warm_up: 0s"
# By the variant, where an application has any: servers that look up who they are, switch accounts, or want
# files of their own somewhere else.
APPLICATIONS = {
    ("ycsb", "postgresql"): f"ycsb: {{store: postgresql, {STORE}}}",
    ("ycsb", "redis"): f"ycsb: {{store: redis, {STORE}}}",
    ("ycsb", "etcd"): f"ycsb: {{store: etcd, {STORE}}}",
    ("memcached", None): "memcached: {keys: 500, duration: 300ms, warm_up: 0s}",
    ("web", "nginx"): "web: {server: nginx, objects: [1kB], duration: 300ms, warm_up: 0s}",
    ("web", "apache"): "web: {server: apache, objects: [1kB], duration: 300ms, warm_up: 0s}",
    ("dns", None): "dns: {names: 100, duration: 1s, warm_up: 0s}",
    ("spark", None): "spark: {workload: wordcount, records: 1000, warm_up_runs: 0}",
}
NODES = {"ycsb": "db0: h0, client: h1", "spark": "master: h0, worker0: h0, worker1: h1, client: h1"}


LONG = (("spark", None), ("web", "apache"))


@pytest.mark.parametrize(
    ("name", "variant"),
    [pytest.param(*each, marks=[pytest.mark.long] if each in LONG else []) for each in APPLICATIONS],
)
def test_a_server_needs_no_root(
    live: Live, as_nobody: tuple[str, ...], name: str, variant: str | None
) -> None:
    for missing in find(name).missing(variant):
        pytest.skip(f"{missing.what}; {missing.remedy}")
    nodes = NODES.get(name, "server: h0, client: h1")
    text = EXPERIMENT.format(nodes=nodes, application=APPLICATIONS[name, variant])
    (live.folder / "live.yaml").write_text(text)
    status, said = live.run("run", "live.yaml", prefix=as_nobody, timeout_s=300)
    if status == 3:
        pytest.skip(said)
    assert status == 0, said
