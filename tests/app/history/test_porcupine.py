"""The checker of registers finds the same keys as porcupine, on thousands of random histories."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from crosswind.app.history.load import check_history
from crosswind.testbed import find_binary
from crosswind.testbed.binaries import LOAD
from crosswind.testbed.errors import NotHere

PORCUPINE = "github.com/anishathalye/porcupine"
VERSION = "v1.3.1"
KEYS = 4000
SOURCE = Path(__file__).parent / "porcupine" / "main.go"


@pytest.fixture(scope="module")
def porcupine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    try:
        find_binary(LOAD)
    except NotHere as error:
        pytest.skip(str(error))
    if shutil.which("go") is None:
        pytest.skip("go is not on PATH, and porcupine is built with it")
    folder = tmp_path_factory.mktemp("porcupine")
    env = os.environ | {"GOFLAGS": "-mod=mod -modcacherw"}
    env |= {"GOPATH": str(folder / "path"), "GOCACHE": str(folder / "cache")}
    shutil.copy(SOURCE, folder)
    for words in (("mod", "init", "judge"), ("get", f"{PORCUPINE}@{VERSION}"), ("build", "-o", "judge", ".")):
        done = subprocess.run(
            ["go", *words], cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=600
        )
        if done.returncode and words[0] == "get":
            pytest.skip(f"the Go module proxy does not give {PORCUPINE}: {done.stderr.strip()}")
        assert done.returncode == 0, done.stderr
    return folder / "judge"


def events_of(draw: random.Random, key: int) -> list[dict[str, Any]]:
    """Return a history of one key: a register that is right, and some answers that are drawn instead."""
    events: list[dict[str, Any]] = []
    held: int | None = None
    wrong = draw.choice((0.0, 0.0, 0.03, 0.3))
    # Far apart, as a process that goes on has a higher number.
    base = key * 100_000
    processes = [base + number for number in range(draw.randint(1, 5))]
    open_: dict[int, list[Any]] = {}
    for _ in range(draw.randint(2, 60)):
        slot = draw.randrange(len(processes))
        process = processes[slot]
        if process not in open_:
            f = draw.choice(("read", "write", "cas"))
            # Few values, so that some answers are right by accident.
            value: Any = {"read": None, "write": draw.randrange(6)}.get(
                f, [draw.randrange(6), draw.randrange(6)]
            )
            events.append({"process": process, "type": "invoke", "f": f, "value": [key, value]})
            open_[process] = [f, value, False, None]
            continue
        f, value, done, answer = open_[process]
        if not done and draw.random() < 0.6:
            answer = value
            if f == "read":
                answer = held if draw.random() >= wrong else draw.choice((None, *range(6)))
            elif f == "write":
                held = value
            elif held == value[0] or draw.random() < wrong:
                held = value[1]
            else:
                answer = "fail"
            open_[process][2:] = [True, answer]
        elif draw.random() < 0.15:
            events.append({"process": process, "type": "info", "f": f, "value": [key, value]})
            del open_[process]
            processes[slot] += 100
        elif done:
            kind = "fail" if answer == "fail" else "ok"
            answer = value if answer == "fail" else answer
            events.append({"process": process, "type": kind, "f": f, "value": [key, answer]})
            del open_[process]
    return events


@pytest.mark.long
def test_both_find_the_same_keys(porcupine: Path, tmp_path: Path) -> None:
    draw = random.Random(46)
    path = tmp_path / "history.jsonl"
    with path.open("w") as file:
        for key in range(KEYS):
            for index, event in enumerate(events_of(draw, key)):
                # An operation that failed took no effect, and porcupine is not asked about it.
                file.write(json.dumps({"index": index, "time": index} | event) + "\n")
    checked = check_history(path, "register", 600 * 10**9)
    judged = subprocess.run(
        [porcupine, _without_failed(path)], capture_output=True, text=True, check=True, timeout=600
    )
    expected = [int(key) for key in judged.stdout.split()]
    assert checked.undecided_keys == []
    assert checked.wrong_keys == expected
    # Both answers are frequent.
    assert KEYS / 10 < len(expected) < KEYS * 9 / 10, len(expected)


def _without_failed(path: Path) -> Path:
    events = [json.loads(line) for line in path.read_text().splitlines()]
    begun: dict[int, int] = {}
    left_out = set()
    for place, event in enumerate(events):
        if event["type"] == "invoke":
            begun[event["process"]] = place
        elif event["type"] == "fail":
            left_out |= {place, begun[event["process"]]}
    rest = path.with_name("rest.jsonl")
    kept = (json.dumps(event) + "\n" for place, event in enumerate(events) if place not in left_out)
    rest.write_text("".join(kept))
    return rest
