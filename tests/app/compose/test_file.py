"""Compose files: what is understood, and an error for everything else."""

from __future__ import annotations

import pytest

from crosswind.app.compose.file import ComposeFile, parse_compose
from crosswind.app.compose.order import start_order
from crosswind.app.compose.service import Mount
from crosswind.spec.node_limits import NodeLimits
from crosswind.spec.text_lines import LineError

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


def parsed() -> ComposeFile:
    return parse_compose(WHOLE.encode())


def test_services_are_understood() -> None:
    web = parsed().services["web"]
    assert web.command == ["nginx", "-g", "daemon off;"]
    assert web.environment == {"A": "1", "B": "x=$y"}
    assert web.depends_on["db"].condition == "service_healthy"
    assert web.healthcheck is not None
    assert web.healthcheck.test == ["curl", "web"]
    assert web.healthcheck.patience_ns == 500 * 10**6 + 2 * 90 * 10**9
    assert web.volumes == [
        Mount(source="./site", target="/usr/share/nginx", read_only=True),
        Mount(source="data", target="/data", read_only=False),
    ]
    database = parsed().services["db"].healthcheck
    assert database is not None
    assert database.test == ["/bin/sh", "-c", "pg_isready"]


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
        ("user: me", NodeLimits()),
    ],
)
def test_limits_of_a_service_are_read_wherever_they_stand(keys: str, limits: NodeLimits) -> None:
    file = parse_compose(WHOLE.replace("image: pg,", f"image: pg, {keys},").encode())
    assert file.services["db"].limits == limits


def test_services_start_behind_what_they_depend_on() -> None:
    assert start_order(parsed().services) == (["db", "migrate", "web"], [])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("image: pg,", "image: pg, privileged: true,", 'unknown key "privileged"; keys are image, command'),
        ("image: pg,", "image: pg, comand: x,", 'unknown key "comand"; did you mean "command"?'),
        ("image: pg,", "image: pg, build: .,", 'unknown key "build"'),
        ("image: pg,", "image: pg, restart: always,", 'restart "always" must be "no"'),
        ("image: pg,", "image: 'pg:${TAG}',", '"pg:${TAG}" takes a value from outside the file'),
        ("image: pg,", "command: x, user: me,", "has a user and no image"),
        ("image: pg,", "", "has neither an image nor a command"),
        ("[db]", "[dbb]", 'dbb is no service; did you mean "db"?'),
        ("{N: 1}", "{N: }", "an empty value is not text"),
        ("[A=1,", "[A,", "has no value; write A=VALUE"),
        ("1m30s", "90", '"90" is not a duration; write such as'),
        ('["CMD",', '["NONE",', "is not a test"),
        ("data:/data", "dat:/data", '"dat" is no volume of the file'),
        ("data:/data", "/etc:/data", "would let a trial change the host"),
        ("data:/data", "data:data", "is not a volume"),
        ("{data: }", "{data: {driver: nfs}}", "data has options"),
        ("healthcheck: {test: pg_isready}", "depends_on: [web]", "leads in a circle: web -> db -> web"),
        ("healthcheck: {test: pg_isready}", "expose: [1]", "has to be healthy, and db has no healthcheck"),
        ('"daemon off;"', '"daemon off;', "cannot be split into words"),
        ("x-note: nothing", "networks: {a: }", 'unknown key "networks"'),
        ("image: pg,", "image: pg, mem_limit: 1m,", "mem_limit 1048576 bytes do not hold a process"),
        ("image: pg,", "image: pg, mem_limit: 1TiB,", '"1TiB" is not a byte value; write such as 512m'),
        ("image: pg,", "image: pg, cpus: 0,", '"0.0" is outside 0.01 to 1024 processors'),
        ("image: pg,", "image: pg, cpus: half,", '"half" is not a number of processors'),
        (
            "image: pg,",
            "image: pg, deploy: {replicas: 2, mode: global},",
            'deploy has "replicas": a service is one node; write a service for each replica; has "mode"',
        ),
        (
            "image: pg,",
            "image: pg, deploy: {resources: {reservations: {cpus: '1'}}},",
            'resources has "reservations": nothing is reserved for a node',
        ),
        (
            "image: pg,",
            "image: pg, deploy: {resources: {limits: {pids: 5}}},",
            'limits has "pids": processes of a node are not counted',
        ),
        (
            "image: pg,",
            "image: pg, mem_limit: 1g, deploy: {resources: {limits: {memory: 2g}}},",
            "has another mem_limit than the 2147483648B of its deploy.resources.limits",
        ),
    ],
)
def test_what_is_not_understood_is_an_error_with_its_place(old: str, new: str, message: str) -> None:
    assert old in WHOLE
    with pytest.raises(LineError) as refused:
        parse_compose(WHOLE.replace(old, new, 1).encode())
    lines = [line for line in str(refused.value).splitlines() if message in line]
    assert lines, str(refused.value)
    # Every error has a line and a column in front.
    assert all(line.split(":")[0].strip().isdecimal() for line in lines)


def test_every_truncation_is_read_or_refused() -> None:
    for length in range(0, len(WHOLE), 7):
        try:
            parse_compose(WHOLE[:length].encode())
        except LineError:
            continue
