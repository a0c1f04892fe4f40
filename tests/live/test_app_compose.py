"""A user's compose file, end to end: images of our own making on nodes of their own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "app" / "compose"))
from archives import layer, save, with_programs

if TYPE_CHECKING:
    from conftest import Live

EXPERIMENT = """
name: live
topology:
  hosts: 3
  uplink: {rate: 1Gbit/s, delay: 100us, buffer: 512KiB}
  wait: sleep
  nodes: {seed: h0, web: h1, client: h2}
conditions: [none, slow: {host.egress: [{police: {rate: 20Mbit/s, burst: 20kB, on: [web]}}]}]
trials: {repeat: REPEAT, rest: 0s, seed: 7}
application:
  compose:
    file: compose.yaml
    load: client
    images: {ours: IMAGE}
    files: [conf/words.txt]
    metrics:
      transfer: {json: seconds, in: out/result.json, unit: s, better: lower}
"""
# A shell and crosswind-load are all that the image has. The load measures how long 50 kB take.
COMPOSE = """
services:
  seed:
    image: ours
    command: [sh, -c, "echo prepared > /data/mark"]
    volumes: ["data:/data"]
  web:
    image: ours
    depends_on: {seed: {condition: service_completed_successfully}}
    command: [sh, -c, "read words < /conf/words.txt; read mark < /data/mark; echo $$words $$mark $$ROLE; exec crosswind-load rpc-serve --listen 0.0.0.0:7077"]
    environment: {ROLE: server}
    mem_limit: 256m
    volumes: ["./conf:/conf:ro", "data:/data:ro"]
    healthcheck: {test: [CMD-SHELL, "while read -r line; do case $$line in *:1BA5*0A*) exit 0;; esac; done < /proc/net/tcp; exit 1"], interval: 1s, retries: 10}
  client:
    image: ours
    depends_on: {web: {condition: service_healthy}}
    command: [sh, -c, "[ ! -e /usr ] && : > out/written && crosswind-load rpc --server web:7077 --request-bytes 100 --response-bytes 50000 --connections 1 --duration 0.5 --warm-up 0 --seed 1 --samples ops.csv --summary sum.json && exec sh measure"]
    working_dir: /app
volumes: {data: }
"""  # noqa: E501
# The mean time of a call, from the summary: duration over operations, by the shell alone.
MEASURE = b"""while read -r key value; do case $key in '"operations":') n=${value%,};; '"started_ns":') a=${value%,};; '"finished_ns":') b=${value%,};; esac; done < sum.json
us=$(((b - a) / n / 1000))
echo "{\\"seconds\\": 0.$(printf %06d $us)}" > out/result.json
"""  # noqa: E501


@pytest.fixture
def compose(live: Live) -> str:
    """Write the experiment with its compose file, its image and the root of it; return its name."""
    if shutil.which("ldd") is None:
        pytest.skip("no ldd, which says what libraries a root file system of our own needs")
    entries = with_programs("/bin/sh", live.env["CROSSWIND_LOAD"])
    entries |= {"app": None, "app/out": None, "app/measure": MEASURE, "data": None}
    root = layer(entries)
    (live.folder / "root.tar").write_bytes(root)
    image = save(live.folder / "ours.tar", [root], {"Env": ["PATH=/bin"], "Cmd": ["false"]})
    (live.folder / "conf").mkdir()
    (live.folder / "conf/words.txt").write_text("from the file\n")
    (live.folder / "compose.yaml").write_text(COMPOSE)
    (live.folder / "live.yaml").write_text(EXPERIMENT.replace("IMAGE", str(image)).replace("REPEAT", "3"))
    live.env["CROSSWIND_CACHE_DIR"] = str(live.folder / "cache")
    return "live.yaml"


def test_a_token_bucket_slows_the_services_of_a_compose_file(live: Live, compose: str) -> None:
    live.measured(compose)
    folder = live.run_folder
    select = (
        f"SELECT value FROM '{folder}/metrics.parquet' JOIN '{folder}/trials.parquet' USING (trial) "
        "WHERE metric = 'transfer' AND condition = '{}' AND fidelity <> 'void'"
    )
    free, slow = (
        [value for (value,) in duckdb.sql(select.format(name)).fetchall()] for name in ("none", "slow")
    )
    assert len(free) == len(slow) == 3
    assert min(slow) > max(free)
    for trial in folder.glob("logs/b*"):
        assert (trial / "web/web.out").read_text().startswith("from the file prepared server\n")
    for file in folder.glob("monitors/*.json"):
        (web,) = (node for node in json.loads(file.read_text())["nodes"] if node["node"] == "web")
        assert web["memory_limit"]["bytes"] == 256 << 20


@pytest.mark.parametrize("tool", ["podman", "docker"])
def test_an_image_that_no_file_is_named_for_is_taken_from(live: Live, compose: str, tool: str) -> None:
    def use(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([tool, *arguments], capture_output=True, text=True, check=False)

    if shutil.which(tool) is None:
        pytest.skip(f"{tool} is not here")
    if (asked := use("image", "ls")).returncode != 0:
        pytest.skip(f"{tool}: {asked.stderr.strip()}")
    # Of a name that nobody else has, so that the other tool is asked in vain.
    image = f"crosswind-test-{uuid.uuid4().hex}:1"
    brought = use("import", "--change", "ENV PATH=/bin", str(live.folder / "root.tar"), image)
    assert brought.returncode == 0, brought.stderr
    try:
        (live.folder / "compose.yaml").write_text(COMPOSE.replace("image: ours", f"image: {image}"))
        text = EXPERIMENT.replace("    images: {ours: IMAGE}\n", "").replace("REPEAT", "1")
        (live.folder / compose).write_text(text)
        # Where the tool reads what to speak to.
        live.env = {**os.environ, **live.env}
        live.measured(compose)
    finally:
        use("image", "rm", image)
    logs = [log.read_text() for log in live.run_folder.glob("logs/b*/web/web.out")]
    assert [log.splitlines()[0] for log in logs] == ["from the file prepared server"] * 2


@pytest.mark.skipif(os.geteuid() != 0, reason="without root every process runs as the user")
def test_a_service_runs_as_its_user(live: Live, compose: str) -> None:
    says = (
        "while read -r key value rest; do case $$key in Uid:) echo runs as $$value;; esac; done "
        "< /proc/self/status; > /app/mine && > /data/mine && exec"
    )
    text = COMPOSE.replace("exec crosswind-load rpc-serve", f"{says} crosswind-load rpc-serve")
    text = text.replace("data:/data:ro", "data:/data").replace(
        "ROLE: server}", "ROLE: server}\n    user: 4321:1234"
    )
    (live.folder / "compose.yaml").write_text(text)
    (live.folder / compose).write_text((live.folder / compose).read_text().replace("repeat: 3", "repeat: 1"))
    live.measured(compose)
    for trial in live.run_folder.glob("logs/b*"):
        assert "runs as 4321\n" in (trial / "web/web.out").read_text()


def test_a_compose_file_needs_no_root(live: Live, compose: str) -> None:
    if os.geteuid() != 0:
        pytest.skip("is rootless already: the other test covers it")
    text = (live.folder / compose).read_text().replace("repeat: 3", "repeat: 1")
    (live.folder / compose).write_text(text)
    for path in (live.folder, *live.folder.rglob("*")):
        os.chown(path, 65534, 65534)
    live.env["HOME"] = str(live.folder)
    as_nobody = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
    status, said = live.run("run", compose, prefix=as_nobody)
    if status == 3 or "Permission denied: '/root" in said:
        pytest.skip(said)
    live.check_measured(status, said)


WHOLE = """
services:
  store_one:
    image: ours
    scale: 2
    hostname: the.store
    container_name: shelf
    networks: [back]
    secrets: [key]
    environment: ["WORD=${WORD:-none}", "PORT=${PORT:-7077}"]
    volumes: ["./conf:/conf", "/conf/inner", "made:/made"]
    command:
    - sh
    - -c
    - |
      read host < /proc/sys/kernel/hostname; read key < /run/secrets/key; read word < /conf/words.txt
      echo $$host $$key $$word $$WORD
      while read line; do echo "$$line"; done < /etc/hosts
      echo x > /conf/written && echo y > /conf/inner/z && exec crosswind-load rpc-serve --listen 0.0.0.0:$$PORT
  flaky:
    image: ours
    restart: on-failure
    volumes: ["again:/again"]
    command: [sh, -c, "[ -e /again/once ] && exec crosswind-load rpc-serve --listen 0.0.0.0:7078; : > /again/once; exit 1"]
  server:
    image: not-here
    x-crosswind: {command: [LOAD, rpc-serve, --listen, "0.0.0.0:7079"]}
  idle: {image: not-here-either, profiles: [never]}
networks: {back: }
volumes: {made: , again: }
secrets: {key: {file: key.txt}}
"""  # noqa: E501
OUTSIDE = """
name: live
topology: {uplink: {rate: 1Gbit/s, delay: 100us}}
conditions: [none]
trials: {repeat: 1, rest: 0s, seed: 7, limits: {void: accept}}
application:
  compose:
    file: compose.yaml
    load:
      command: "LOAD rpc --server store-one-2:7077 --request-bytes 100 --response-bytes 5000 --connections 1 --duration 0.3
        --warm-up 0 --seed {seed} --samples ops.csv --summary sum.json && echo {address:store-one} $NAME"
      environment: {NAME: outside}
    images: {ours: IMAGE}
    metrics: {took: {elapsed: true, better: lower}, operations: {json: operations, in: sum.json, unit: count, better: higher}}
"""  # noqa: E501


def test_a_file_as_people_have_it_is_measured_by_a_load_outside_of_it(live: Live, compose: str) -> None:
    program = live.env["CROSSWIND_LOAD"]
    (live.folder / "compose.yaml").write_text(WHOLE.replace("LOAD", program))
    (live.folder / "key.txt").write_text("secret\n")
    (live.folder / ".env").write_text("WORD='from dotenv'\n")
    image = str(live.folder / "ours.tar")
    (live.folder / compose).write_text(OUTSIDE.replace("IMAGE", image).replace("LOAD", program))
    live.measured(compose)
    for trial in live.run_folder.glob("logs/b*"):
        assert (trial / "load/load.out").read_text() == "10.77.0.1 outside\n"
        for node, other in (("store-one", "store-one-2"), ("store-one-2", "store-one")):
            first, *names = (trial / node / f"{node}.out").read_text().splitlines()
            assert first == "the.store secret from the file from dotenv"
            lines = [line.split() for line in names if line[0] in "0123456789:"]
            found = {name for line in lines for name in line[1:]}
            assert found == {"localhost", "the.store", node, other, "store_one", "shelf", "load"}
    # Nothing that services write comes back.
    assert sorted(path.name for path in (live.folder / "conf").iterdir()) == ["words.txt"]
    files = json.loads((live.run_folder / "resolved.json").read_text())["application"]["files"]
    assert [entry["file"] for entry in files] == [".env", "compose.yaml", "conf/words.txt", "key.txt"]
