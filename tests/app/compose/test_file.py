"""Compose files: what is followed, what is noted, and one error for each thing that stands in the way."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

import pytest

from crosswind.app.compose.mount import Mount
from crosswind.app.compose.order import start_order
from crosswind.app.compose.service import node_name, nodes_of
from crosswind.spec.node_limits import NodeLimits
from crosswind.spec.problems import SpecErrors

sys.path.insert(0, str(Path(__file__).parent))
from written import compose, problems

WHOLE = r"""
version: "3.9"
name: shop
x-note: nothing
services:
  web:
    image: nginx:1
    command: nginx -g "daemon off;"
    environment: [A=1, "B=x=$$y"]
    depends_on: {db: {condition: service_healthy}, migrate: {condition: service_completed_successfully}}
    healthcheck: {test: ["CMD", "curl", "web"], interval: 1m30s, retries: 2, start_period: 500ms}
    ports: ["8080:80", 443]
    expose: [80]
    volumes: ["./site:/usr/share/nginx:ro", "data:/data"]
    working_dir: /srv
    restart: "no"
    labels: {a: b}
  migrate: {image: app, entrypoint: ["/migrate"], depends_on: [db]}
  db: {image: pg, environment: {N: 1}, healthcheck: {test: pg_isready}}
volumes: {data: }
"""
SITE = {"sub/site/index.html": "hello", "sub/site/css/a.css": ""}


def test_services_are_understood() -> None:
    web = compose(WHOLE, SITE).services["web"]
    assert web.command == ["nginx", "-g", "daemon off;"]
    assert web.environment == {"A": "1", "B": "x=$y"}
    assert web.depends_on["db"].condition == "service_healthy"
    assert web.healthcheck is not None
    assert web.healthcheck.test == ["curl", "web"]
    assert web.healthcheck.patience_ns == 500 * 10**6 + 2 * 90 * 10**9
    assert web.ports == ["80/tcp", "443/tcp"]
    assert web.mounts == [
        Mount(kind="bind", source="sub/site", target="/usr/share/nginx", read_only=True),
        Mount(kind="volume", source="data", target="/data"),
    ]
    database = compose(WHOLE, SITE).services["db"].healthcheck
    assert database is not None
    assert database.test == ["/bin/sh", "-c", "pg_isready"]


def test_what_is_bound_is_kept_with_the_results() -> None:
    assert [file.file for file in compose(WHOLE, SITE).files] == ["sub/site/css/a.css", "sub/site/index.html"]


@pytest.mark.parametrize(
    ("keys", "limits"),
    [
        ("mem_limit: 512m, cpus: 0.5", NodeLimits(512 << 20, 0.5)),
        ("mem_limit: 1.5GB, cpus: '2'", NodeLimits(3 << 29, 2.0)),
        ("mem_limit: 8388608", NodeLimits(8 << 20)),
        ("deploy: {resources: {limits: {memory: 64M, cpus: '0.25'}}}", NodeLimits(64 << 20, 0.25)),
        (
            "cpus: 0.25, deploy: {resources: {limits: {memory: 9000kb, cpus: '0.25'}}}",
            NodeLimits(9216000, 0.25),
        ),
        ("deploy: {resources: }", NodeLimits()),
        ("deploy: {mode: global, placement: {constraints: [a]}}", NodeLimits()),
        ("user: me", NodeLimits()),
    ],
)
def test_limits_of_a_service_are_read_wherever_they_stand(keys: str, limits: NodeLimits) -> None:
    file = compose(WHOLE.replace("image: pg,", f"image: pg, {keys},"), SITE)
    assert file.services["db"].limits == limits


def test_services_start_behind_what_they_depend_on() -> None:
    assert start_order(compose(WHOLE, SITE).services) == (["db", "migrate", "web"], [])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("image: pg,", "image: pg, privileged: true,", "privileged needs all privileges"),
        ("image: pg,", "image: pg, comand: x,", 'unknown key "comand"; did you mean "command"?'),
        ("image: pg,", "image: pg, restart: sometimes,", 'restart "sometimes" is not a policy'),
        ("image: pg,", "image: 'pg:${TAG:?say which}',", "needs a value for TAG: say which"),
        ("image: pg,", "image: 'pg:${TAG',", "has an unknown form of a variable"),
        ("image: pg,", "command: x, user: me,", "has a user but no image"),
        ("image: pg,", "", "has neither an image nor a command"),
        ("image: pg,", "build: app,", 'has the context "app", which has no files'),
        ("image: pg,", "build: {context: ., ssh: x},", 'has "ssh", which uses keys'),
        ("image: pg,", "image: pg, devices: [/dev/kvm],", "devices needs devices"),
        ("image: pg,", "image: pg, sysctls: {net.core.somaxconn: 1},", "sysctls changes settings"),
        ("image: pg,", "image: pg, cap_add: [SYS_ADMIN],", "cap_add SYS_ADMIN lets a service change"),
        ("image: pg,", "image: pg, platform: wasi/wasm,", 'platform "wasi/wasm" is not Linux'),
        ("image: pg,", "image: pg, runtime: runsc,", 'runtime "runsc" is not supported'),
        ("image: pg,", "image: pg, network_mode: 'service:web',", "shares the network of another"),
        ("image: pg,", "image: pg, networks: [back],", '"back", which is not a network of the file'),
        ("image: pg,", "image: pg, secrets: [key],", '"key" is not a secret of the file'),
        (
            "image: pg,",
            "image: pg, env_file: [{path: x, format: raw}],",
            'with "format", which is not supported',
        ),
        ("image: pg,", "image: pg, env_file: db.env,", '"db.env", which does not exist'),
        (
            "image: pg,",
            "image: pg, extends: {service: pq},",
            'extends names "pq", which is not a service there',
        ),
        ("image: pg,", "image: pg, extends: {service: db},", "forms a cycle: db -> db"),
        ("image: pg,", "image: pg, deploy: {replicas: many},", '"many" must be a whole number'),
        (
            "image: pg,",
            "image: pg, volumes: [/var/run/docker.sock:/s],",
            "is the socket of a container engine",
        ),
        ("image: pg,", "image: pg, volumes: [/proc:/host],", "would let a trial change this machine"),
        ("image: pg,", "image: pg, volumes: [{type: bind, target: /a}],", "has no source"),
        ("image: pg,", "image: pg, ports: [http],", '"http" is not a port'),
        ("image: pg,", "image: pg, extra_hosts: ['h:host-gateway'],", "this machine itself"),
        ("image: pg,", "image: pg, x-crosswind: {command: a, package: redis},", "is not a package"),
        ("[db]", "[dbb]", 'dbb is not a service that takes part; did you mean "db"?'),
        ("{N: 1}", "{N: true}", '"true" is not text'),
        ("1m30s", "90", '"90" is not a duration; write such as'),
        ('["CMD",', '["CMD-SHELL",', "is not a test"),
        ("data:/data", "dat:/data", '"dat" is not a volume of the file'),
        ("data:/data", "data:data", "is not a volume"),
        ("data:/data", "data:/data:rx", "has the mode rx"),
        ("{data: }", "{data: , a/b: }", '"a/b" is not a name; use letters'),
        ("image: pg,", "image: pg, tmpfs: run,", '"run" is not a path in the service'),
        ("{data: }", "{data: {driver: nfs}}", 'driver "nfs" is not supported'),
        ("{data: }", "{data: {driver_opts: {device: /x}}}", "has driver_opts, which select a folder"),
        ("healthcheck: {test: pg_isready}", "depends_on: [web]", "forms a cycle: web -> db -> web"),
        ('"daemon off;"', '"daemon off;', "cannot be split into words"),
        ("x-note: nothing", "network: {a: }", 'unknown key "network"'),
        ("x-note: nothing", "include: [more.yaml]", "cannot be read"),
        ("migrate: {image", "WEB: {image: a}\n  migrate: {image", "has the node web, which is also that of"),
        ("image: pg,", "image: pg, mem_limit: 1m,", "mem_limit 1048576 bytes are too few for a process"),
        ("image: pg,", "image: pg, mem_limit: 1TiB,", '"1TiB" is not a byte value; write such as 512m'),
        ("image: pg,", "image: pg, cpus: 0,", '"0.0" is outside 0.01 to 1024 CPUs'),
        ("image: pg,", "image: pg, cpus: half,", '"half" is not a number of CPUs'),
        (
            "image: pg,",
            "image: pg, mem_limit: 1g, deploy: {resources: {limits: {memory: 2g}}},",
            "has another mem_limit than the 2147483648B of its deploy.resources.limits",
        ),
    ],
)
def test_what_is_refused_is_one_error_with_its_place(old: str, new: str, message: str) -> None:
    assert old in WHOLE
    found = problems(WHOLE.replace(old, new, 1), SITE)
    assert len(found) == 1, found
    assert message in found[0]
    file, line, column, _ = found[0].split(":", 3)
    assert file == "sub/compose.yaml"
    assert line.isdecimal()
    assert column.isdecimal()


NOTED = """
services:
  web:
    image: nginx
    restart: always
    stdin_open: true
    ulimits: {nofile: 1024}
    user: root
    ports: ["80:80"]
    cap_add: [NET_BIND_SERVICE]
    volumes: ["/srv/data:/data", "./conf:/conf"]
  db:
    image: pg
    restart: always
"""


def test_what_has_no_effect_is_noted_once_for_all_its_places() -> None:
    file = compose(NOTED)
    (restart,) = (note for note in file.without_effect if " restart " in note)
    assert restart.startswith("sub/compose.yaml: lines 5, 14: restart applies until")
    assert any("line 6: stdin_open has no effect" in note for note in file.without_effect)
    assert any("line 9: ports has no effect" in note for note in file.without_effect)


def test_what_readers_of_results_have_to_know_is_a_note_of_its_own() -> None:
    notes = "\n".join(compose(NOTED).notes)
    for part in (
        "line 7: ulimits",
        "line 8: user is ignored",
        "cap_add",
        "/srv/data is copied for each trial",
        "sub/conf has no files",
    ):
        assert part in notes


def test_variables_come_from_the_experiment_then_from_dotenv_then_defaults() -> None:
    text = "services: {a: {image: '${X}-${Y}-${Z:-z}-${N}'}}"
    file = compose(text, {"sub/.env": "X=env\nY=env"}, variables={"X": "own"})
    assert file.services["a"].image == "own-env-z-"
    assert [note for note in file.notes if "${N} has no value" in note]
    assert "sub/.env" in [named.file for named in file.files]


def test_environment_overrides_its_files() -> None:
    text = """
services:
  a: {image: i, env_file: [one.env, {path: two.env, required: false}], environment: {B: own, C: , PASS: }}
"""
    others = {"sub/one.env": "A=file\nB=file", "sub/.env": "PASS=word"}
    file = compose(text, others)
    assert file.services["a"].environment == {"A": "file", "B": "own", "PASS": "word"}
    assert any("two.env" in note for note in file.without_effect)


def test_a_service_may_extend_another_and_merge_keys_are_followed() -> None:
    text = """
x-common: &common {restart: always, environment: {A: 1, B: 1}}
services:
  base: {<<: *common, image: base, command: one, volumes: ["v:/data", "w:/more"]}
  a: {extends: base, command: two, environment: [B=2], volumes: ["u:/data"]}
  c: {extends: {service: far, file: more/far.yaml}}
volumes: {u: , v: , w: }
"""
    far = "services: {far: {image: far, volumes: ['./x:/x']}}"
    file = compose(text, {"sub/more/far.yaml": far, "sub/more/x/f": ""})
    service = file.services["a"]
    assert (service.image, service.command, service.restart) == ("base", ["two"], "always")
    assert service.environment == {"A": "1", "B": "2"}
    assert [(mount.source, mount.target) for mount in service.mounts] == [("w", "/more"), ("u", "/data")]
    assert [mount.source for mount in file.services["c"].mounts] == ["sub/more/x"]


def test_included_files_bring_their_services() -> None:
    text = "include: [more/db.yaml]\nservices: {web: {image: w, depends_on: [db]}}"
    more = "services: {db: {image: d, volumes: ['v:/d']}}\nvolumes: {v: }"
    assert set(compose(text, {"sub/more/db.yaml": more}).services) == {"db", "web"}
    (circle,) = problems(text, {"sub/more/db.yaml": "include: [../compose.yaml]\nservices: {db: {image: d}}"})
    assert "includes itself" in circle


def test_profiles_decide_who_takes_part() -> None:
    text = "services: {a: {image: a}, b: {image: b, profiles: [debug]}}"
    assert set(compose(text).services) == {"a"}
    assert any("b has no active profile" in note for note in compose(text).notes)
    assert set(compose(text, profiles=["debug"]).services) == {"a", "b"}
    assert set(compose(text, wanted=["b"]).services) == {"a", "b"}


def test_replicas_are_nodes() -> None:
    service = compose("services: {web_app: {image: w, deploy: {replicas: 3}}}").services["web_app"]
    assert nodes_of("web_app", service) == ["web-app", "web-app-2", "web-app-3"]
    found = compose("services: {a: {image: w, scale: 0}, b: {image: b}}")
    assert set(found.services) == {"b"}
    assert any("a has no replicas" in note for note in found.notes)


@pytest.mark.parametrize(
    ("service", "node"), [("web", "web"), ("Web_App.1", "web-app-1"), ("9lives", "n-9lives"), ("_", "n")]
)
def test_nodes_are_called_like_services_as_far_as_they_can(service: str, node: str) -> None:
    assert node_name(service) == node


def test_secrets_and_configs_are_files() -> None:
    text = """
services:
  a:
    image: i
    secrets: [key, {source: word, target: /etc/word}]
    configs: [{source: conf, target: /etc/conf}, plain]
    tmpfs: /run
secrets: {key: {file: ./key.txt}, word: {environment: WORD}}
configs: {conf: {content: "x=${WORD}"}, plain: {file: plain.conf}}
"""
    others = {"sub/key.txt": "k", "sub/.env": "WORD=w", "sub/plain.conf": "p"}
    mounts = compose(text, others).services["a"].mounts
    assert [(mount.kind, mount.source, mount.target) for mount in mounts] == [
        ("own", "", "/run"),
        ("bind", "sub/key.txt", "/run/secrets/key"),
        ("text", "w", "/etc/word"),
        ("text", "x=w", "/etc/conf"),
        ("bind", "sub/plain.conf", "/plain"),
    ]
    (missing,) = problems(text, {"sub/.env": "WORD=w", "sub/plain.conf": "p"})
    assert "file of the secret key" in missing


def test_no_target_leads_out_of_a_service() -> None:
    text = """
services:
  a:
    image: i
    volumes: ["/x/../../y", "./b:/b/../c"]
    tmpfs: [/../t]
    secrets: [{source: k, target: ../../k}]
secrets: {k: {environment: K}}
"""
    found = compose(text, {"sub/b/f": "", "sub/.env": "K=k"}).services["a"].mounts
    assert [mount.target for mount in found] == ["/y", "/c", "/t", "/k"]


def test_long_volumes_are_read_like_short_ones() -> None:
    text = """
services:
  a:
    image: i
    volumes:
    - {type: volume, source: v, target: /v, volume: {nocopy: true}}
    - {type: bind, source: b, target: /b, read_only: true}
    - {type: tmpfs, target: /t}
    - /anonymous
volumes: {v: }
"""
    assert compose(text, {"sub/b/f": ""}).services["a"].mounts == [
        Mount(kind="volume", source="v", target="/v", fresh=True),
        Mount(kind="bind", source="sub/b", target="/b", read_only=True),
        Mount(kind="own", source="", target="/t", fresh=True),
        Mount(kind="own", source="", target="/anonymous"),
    ]


def test_an_address_of_ones_own_is_refused_only_where_something_relies_on_it() -> None:
    text = """
services:
  dns: {image: d, networks: {net: {ipv4_address: 172.20.0.2}}}
  web: {image: w, environment: {DNS: WHERE}, networks: [net]}
networks: {net: {ipam: {config: [{subnet: 172.20.0.0/24}]}}}
"""
    assert any("ipv4_address is ignored" in note for note in compose(text).notes)
    (problem,) = problems(text.replace("WHERE", "172.20.0.2:53"))
    assert problem.startswith("sub/compose.yaml:3:19: services.dns: networks has the address 172.20.0.2")
    assert "which line 4 uses" in problem


def test_every_truncation_is_read_or_refused() -> None:
    for length in range(0, len(WHOLE), 7):
        with contextlib.suppress(SpecErrors):
            compose(WHOLE[:length], SITE)
