"""An experiment with a compose file: what has to fit between the two, and errors where it does not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from crosswind.app.compose import ComposeParameters
from crosswind.spec import load_experiment, resolve
from crosswind.spec.problems import SpecErrors
from crosswind.spec.restored import restored

EXPERIMENT = """
name: shop
topology: {hosts: 2, uplink: {rate: 1Gbit/s, delay: 1us}, nodes: {web: h0, client: h1}}
conditions: [none]
trials: {repeat: 1, seed: 1}
application:
  compose:
    file: sub/compose.yaml
    load: client
    ready: {web: {port: 80}}
    images: {nginx: /srv/nginx.tar}
    files: [sub/conf/site.conf]
    metrics: {took: {elapsed: true, better: lower}}
"""
FILE = """
services:
  web: {image: nginx, volumes: ["./conf:/etc/conf:ro"]}
  client: {command: [ask, web], depends_on: [web]}
"""


def written(folder: Path, experiment: str = EXPERIMENT, file: str = FILE) -> Path:
    (folder / "sub/conf").mkdir(parents=True, exist_ok=True)
    (folder / "sub/compose.yaml").write_text(file)
    (folder / "sub/conf/site.conf").write_text("x\n")
    (folder / "shop.yaml").write_text(experiment)
    return folder / "shop.yaml"


def refusal(path: Path) -> str:
    with pytest.raises(SpecErrors) as refused:
        load_experiment(path)
    return str(refused.value)


def test_the_compose_file_and_what_it_binds_are_kept(tmp_path: Path) -> None:
    experiment = load_experiment(written(tmp_path))
    resolved = json.loads(json.dumps(resolve(experiment)))
    assert [entry["file"] for entry in resolved["application"]["files"]] == [
        "sub/compose.yaml",
        "sub/conf/site.conf",
    ]
    again = restored(ComposeParameters, resolved["application"]["parameters"])
    assert again == experiment.parameters
    assert again.services["web"].volumes[0].is_bind


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "nodes: {web: h0,",
            "nodes: {wep: h0,",
            "services without a node (web); nodes are called like services",
        ),
        ("load: client", "load: clint", 'load "clint" is no service; did you mean "client"?'),
        ("    ready: {web: {port: 80}}\n", "", "does not say when web is ready; add a healthcheck there"),
        ("ready: {web:", "ready: {wep:", 'wep is no service; did you mean "web"?'),
        ("ready: {web:", "ready: {client: {port: 1}, web:", "client is the load, and `ready` is for servers"),
        ("    files: [sub/conf/site.conf]\n", "", 'bind "./conf", which is not kept with the results'),
        ("images: {nginx: /", "images: {nginx: ", '"srv/nginx.tar" is relative'),
        ("images: {nginx:", "images: {ngin:", "ngin is the image of no service; images are nginx"),
        ("sub/compose.yaml", "compose.yaml", '"compose.yaml" cannot be read'),
    ],
)
def test_what_does_not_fit_is_an_error_with_the_remedy(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    assert old in EXPERIMENT
    assert message in refusal(written(tmp_path, EXPERIMENT.replace(old, new, 1)))


LIMITED = FILE.replace("image: nginx,", "image: nginx, mem_limit: 64m, cpus: 0.5,")


@pytest.mark.parametrize(
    "web",
    ["h0", "{host: h0, memory: 64MiB}", "{host: h0, cpus: 0.5}", "{host: h0, memory: 65536KiB, cpus: 0.5}"],
)
def test_limits_of_services_are_limits_of_their_nodes(tmp_path: Path, web: str) -> None:
    experiment = load_experiment(written(tmp_path, EXPERIMENT.replace("web: h0", f"web: {web}"), LIMITED))
    assert resolve(experiment)["topology"]["limits"] == {
        "web": {"memory_bytes": 64 << 20, "cpus_ppm": 500_000}
    }


@pytest.mark.parametrize(
    ("web", "message"),
    [
        (
            "memory: 1GiB",
            'topology.nodes.web: memory "1GiB" contradicts the 67108864B of compose\'s own files',
        ),
        ("cpus: 1", 'topology.nodes.web: cpus "1" contradicts the 0.5 of compose\'s own files; leave one of'),
    ],
)
def test_a_topology_that_limits_a_service_otherwise_is_refused(
    tmp_path: Path, web: str, message: str
) -> None:
    path = written(tmp_path, EXPERIMENT.replace("web: h0", f"web: {{host: h0, {web}}}"), LIMITED)
    assert message in refusal(path)


def test_a_node_that_only_the_topology_limits_keeps_its_limit(tmp_path: Path) -> None:
    written_so = EXPERIMENT.replace("client: h1", "client: {host: h1, memory: 8MiB}")
    limits = resolve(load_experiment(written(tmp_path, written_so, LIMITED)))["topology"]["limits"]
    assert limits["client"] == {"memory_bytes": 8 << 20, "cpus_ppm": None}
    assert set(limits) == {"web", "client"}


def test_nobody_waits_for_the_load(tmp_path: Path) -> None:
    file = FILE.replace("image: nginx,", "image: nginx, depends_on: [client],").replace(
        ", depends_on: [web]", ""
    )
    assert "load is what web depends on" in refusal(written(tmp_path, file=file))


def test_errors_of_the_compose_file_have_their_own_places(tmp_path: Path) -> None:
    said = refusal(written(tmp_path, file=FILE.replace("image: nginx", "image: nginx, privileged: true")))
    assert 'shop.yaml:8:11: application.compose: file "sub/compose.yaml" cannot be honoured:' in said
    assert '\n  3:23: services.web: unknown key "privileged"' in said
