"""Work folders of living and dead runs, the control socket, and where binaries are looked for."""

import os
import select
import shutil
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pydantic import BaseModel

from crosswind.errors import CrosswindError
from crosswind.testbed import NotHere, WorkFolder, find_binary
from crosswind.testbed.control.client import NothingUp, ask, stale_sockets
from crosswind.testbed.control.messages import Request
from crosswind.testbed.control.server import ControlServer
from crosswind.testbed.folders import LOCK_NAME, open_below, runtime_folder, stale_work_folders


@pytest.fixture(autouse=True)
def folders_of_this_test(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for part in ("CACHE", "WORK", "RUNTIME"):
        monkeypatch.setenv(f"CROSSWIND_{part}_DIR", str(tmp_path / part.lower()))


def test_a_living_runs_folder_is_not_stale_and_goes_with_the_run() -> None:
    with WorkFolder() as work:
        assert stale_work_folders() == []
    assert not work.path.exists()


def test_the_folder_of_a_dead_run_is_stale() -> None:
    with WorkFolder() as alive:
        dead = alive.path.parent / "run-dead"
        dead.mkdir()
        (dead / LOCK_NAME).touch()
        assert stale_work_folders() == [dead]


def test_a_run_that_has_not_locked_its_folder_yet_is_left_alone() -> None:
    with WorkFolder() as alive:
        (alive.path.parent / "run-starting").mkdir()
        assert stale_work_folders() == []


def test_a_folder_that_is_kept_is_stale_after_a_minute_and_not_before() -> None:
    with WorkFolder(keep=True) as work:
        (work.path / "file").touch()
    assert [path.name for path in work.path.iterdir()] == ["file"]
    assert stale_work_folders() == []
    os.utime(work.path, (0, 0))
    assert stale_work_folders() == [work.path]
    shutil.rmtree(work.path)


class Echo(BaseModel):
    echo: str


def answer(request: Request) -> Echo:
    if request.do == "fail":
        raise CrosswindError("refused with a reason")
    return Echo(echo="x" * (4 << 20) if request.do == "much" else request.do)


def asked(do: str, **more: str) -> str:
    return ask(Request.model_validate({"do": do, **more}), Echo).echo


@contextmanager
def serving(client_s: float = 60.0) -> Iterator[ControlServer]:
    """A server that serves as `crosswind up` does, until the block ends."""
    with ControlServer(answer, client_s) as server:
        ending, end = os.pipe()

        def serve() -> None:
            while ending not in select.select([server, ending], [], [], 0.05)[0]:
                server.serve()

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield server
        finally:
            os.close(end)
            thread.join()
            os.close(ending)


def client() -> socket.socket:
    (path,) = runtime_folder().glob(f"up-{os.getpid()}.sock")
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(20)
    connection.connect(str(path))
    return connection


def test_requests_are_answered_and_refusals_carried_over() -> None:
    with serving():
        assert asked("nodes") == "nodes"
        with pytest.raises(CrosswindError, match="refused with a reason"):
            asked("fail")
        with pytest.raises(CrosswindError, match="malformed request"):
            ask(Request.model_construct(), Echo)


@pytest.mark.parametrize(
    "sent",
    [b"", b'{"do": "no', b'{"do": "much"}\n', b'{"do": "nodes"}\n'],
    ids=["nothing", "half a request", "a request whose reply is not read", "a request, then it goes"],
)
def test_no_client_can_block_another(sent: bytes) -> None:
    with serving():
        blocking = [client() for _ in range(3)]
        for connection in blocking:
            connection.sendall(sent)
        assert asked("nodes") == "nodes"
        for connection in blocking:
            connection.close()
        assert asked("nodes") == "nodes"


def test_a_client_that_does_nothing_is_dropped_in_time() -> None:
    with serving(client_s=0.0):
        assert client().recv(1) == b""


def test_of_too_many_clients_the_oldest_is_dropped() -> None:
    with serving():
        clients = [client() for _ in range(40)]
        assert clients[0].recv(1) == b""
        assert asked("nodes") == "nodes"
        clients[-1].sendall(b'{"do": "nodes"}\n')
        assert clients[-1].recv(100) == b'{"ok": {"echo": "nodes"}}\n'


def test_a_long_request_and_a_long_reply_are_carried_whole() -> None:
    with serving():
        assert len(asked("much", padding="y" * (4 << 20))) == 4 << 20
        with pytest.raises(CrosswindError, match="at most"):
            asked("nodes", padding="y" * (17 << 20))


@pytest.mark.parametrize(
    "line", [b"[" * 100_000 + b"\n", b"[]\n", b"\xff\n", b"\n", b'"do"\n'], ids=lambda line: str(line[:4])
)
def test_nonsense_is_answered_as_such(line: bytes) -> None:
    with serving(), client() as connection:
        connection.sendall(line)
        assert b"malformed request" in connection.makefile("rb").readline()
        assert asked("nodes") == "nodes"


def test_a_server_that_does_not_answer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crosswind.testbed.control.client._REPLY_S", 0.05)
    with ControlServer(answer):
        with pytest.raises(NothingUp, match="does not answer"):
            asked("nodes")
        assert stale_sockets() == []


def test_nobody_but_the_user_may_connect() -> None:
    with ControlServer(answer):
        (path,) = runtime_folder().glob("up-*.sock")
        assert path.stat().st_mode & 0o777 == 0o600
        assert runtime_folder().stat().st_mode & 0o777 == 0o700


def test_nothing_up_says_how_to_start_something() -> None:
    with pytest.raises(NothingUp, match="crosswind up FILE"):
        asked("nodes")


def test_the_socket_of_a_dead_up_is_stale_and_not_asked() -> None:
    path = runtime_folder() / "up-999999.sock"
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(path))
        dead.listen()
    with serving():
        assert asked("nodes") == "nodes"
        assert stale_sockets() == [path]


def test_a_variable_that_names_no_program_is_an_error_and_not_passed_over(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CROSSWIND_AGENT", str(tmp_path / "absent"))
    with pytest.raises(NotHere, match=r"CROSSWIND_AGENT=.*absent"):
        find_binary("crosswind-agent")


def test_a_missing_binary_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("CROSSWIND_LOAD", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sysconfig.get_path", lambda name: str(tmp_path))
    with pytest.raises(NotHere, match="cargo build"):
        find_binary("crosswind-load")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a folder of somebody else's")
def test_a_new_file_gets_the_folders_that_lead_to_it_but_no_link_is_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    with WorkFolder() as work:
        path = work.path / "trial" / "app-1" / "0" / "stderr"
        for text in (b"first", b"2nd"):
            with open_below(work.path, path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC) as file:
                file.write(text)
            assert path.read_bytes() == text
        (work.path / "trial" / "link").symlink_to(outside)
        with pytest.raises(OSError, match="Not a directory"):
            open_below(work.path, work.path / "trial" / "link" / "new", os.O_WRONLY | os.O_CREAT)
        with pytest.raises(FileNotFoundError):
            open_below(work.path, work.path / "none" / "file", os.O_RDONLY)
    assert not list(outside.iterdir())


def test_a_folder_of_another_account_is_not_trusted(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    os.chown(tmp_path / "work", 65534, 65534)
    with pytest.raises(NotHere, match="belongs to user 65534"):
        WorkFolder()
