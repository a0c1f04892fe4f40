"""An experiment with a compose file: what has to fit between the two, and errors where it does not."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crosswind.app.compose import ComposeParameters
from crosswind.app.compose.file import _TOP, ComposeFile
from crosswind.app.compose.keys import ALL
from crosswind.app.find import application_of
from crosswind.spec import load_experiment, resolve
from crosswind.spec.kinds import check_file
from crosswind.spec.problems import SpecErrors
from crosswind.spec.restored import restored
from crosswind.spec.setup import load_setup

sys.path.insert(0, str(Path(__file__).parent))
from written import compose, problems

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
    resolved = json.loads(json.dumps(resolve(experiment).as_json()))
    assert [entry["file"] for entry in resolved["application"]["files"]] == [
        "sub/compose.yaml",
        "sub/conf/site.conf",
    ]
    again = restored(ComposeParameters, resolved["application"]["parameters"])
    assert again == experiment.parameters
    assert again.services["web"].mounts[0].kind == "bind"


def test_an_image_needs_one_machine_and_a_program_of_the_machines_does_not(tmp_path: Path) -> None:
    image = application_of(resolve(load_experiment(written(tmp_path / "image"))))
    assert image.needs_one_machine() == (
        "the image of web is unpacked on this machine; write `x-crosswind: {command: ...}` with a program of "
        "the machines"
    )
    text = EXPERIMENT.replace("    images: {nginx: /srv/nginx.tar}\n", "")
    file = FILE.replace('volumes: ["./conf:/etc/conf:ro"]', "x-crosswind: {command: [serve]}")
    program = application_of(resolve(load_experiment(written(tmp_path / "program", text, file))))
    assert program.needs_one_machine() is None


def test_a_run_is_gone_on_with_from_its_results_alone(tmp_path: Path) -> None:
    resolved = resolve(load_experiment(written(tmp_path / "here")))
    copies = tmp_path / "results" / "files"
    copies.mkdir(parents=True)
    kept = {}
    for entry in resolved.application.files:
        kept[entry.file] = copies / entry.sha256
        kept[entry.file].write_bytes((tmp_path / "here" / entry.file).read_bytes())
    (tmp_path / "results/experiment.yaml").write_text(EXPERIMENT)
    assert resolve(load_experiment(tmp_path / "results/experiment.yaml", kept)) == resolved


def test_an_experiment_may_lie_below_the_compose_file(tmp_path: Path) -> None:
    written(tmp_path)
    folder = tmp_path / "sub/wind/here"
    folder.mkdir(parents=True)
    (folder / "shop.yaml").write_text(
        EXPERIMENT.replace("sub/compose.yaml", "../../compose.yaml").replace("sub/conf/site.conf", "own.conf")
    )
    (folder / "own.conf").write_text("x")
    resolved = resolve(load_experiment(folder / "shop.yaml"))
    assert [entry.file for entry in resolved.application.files] == [
        "../../compose.yaml",
        "../../conf/site.conf",
        "own.conf",
    ]


def test_a_network_of_such_an_experiment_can_be_brought_up(tmp_path: Path) -> None:
    text = EXPERIMENT.replace("hosts: 2, ", "").replace(", nodes: {web: h0, client: h1}", "")
    setup = load_setup(written(tmp_path, text))
    assert setup.resolved(1).topology.nodes == {"web": "h0", "client": "h1"}
    assert setup.network["topology"]["nodes"] == {"web": "h0", "client": "h1"}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "hosts: 2, uplink: {rate: 1Gbit/s, delay: 1us}, nodes: {web: h0, client: h1}",
            "hosts: 2, uplink: {rate: 1Gbit/s, delay: 1us}, nodes: {wep: h0, client: h1}",
            "services without a node (web); place them, such as nodes: {web: PLACE}, or, in a star, leave",
        ),
        ("load: client", "load: clint", 'load "clint" is not a service; did you mean "client"?'),
        ("load: client", "load: {node: web, command: x}", '"web" is the node of web; write another'),
        ("load: client", "load: {command: 'ask {addres:web}'}", 'did you mean "address"?'),
        ("ready: {web:", "ready: {wep:", 'wep is not a service; did you mean "web"?'),
        ("ready: {web:", "ready: {client: {port: 1}, web:", "client is the load, but `ready` is for servers"),
        ("images: {nginx: /", "images: {nginx: ", '"srv/nginx.tar" is relative'),
        ("images: {nginx:", "images: {ngin:", "ngin is not the image of a service; images are nginx"),
        ("sub/compose.yaml", "compose.yaml", '"compose.yaml" cannot be read'),
        ("sub/compose.yaml", "/compose.yaml", "write it relative to the experiment's folder"),
    ],
)
def test_what_does_not_fit_is_an_error_with_the_remedy(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    assert old in EXPERIMENT
    assert message in refusal(written(tmp_path, EXPERIMENT.replace(old, new, 1)))


def nodes_with(folder: Path, topology: str, load: str = "client") -> tuple[list[str], dict[str, str]]:
    text = EXPERIMENT.replace(
        "{hosts: 2, uplink: {rate: 1Gbit/s, delay: 1us}, nodes: {web: h0, client: h1}}", topology
    )
    resolved = resolve(load_experiment(written(folder, text.replace("load: client", f"load: {load}"))))
    return resolved.topology.hosts, resolved.topology.nodes


@pytest.mark.parametrize(
    ("topology", "hosts", "nodes"),
    [
        ("{uplink: {rate: 1Gbit/s}}", ["h0", "h1"], {"web": "h0", "client": "h1"}),
        ("{hosts: 3, uplink: {rate: 1Gbit/s}}", ["h0", "h1", "h2"], {"web": "h0", "client": "h1"}),
        (
            "{hosts: [a, b], uplink: {rate: 1Gbit/s}, nodes: {web: b}}",
            ["a", "b"],
            {"web": "b", "client": "a"},
        ),
        (
            "{uplink: {rate: 1Gbit/s}, nodes: {client: h0, proxy: edge}}",
            ["h0", "edge", "h1"],
            {"client": "h0", "proxy": "edge", "web": "h1"},
        ),
    ],
)
def test_services_without_a_node_get_one_on_a_host_of_its_own(
    tmp_path: Path, topology: str, hosts: list[str], nodes: dict[str, str]
) -> None:
    assert nodes_with(tmp_path, topology) == (hosts, nodes)


def test_a_load_outside_of_the_file_has_a_node_behind_those_of_the_services(tmp_path: Path) -> None:
    load = "{command: ask}"
    assert nodes_with(tmp_path, "{uplink: {rate: 1Gbit/s}}", load)[1] == {
        "web": "h0",
        "client": "h1",
        "load": "h2",
    }


def test_a_compose_file_that_is_not_sound_is_the_only_thing_reported(tmp_path: Path) -> None:
    text = EXPERIMENT.replace(", nodes: {web: h0, client: h1}", "").replace(
        "conditions: [none]", "conditions: [slow: {host.egress: [{delay: {time: 1ms, on: [web]}}]}]"
    )
    path = written(tmp_path, text, FILE.replace("image: nginx", "image: nginx, privileged: true"))
    with pytest.raises(SpecErrors) as refused:
        load_experiment(path)
    assert len(refused.value.problems) == 1


def test_zones_leave_the_place_of_each_service_to_their_author(tmp_path: Path) -> None:
    topology = (
        "{zones: [east, west], uplink: {rate: 1Gbit/s}, rtt: [[1ms, 9ms], [9ms, 1ms]], nodes: {client: east}}"
    )
    text = EXPERIMENT.replace(
        "{hosts: 2, uplink: {rate: 1Gbit/s, delay: 1us}, nodes: {web: h0, client: h1}}", topology
    )
    assert "services without a node (web); place them" in refusal(written(tmp_path, text))


def test_notes_are_shown_by_validate(tmp_path: Path) -> None:
    file = FILE.replace("image: nginx,", "image: nginx, restart: always, ulimits: {nofile: 9},")
    kind, notes = check_file(
        written(tmp_path, EXPERIMENT.replace("    ready: {web: {port: 80}}\n", ""), file)
    )
    assert kind == "experiment"
    assert notes[0].startswith("sub/compose.yaml: line 3: ulimits is ignored")
    assert notes[1] == "ready when they listen, without a healthcheck or `ready`: web (any port)"
    assert any("restart applies" in note for note in notes)


LIMITED = FILE.replace("image: nginx,", "image: nginx, mem_limit: 64m, cpus: 0.5,")


@pytest.mark.parametrize(
    "web",
    ["h0", "{host: h0, memory: 64MiB}", "{host: h0, cpus: 0.5}", "{host: h0, memory: 65536KiB, cpus: 0.5}"],
)
def test_limits_of_services_are_limits_of_their_nodes(tmp_path: Path, web: str) -> None:
    experiment = load_experiment(written(tmp_path, EXPERIMENT.replace("web: h0", f"web: {web}"), LIMITED))
    assert resolve(experiment).topology.limits == {"web": {"memory_bytes": 64 << 20, "cpus_ppm": 500_000}}


@pytest.mark.parametrize(
    ("web", "message"),
    [
        (
            "memory: 1GiB",
            'topology.nodes.web: memory "1GiB" contradicts the 67108864B of compose\'s own files',
        ),
        ("cpus: 1", 'topology.nodes.web: cpus "1" contradicts the 0.5 of compose\'s own files; remove one'),
    ],
)
def test_a_topology_that_limits_a_service_otherwise_is_refused(
    tmp_path: Path, web: str, message: str
) -> None:
    path = written(tmp_path, EXPERIMENT.replace("web: h0", f"web: {{host: h0, {web}}}"), LIMITED)
    assert message in refusal(path)


def test_a_node_that_only_the_topology_limits_keeps_its_limit(tmp_path: Path) -> None:
    written_so = EXPERIMENT.replace("client: h1", "client: {host: h1, memory: 8MiB}")
    limits = resolve(load_experiment(written(tmp_path, written_so, LIMITED))).topology.limits
    assert limits["client"] == {"memory_bytes": 8 << 20, "cpus_ppm": None}
    assert set(limits) == {"web", "client"}


def test_nobody_waits_for_the_load(tmp_path: Path) -> None:
    file = FILE.replace("image: nginx,", "image: nginx, depends_on: [client],").replace(
        ", depends_on: [web]", ""
    )
    assert "load is a dependency of web" in refusal(written(tmp_path, file=file))


def test_errors_of_the_compose_file_have_their_own_places(tmp_path: Path) -> None:
    said = refusal(written(tmp_path, file=FILE.replace("image: nginx", "image: nginx, privileged: true")))
    assert 'shop.yaml:8:11: application.compose: file "sub/compose.yaml" cannot be run:' in said
    assert "\n  sub/compose.yaml:3:23: services.web: privileged needs all privileges" in said


YAML = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-5, 70000),
        st.text(alphabet="ab:/.$${}-= 0129~", max_size=10),
        st.sampled_from(["web", "./conf:/conf", "data:/d", "80:80", "${A:-b}", "1.5G", "always", "host"]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(["source", "target", "type", "test", "context", "limits", "x", "web"]), inner
        ),
    ),
    max_leaves=6,
)


@given(
    st.dictionaries(st.sampled_from(ALL), YAML, max_size=4),
    st.dictionaries(st.sampled_from(_TOP), YAML, max_size=2),
)
def test_any_compose_file_is_read_or_refused_with_places(
    service: dict[str, Any], top: dict[str, Any]
) -> None:
    text = json.dumps({"services": {"web": {"image": "i", **service}}, **top})
    others = {"sub/conf/a": "x", "sub/.env": "A=1"}
    if found := problems(text, others):
        assert all(re.match(r"sub/compose.yaml:[0-9]+:[0-9]+: .", problem) for problem in found)
        return
    read = compose(text, others)
    dumped = json.loads(read.model_dump_json())
    assert restored(ComposeFile, dumped) == read
