"""Held against compose-go, the implementation inside Docker Compose, where its program is at hand.

cp -r tests/app/compose/reference /tmp/reference && cd /tmp/reference
go mod init reference && go get github.com/compose-spec/compose-go/v2@v2.16.2
go mod tidy && go build -o /tmp/compose-reference .
CROSSWIND_COMPOSE_REFERENCE=/tmp/compose-reference pytest tests/app/compose/test_reference.py
"""

from __future__ import annotations

import json
import os
import posixpath
import random
import subprocess
from pathlib import Path
from typing import Any

import pytest

from crosswind.app.compose.dotenv import read_variables
from crosswind.app.compose.file import read_compose
from crosswind.app.compose.files import ComposeFiles
from crosswind.app.compose.interpolate import interpolated
from crosswind.app.compose.service import Service
from crosswind.spec.document import parse_document
from crosswind.spec.problems import SpecErrors

PROGRAM, CHECKOUT = "CROSSWIND_COMPOSE_REFERENCE", "CROSSWIND_COMPOSE_EXAMPLES"
VALUES = {"SET": "value", "EMPTY": "", "OTHER": "other"}

pytestmark = pytest.mark.skipif(
    PROGRAM not in os.environ, reason=f"{PROGRAM} names no program; see this file"
)


def asked(kind: str, texts: list[str]) -> list[Any]:
    """Return what the reference answers; None for an error."""
    lines = "".join(json.dumps({"kind": kind, "text": text}) + "\n" for text in texts)
    done = subprocess.run([os.environ[PROGRAM]], input=lines, capture_output=True, text=True, check=True)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(texts)
    return [None if isinstance(found, dict) and found.keys() == {"error"} else found for found in answers]


def template(draw: random.Random, depth: int = 0) -> str:
    found = ""
    for _ in range(draw.randint(0, 3)):
        kind = draw.random()
        if kind < 0.4:
            found += draw.choice(["a", "-", ":", " ", "/", "?", "+", "'", '"', "#", "=", "$$"])
        elif kind < 0.55:
            found += "$" + draw.choice(["SET", "EMPTY", "NONE", "OTHER"]) + draw.choice(["", " ", "/"])
        else:
            name = draw.choice(["SET", "EMPTY", "NONE", "OTHER"])
            sign = draw.choice(["", ":-", "-", ":+", "+", ":?", "?"])
            found += f"${{{name}{sign}{template(draw, depth + 1) if sign and depth < 3 else ''}}}"
    return found


WRITTEN = (
    "plain", "with space", "a#b", "a # c", "'single $SET'", '"double $SET"', '"e\\nf"', '"q\\"q"', "a=b",
    "${SET}", "$A", "", "${NONE:-d}", "${EMPTY:+x}y", "'two\nlines'", '"two\nlines" # c', "  space  ", "'x'",
    "a: b",
)  # fmt: skip


def variables(draw: random.Random) -> str:
    lines = []
    for _ in range(draw.randint(1, 4)):
        name, sign = draw.choice(["A", "B", "C", "SET"]), draw.choice(["=", "= ", ": ", " = "])
        lines.append(draw.choice(["", "export ", "  "]) + name + sign + draw.choice(WRITTEN))
        lines += draw.choice([[], [""], ["# c"]])
    return "\n".join(lines)


def test_templates_have_the_values_that_compose_gives_them() -> None:
    draw = random.Random(7)
    texts = [template(draw) for _ in range(3000)]
    for text, expected in zip(texts, asked("template", texts), strict=True):
        try:
            found = interpolated(text, VALUES, lambda name: None)
        except ValueError:
            found = None
        assert found == expected, text


def test_files_of_variables_have_the_values_that_compose_gives_them() -> None:
    draw = random.Random(7)
    texts = [variables(draw) for _ in range(1500)]
    for text, expected in zip(texts, asked("variables", texts), strict=True):
        assert read_variables(text.encode(), VALUES, lambda name: None) == expected, text


FILES = {
    "compose.yaml": """
x-common: &common
  restart: always
  environment: {A: 1, B: 1.5, Z: "${ZED}"}
services:
  base:
    <<: *common
    image: base
    command: one "two three"
    volumes: ["v1:/data", "v2:/more:ro"]
    env_file: [one.env]
    depends_on: [far]
  a:
    extends: base
    command: [two, "x y"]
    environment: [B=2, "D=$$x"]
    volumes: ["v3:/data", "./conf:/c"]
    depends_on: {c: {condition: service_healthy}}
    ports: ["3000-3002:80-82", "127.0.0.1:5000:5000/udp"]
  c: {extends: {service: far, file: more/far.yaml}, healthcheck: {interval: 5s}}
  far:
    extends: {service: far, file: more/far.yaml}
    deploy: {replicas: 2, resources: {limits: {memory: 1.5G, cpus: "0.5"}}}
volumes: {v1: , v2: , v3: }
""",
    "more/far.yaml": """
services:
  far:
    image: "far:${TAG:-latest}"
    volumes: ['./x:/x', '/anonymous']
    healthcheck: {test: [CMD, ok], retries: 7}
    environment: [FROM=far]
""",
    ".env": 'ZED="z z"\nTAG=9\n',
    "one.env": "ONE=1\nA=file\nQ='$ZED'\n",
    "conf/file": "",
    "more/x/file": "",
}


@pytest.fixture
def paths(tmp_path: Path) -> list[Path]:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    checkout = os.environ.get(CHECKOUT)
    examples = [] if checkout is None else sorted(Path(checkout).absolute().rglob("*compose.y*ml"))
    return [tmp_path / "compose.yaml", *examples]


def test_services_are_those_that_compose_runs(paths: list[Path]) -> None:
    compared = 0
    for path, expected in zip(paths, asked("file", [str(path) for path in paths]), strict=True):
        beside = parse_document(b"", str(path.parent / "experiment.yaml"))
        try:
            file = read_compose(path.name, ComposeFiles(beside.named_file, beside.files_below), variables={})
        except SpecErrors:
            continue
        assert set(file.services) == set(expected["services"]), path
        for name, service in file.services.items():
            assert ours(service) == theirs(expected["services"][name], path.parent), (path, name)
            compared += 1
    assert compared >= 4


def ours(service: Service) -> dict[str, Any]:
    health = service.healthcheck
    return {
        "environment": service.environment,
        "command": service.command,
        "entrypoint": service.entrypoint,
        "image": None if service.build else service.image,
        "depends_on": {name: each.condition for name, each in service.depends_on.items()},
        "restart": service.restart,
        "ports": sorted(service.ports),
        "volumes": sorted(
            (
                {"own": "volume", "host": "bind"}.get(mount.kind, mount.kind),
                mount.source,
                mount.target,
                mount.read_only,
            )
            for mount in service.mounts
            if not mount.target.startswith("/run/secrets/")
        ),
        "healthcheck": None if health is None else (health.test, health.retries),
        "memory": service.limits.memory_bytes,
        "replicas": service.replicas,
    }


def theirs(service: dict[str, Any], folder: Path) -> dict[str, Any]:
    deploy = service.get("deploy") or {}
    limits = (deploy.get("resources") or {}).get("limits") or {}
    ports = [f"{port['target']}/{port['protocol']}" for port in service.get("ports") or []]
    ports += [port if "/" in port else f"{port}/tcp" for port in service.get("expose") or []]
    health = service.get("healthcheck") or {}
    test = health.get("test")
    if test is not None:
        test = test[1:] if test[0] == "CMD" else ["/bin/sh", "-c", *test[1:]]
    return {
        "environment": service.get("environment") or {},
        "command": service.get("command"),
        "entrypoint": service.get("entrypoint"),
        "image": None if service.get("build") else service.get("image"),
        "depends_on": {name: each["condition"] for name, each in (service.get("depends_on") or {}).items()},
        "restart": service.get("restart") or "no",
        "ports": sorted(set(ports)),
        "volumes": sorted(
            (each["type"], _source(each, folder), each["target"].rstrip("/"), bool(each.get("read_only")))
            for each in service.get("volumes") or []
        ),
        "healthcheck": None if test is None else (test, health.get("retries") or 3),
        "memory": int(limits["memory"]) if "memory" in limits else None,
        "replicas": deploy.get("replicas") or service.get("scale") or 1,
    }


def _source(volume: dict[str, Any], folder: Path) -> str:
    source: str = volume.get("source") or ""
    is_beside = volume["type"] == "bind" and Path(source).is_relative_to(folder)
    return posixpath.relpath(source, folder) if is_beside else source
