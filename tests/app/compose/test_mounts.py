"""What services see beside their images: made for a trial, and gone with it."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from crosswind.app.base import Stage
from crosswind.app.compose.mount import Mount
from crosswind.app.compose.mounts import MountMaker, size_of, too_large
from crosswind.app.compose.readiness import await_service, listening_look, may_restart
from crosswind.app.compose.service import Service
from crosswind.testbed import Process, RunningFabric
from crosswind.testbed.agent import Ended
from crosswind.testbed.errors import TestbedError
from crosswind.testbed.fabric import Fabric
from crosswind.testbed.replies import Listener, Node


def made(folder: Path, mounts: list[Mount], files: Mapping[str, str] | None = None) -> dict[str, Path]:
    """Return by target where a service sees what; its image has /data/seed."""
    root = folder / "root"
    (root / "data").mkdir(parents=True)
    (root / "data/seed").write_text("from the image")
    (folder / "stage").mkdir()
    copies = {}
    for number, (name, text) in enumerate((files or {}).items()):
        copies[name] = folder / f"copy{number}"
        copies[name].write_text(text)
    fabric = SimpleNamespace(application_account=(os.geteuid(), os.getegid()))
    stage = Stage(cast(RunningFabric, fabric), folder / "stage", 1, copies)
    binds = MountMaker(stage, [Service.model_validate({"image": "i", "mounts": mounts})]).binds(
        "web", root, mounts
    )
    for bind in binds:
        assert bind.to.is_dir() == bind.source.is_dir(), (
            "what is bound over has to be there, and of the same kind"
        )
    return {f"/{bind.to.relative_to(root)}": bind.source for bind in binds}


def test_a_new_volume_begins_with_what_the_image_has_there(tmp_path: Path) -> None:
    found = made(
        tmp_path,
        [
            Mount(kind="volume", source="v", target="/data"),
            Mount(kind="own", source="", target="/data2"),
            Mount(kind="own", source="", target="/tmp", fresh=True),
        ],
    )
    assert (found["/data"] / "seed").read_text() == "from the image"
    assert list(found["/data2"].iterdir()) == list(found["/tmp"].iterdir()) == []


def test_files_beside_the_experiment_are_seen_as_copies(tmp_path: Path) -> None:
    found = made(
        tmp_path,
        [
            Mount(kind="bind", source="../app", target="/app"),
            Mount(kind="bind", source="key.txt", target="/run/secrets/key", read_only=True),
            Mount(kind="bind", source="nothing", target="/nothing"),
            Mount(kind="text", source="own text", target="/etc/text"),
        ],
        {"../app/main.py": "print()", "../app/sub/x": "x", "key.txt": "k", "other": "o"},
    )
    assert sorted(path.name for path in found["/app"].iterdir()) == ["main.py", "sub"]
    assert found["/app"].is_relative_to(tmp_path / "stage")
    assert found["/run/secrets/key"].read_text() == "k"
    assert list(found["/nothing"].iterdir()) == []
    assert found["/etc/text"].read_text() == "own text"
    assert not list((tmp_path / "stage").rglob("other"))


def test_a_volume_may_lie_inside_of_what_is_bound(tmp_path: Path) -> None:
    found = made(
        tmp_path,
        [
            Mount(kind="own", source="", target="/app/node_modules/deep"),
            Mount(kind="bind", source="app", target="/app"),
        ],
        {"app/main.py": ""},
    )
    assert list(found) == ["/app", "/app/node_modules/deep"], "outer ones first"
    assert (found["/app"] / "node_modules/deep").is_dir()


def test_a_path_of_the_host_that_may_be_written_to_is_copied(tmp_path: Path) -> None:
    host = tmp_path / "host"
    host.mkdir()
    (host / "file").write_text("h")
    found = made(
        tmp_path,
        [
            Mount(kind="host", source=str(host), target="/a"),
            Mount(kind="host", source=str(host), target="/b", read_only=True),
            Mount(kind="host", source=str(tmp_path / "absent"), target="/c"),
        ],
    )
    (found["/a"] / "file").write_text("changed")
    assert (host / "file").read_text() == "h"
    assert found["/b"] == host
    assert list(found["/c"].iterdir()) == []
    assert not (tmp_path / "absent").exists()
    assert not too_large(size_of(host))


class Fake:
    """A process that ends at once until it was started often enough."""

    def __init__(self, ended: Ended | None) -> None:
        self.ended = ended

    def __str__(self) -> str:
        return "web on web"

    def now_s(self) -> float:
        return time.monotonic()

    def last_words(self) -> str:
        return "no database"


@pytest.mark.parametrize(("policy", "starts"), [("always", 2), ("on-failure", 2), ("unless-stopped", 2)])
def test_a_service_is_restarted_until_it_is_ready(policy: str, starts: int) -> None:
    started: list[Fake] = []

    def start() -> Process:
        started.append(Fake(Ended(1, None) if len(started) + 1 < starts else None))
        return cast(Process, started[-1])

    process = await_service(
        cast(Process, Fake(Ended(1, None))),
        lambda: None if len(started) == starts else "nothing listens",
        5,
        policy,
        start,
    )
    assert cast(Any, process) is started[-1]


def test_a_service_that_may_not_restart_fails_with_its_last_words() -> None:
    failed = cast(Process, Fake(Ended(1, None)))
    with pytest.raises(
        TestbedError, match=r"web on web: ended before it was ready .*end of its output: no database"
    ):
        await_service(failed, lambda: "nothing listens", 5, "no", lambda: failed)
    with pytest.raises(TestbedError, match=r"not ready after 0 s; nothing listens"):
        await_service(cast(Process, Fake(None)), lambda: "nothing listens", 0, "no", lambda: failed)
    assert not may_restart("on-failure", Ended(0, None))
    assert may_restart("always", Ended(0, None))


def test_a_service_without_a_healthcheck_is_ready_when_it_listens_where_others_reach_it() -> None:
    listening: list[Listener] = []
    fabric = cast(
        Fabric,
        SimpleNamespace(
            nodes={"web": Node(name="web", host="h0", address="10.77.0.1", pid=1)},
            listeners=lambda node: listening,
        ),
    )
    listening.append(Listener(protocol="tcp", address="127.0.0.1", port=80))
    listening.append(Listener(protocol="udp", address="0.0.0.0", port=81))
    missing = listening_look(fabric, "web", ["80/tcp"])()
    assert missing is not None
    assert missing.startswith("nothing listens on port 80/tcp where other nodes can reach it")
    assert listening_look(fabric, "web", [])() is not None
    assert listening_look(fabric, "web", ["81/udp"])() is None
    for address in ("10.77.0.1", "0.0.0.0", "::"):
        listening[0] = Listener(protocol="tcp", address=address, port=80)
        assert listening_look(fabric, "web", ["80/tcp"])() is None
        assert listening_look(fabric, "web", ["1/udp", "80/tcp"])() is None
        assert listening_look(fabric, "web", [])() is None
