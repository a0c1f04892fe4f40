"""A user's own application, end to end: real servers, real clients, and what goes wrong with them."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

if TYPE_CHECKING:
    from conftest import Live

HEAD = """
name: live
topology:
  hosts: 2
  uplink: {rate: 1Gbit/s, delay: 100us, buffer: 512KiB}
  wait: sleep
  nodes: {server: h0, client: h1}
conditions: CONDITIONS
trials: {repeat: REPEAT, rest: 0s, seed: 7}
application:
  command:
"""
DOWNLOAD = """
    roles:
      server: {command: [/usr/bin/python3, serve.py], ready: {port: 8080}, files: [serve.py]}
      client:
        command: [/usr/bin/python3, fetch.py, "{address:server}", "{seed}"]
        files: [fetch.py]
        environment: {NODE: "{address:client}"}
    load: client
    metrics:
      speed: {json: bytes_per_s, unit: B/s, better: higher}
      transfer: {regex: 'took (?P<value>[0-9.]+) (?P<unit>ms|s)', in: log.txt, unit: s, better: lower}
      chunk: {samples: chunks.csv, column: gap_us, unit: us, better: lower}
      took: {elapsed: true, better: lower}
"""
# A server and a client as users have them. 500 kB at 20 Mbit/s takes 200 ms; nothing else a tenth of that.
SERVE = """
import socket
listener = socket.create_server(("0.0.0.0", 8080))
while True:
    connection, _ = listener.accept()
    connection.recv(100)
    connection.sendall(bytes(500_000))
    connection.close()
"""
FETCH = """
import json, os, socket, sys, time
began = time.monotonic()
connection = socket.create_connection((sys.argv[1], 8080))
assert connection.getsockname()[0] == os.environ["NODE"] and sys.argv[2].isdecimal()
connection.sendall(b"give")
gaps, size, last = [], 0, began
while chunk := connection.recv(65536):
    now = time.monotonic()
    size, last = size + len(chunk), now
    gaps.append(1e6 * (now - began))
took = time.monotonic() - began
assert size == 500_000
open("chunks.csv", "w").write("gap_us,n\\n" + "".join(f"{gap},1\\n" for gap in gaps))
open("log.txt", "w").write(f"took {1000 * took} ms\\n")
print("some words before\\n" + json.dumps({"bytes_per_s": size / took}))
"""
BUCKET = "[none, slow: {host.egress: [{police: {rate: 20Mbit/s, burst: 20kB, on: [server]}}]}]"


def write(live: Live, application: str, conditions: str = "[none]", repeat: int = 1) -> str:
    head = HEAD.replace("CONDITIONS", conditions).replace("REPEAT", str(repeat))
    (live.folder / "live.yaml").write_text(head + application)
    (live.folder / "serve.py").write_text(SERVE)
    (live.folder / "fetch.py").write_text(FETCH)
    return "live.yaml"


def values(folder: Path, metric: str, statistic: str, condition: str) -> list[float]:
    select = (
        f"SELECT value FROM '{folder}/metrics.parquet' JOIN '{folder}/trials.parquet' USING (trial) "
        f"WHERE metric = '{metric}' AND statistic = '{statistic}' AND condition = '{condition}' "
        "AND fidelity <> 'void'"
    )
    return [value for (value,) in duckdb.sql(select).fetchall()]


def reason(live: Live, application: str) -> str:
    """Run a trial that has to fail and return why it did."""
    status, said = live.run("run", write(live, application))
    assert status == 4, said
    (found,) = duckdb.sql(f"SELECT status, reason FROM '{live.run_folder}/trials.parquet'").fetchall()
    assert found[0] == "failed"
    return str(found[1])


@pytest.fixture(autouse=True)
def _python() -> None:
    if not shutil.which("/usr/bin/python3"):
        pytest.skip("no /usr/bin/python3; the test's server and client are Python programs")


def test_a_token_bucket_slows_a_download_in_each_of_its_own_metrics(live: Live) -> None:
    live.measured(write(live, DOWNLOAD, BUCKET, repeat=3))
    folder = live.run_folder
    for metric, statistic, worse in (
        ("speed", "value", min),
        ("transfer", "value", max),
        ("chunk", "p50", max),
        ("took", "value", max),
    ):
        free, slow = (values(folder, metric, statistic, name) for name in ("none", "slow"))
        assert len(free) == len(slow) == 3
        # Not one of three trials with the bucket is as good as the worst without it.
        assert worse([worse(free), *slow]) in slow
        assert all(worse(worse(free), value) == value for value in slow), (metric, free, slow)
    # 500 kB less the burst of 20 kB, at 20 Mbit/s: no transfer can be faster than that.
    assert min(values(folder, "transfer", "value", "slow")) > 480_000 * 8 / 20e6 * 1e9
    resolved: dict[str, Any] = json.loads((folder / "resolved.json").read_text())
    assert [entry["file"] for entry in resolved["application"]["files"]] == ["fetch.py", "serve.py"]
    tools = json.loads((folder / "provenance.json").read_text())["before"]["tools"]
    assert "sha256:" in tools["/usr/bin/python3"]


def test_resume_works_from_the_results_alone(live: Live) -> None:
    name = write(live, DOWNLOAD)
    assert live.run("run", name)[0] == 0
    for file in (name, "serve.py", "fetch.py"):
        (live.folder / file).unlink()
    live.check_measured(*live.run("resume"))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "serve.py], ready",
            "-c, 'import sys; sys.exit(\"no luck\")'], ready",
            "server on server: ended before it was ready (exit status 1)",
        ),
        (
            "ready: {port: 8080}",
            "ready: {port: 8081, within: 500ms}",
            "not ready after 0.5 s; nothing listens on port 8081/tcp",
        ),
        ("ready: {port: 8080}", "ready: {regex: hello, within: 500ms}", 'it has not written "hello"'),
        (
            "ready: {port: 8080}",
            "ready: {command: 'echo never >&2; false', within: 500ms}",
            "its probe ends with exit status 1: never",
        ),
        (
            "json: bytes_per_s",
            "json: bits_per_s",
            'the document has no key "bits_per_s"; did you mean "bytes_per_s"?',
        ),
        (
            "in: log.txt",
            "in: log.text",
            "the load has not written it; its folder has chunks.csv, fetch.py, log.txt",
        ),
        ("regex: 'took", "regex: 'lasted", "matches nothing in it"),
        ("column: gap_us", "column: gap_ms", 'it has no column "gap_ms"; its header is gap_us, n'),
        (
            "load: client",
            "load: client\n    warm_up: 100s\n    duration: 1s",
            "ended during its warm-up of 100 s",
        ),
        (
            "load: client",
            "load: client\n    warm_up_command: echo cold >&2; exit 9",
            "warm-up on client: exit status 9; cold",
        ),
        (
            "load: client",
            "load: client\n    operations: {in: chunks.csv}",
            'begins with "gap_us,n"; its first line must be operation,',
        ),
        ('fetch.py, "{address:server}"', 'fetch.py, "127.0.0.1"', "Connection refused"),
    ],
    ids=[
        "dead",
        "port",
        "regex",
        "probe",
        "key",
        "file",
        "pattern",
        "column",
        "warm-up",
        "cold",
        "operations",
        "load",
    ],
)
def test_what_goes_wrong_is_the_reason_of_the_failed_trial(
    live: Live, old: str, new: str, message: str
) -> None:
    assert old in DOWNLOAD
    found = reason(live, DOWNLOAD.replace(old, new, 1))
    assert message in found, found


def test_a_server_that_nobody_can_reach_is_refused_with_the_remedy(live: Live) -> None:
    local = "[/usr/bin/python3, -m, http.server, --bind, 127.0.0.1, 8080]"
    text = DOWNLOAD.replace("[/usr/bin/python3, serve.py]", local).replace("8080}", "8080, within: 1s}")
    assert "is open only on 127.0.0.1, where no other node can reach it" in reason(live, text)


def test_servers_that_hang_are_gone_within_five_seconds(live: Live) -> None:
    text = """
    roles:
      server: {command: "trap '' TERM; echo up; while :; do sleep 1; done", ready: {regex: up}}
      client: {command: "true"}
    load: client
    metrics: {took: {elapsed: true, better: lower}}
"""
    began = time.monotonic()
    live.measured(write(live, text))
    live.check_first_attempts()
    ((duration_s,),) = duckdb.sql(f"SELECT duration_s FROM '{live.run_folder}/trials.parquet'").fetchall()
    assert duration_s < 3.5 + 5.0, f"{time.monotonic() - began:.1f} s in all"


def test_operations_of_an_open_loop_have_latencies_and_responses(live: Live) -> None:
    text = """
    roles:
      server:
        command: [PROGRAM, rpc-serve, --listen, "{address:server}:7077"]
        ready: {regex: listening}
      client:
        command: >-
          PROGRAM rpc --server {address:server}:7077 --request-bytes 100 --response-bytes 100 --connections 2
          --rate 200 --duration {duration} --warm-up 0.2 --seed {seed}
          --samples ops.csv --summary summary.json
    load: client
    warm_up: 200ms
    duration: 1s
    operations: {in: ops.csv, rate: 200/s}
"""
    live.measured(write(live, text.replace("PROGRAM", live.env["CROSSWIND_LOAD"])))
    assert values(live.run_folder, "response", "p99", "none")
    (operations,) = values(live.run_folder, "operations", "count", "none")
    assert 150 <= operations <= 250


TALKER = """
    roles:
      server: {command: [/bin/sleep, '60'], ready: {command: [/bin/true]}}
      client:
        command: [/bin/sh, -c, "echo first; yes 0123456789 | head -c BYTES; echo; echo '{\\"answer\\": 42}'"]
    load: client
    metrics:
      answer: {json: answer, unit: count, better: higher}
"""


def test_of_a_long_output_head_and_tail_are_kept_and_the_result_is_found(live: Live) -> None:
    live.measured(write(live, TALKER.replace("BYTES", "100000000")))
    folder = live.run_folder
    assert values(folder, "answer", "value", "none") == [42]
    log = next(folder.glob("logs/*/client/client.out"))
    # 32 MiB are kept; the line that says so is shorter than 100 bytes.
    assert 32 << 20 <= log.stat().st_size < (32 << 20) + 100
    head, _, tail = log.read_bytes().partition(b" bytes of this output are left out here]\n")
    assert head.startswith(b"first\n0123456789\n")
    printed = len(b"first\n") + 100_000_000 + len(b'\n{"answer": 42}\n')
    assert int(head.rpartition(b"[crosswind: ")[2]) == printed - (32 << 20)
    assert tail.endswith(b'\n{"answer": 42}\n')
