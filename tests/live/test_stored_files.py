"""What a machine gets for one trial it need not get again for the next, nor keep when nothing needs it."""

from __future__ import annotations

import base64
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from crosswind.testbed import Agent, TestbedError, WorkFolder, find_binary
from crosswind.testbed.files import STORED_BYTES_MIN, ThereFiles, files_of

LARGE = os.urandom(3_000_000)
SMALL = b"x" * (STORED_BYTES_MIN - 1)


@dataclass(frozen=True)
class OtherFiles:
    """An agent of this machine that sees an empty folder where this process has its work folders."""

    work: Path
    title: str = "agent on other"
    lease_s: int = 60
    is_here: bool = False

    def start(self) -> subprocess.Popen[bytes]:
        boot = f"mount -t tmpfs tmpfs {self.work} && exec {find_binary('crosswind-agent')}"
        return subprocess.Popen(
            ["unshare", "--mount", "--", "sh", "-c", boot],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def explained(self, status: int | None, printed: object) -> str | None:
        return None


@dataclass
class There:
    """A work folder here, and its files there; the agent's requests are counted."""

    work: WorkFolder
    agent: Agent
    files: ThereFiles
    put_bytes: int = 0
    folder: Path = field(default_factory=Path)

    def trial(self, content: Mapping[str, bytes]) -> int:
        """Begin a trial whose folder has these files, and return how many bytes were sent for it."""
        before = self.put_bytes
        self.folder = self.work.fresh("trial", *self.agent.application_account)
        self.files.fresh(self.folder)
        for name, data in content.items():
            (self.folder / name).write_bytes(data)
        self.files.send()
        for name, data in content.items():
            # `wrote` writes what it gets from there.
            (self.folder / name).unlink()
            self.files.bring(self.folder / name)
            assert (self.folder / name).read_bytes() == data
        return self.put_bytes - before

    def stored(self) -> list[str]:
        root = Path(f"/proc/{self.agent.pid}/root{self.work.path}/stored")
        return sorted(entry.name for entry in root.iterdir()) if root.exists() else []


@pytest.fixture
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[There]:
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        pytest.skip("files of its own for an agent need root and unshare")
    try:
        find_binary("crosswind-agent")
    except TestbedError as reason:
        pytest.skip(str(reason))
    monkeypatch.setenv("CROSSWIND_WORK_DIR", str(tmp_path))
    with WorkFolder() as work, Agent(OtherFiles(tmp_path)) as agent:
        files = files_of(agent, work)
        assert isinstance(files, ThereFiles)
        found = There(work, agent, files)
        request = agent.request

        def counted(do: str, answer: Any, fields: Any = MappingProxyType({}), **more: Any) -> Any:
            if do == "put":
                found.put_bytes += len(base64.b64decode(fields["bytes"]))
            return request(do, answer, fields, **more)

        monkeypatch.setattr(agent, "request", counted)
        yield found


def test_a_second_trial_gets_its_data_without_sending_them_again(there: There) -> None:
    data = {"data": LARGE, "small": SMALL, "same": LARGE}
    # A file that is there twice is sent once.
    assert there.trial(data) == len(LARGE) + len(SMALL)
    assert there.trial(data) == len(SMALL)
    assert there.trial({**data, "data": LARGE + b"!"}) == len(LARGE) + 1 + len(SMALL)


def test_what_a_trial_did_not_need_is_not_stored_for_longer(there: There) -> None:
    there.trial({"data": LARGE, "seed": os.urandom(STORED_BYTES_MIN)})
    assert len(there.stored()) == 2
    for _ in range(3):
        there.trial({"data": LARGE, "seed": os.urandom(STORED_BYTES_MIN)})
        # Those of this trial, and the one that the trial before had of its own.
        assert len(there.stored()) <= 3


def test_an_application_that_writes_into_its_data_does_not_change_those_of_the_next_trial(
    there: There,
) -> None:
    there.trial({"data": LARGE})
    copy = Path(f"/proc/{there.agent.pid}/root{there.folder}/data")
    copy.write_bytes(b"damaged")
    assert there.trial({"data": LARGE}) == 0
