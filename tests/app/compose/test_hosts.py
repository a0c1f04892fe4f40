"""The names that a service finds."""

from __future__ import annotations

import sys
from pathlib import Path

from crosswind.app.compose.hosts import hosts_file

sys.path.insert(0, str(Path(__file__).parent))
from written import compose

TEXT = """
services:
  web_app: {image: w, networks: [front, back], hostname: www, extra_hosts: ["far:192.0.2.7"]}
  db: {image: d, container_name: store, networks: {back: {aliases: [sql]}}, scale: 2}
  cdn: {image: c, networks: [front]}
networks: {front: , back: }
"""
ADDRESSES = {
    "web-app": "10.77.0.1",
    "db": "10.77.0.2",
    "db-2": "10.77.0.3",
    "cdn": "10.77.0.4",
    "load": "10.77.0.5",
}


def names_for(service: str, node: str) -> dict[str, list[str]]:
    lines = hosts_file(service, node, compose(TEXT).services, ADDRESSES).splitlines()
    return {line.split()[0]: line.split()[1:] for line in lines}


def test_services_that_share_a_network_find_each_other_under_all_their_names() -> None:
    assert names_for("web_app", "web-app") == {
        "127.0.0.1": ["localhost"],
        "::1": ["localhost"],
        "10.77.0.1": ["www", "web-app", "web_app"],
        "10.77.0.2": ["db", "store", "sql"],
        "10.77.0.3": ["db-2", "db", "store", "sql"],
        "10.77.0.4": ["cdn"],
        "10.77.0.5": ["load"],
        "192.0.2.7": ["far"],
    }


def test_services_on_other_networks_are_not_found_by_name() -> None:
    found = names_for("cdn", "cdn")
    assert "10.77.0.2" not in found
    assert found["10.77.0.1"] == ["web-app", "web_app"]
    assert found["10.77.0.5"] == ["load"]
