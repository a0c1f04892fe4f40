"""Packages from the Python Package Index, in a separate virtual environment.

The environment uses an interpreter that the application's account can execute. That excludes one in a private
home folder, even if Crosswind itself runs on it.
"""

import json
import os
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from crosswind.app.requirements.private_folder import PrivateFolder
from crosswind.app.requirements.requirement import CannotInstall, Program, Requirement
from crosswind.app.requirements.tool import run_tool
from crosswind.testbed.errors import NotHere

_NO_INTERPRETER = (
    "python3: {} is in a folder that the account of applications may not enter, and PATH has no other "
    "python3; install the system's python3"
)


@dataclass(frozen=True)
class PythonPackages(Requirement):
    """Packages with exact versions.

    Args:
        name: of the group of packages, such as `pyspark`.
        packages: such as `pyspark==4.0.1`; their dependencies are installed in the newest version that fits,
            and recorded.
    """

    name: str
    packages: tuple[str, ...]

    def __post_init__(self) -> None:
        for package in self.packages:
            if "==" not in package:
                raise ValueError(f'{self.name}: "{package}" has no exact version; write {package}==1.2.3')

    def missing(self) -> list[str]:
        if _interpreter() is None:
            return [_NO_INTERPRETER.format(sys.executable)]
        if self._private.is_complete:
            return []
        return [f"{', '.join(self.packages)}: not in a private environment"]

    def commands(self) -> list[str]:
        folder = shlex.quote(str(self._private.path / "venv"))
        return [
            f"{_interpreter() or 'python3'} -m venv {folder}",
            f"{folder}/bin/pip install {' '.join(self.packages)}",
            self._private.declared(dict(package.split("==") for package in self.packages)),
        ]

    def install(self, say: Callable[[str], None]) -> None:
        interpreter = _interpreter()
        if interpreter is None:
            raise CannotInstall(_NO_INTERPRETER.format(sys.executable))
        with self._private.installing(say, lambda: not self.missing()) as fresh:
            if fresh is None:
                return
            environment, report = fresh.path / "venv", fresh.path / "report.json"
            # Crosswind's own pip installs into it, because many systems have no ensurepip.
            self._run([interpreter, "-m", "venv", "--without-pip", environment], fresh.lock)
            say(f"{', '.join(self.packages)} and their dependencies")
            pip = [sys.executable, "-m", "pip", "--python", environment / "bin" / "python"]
            options = ["--quiet", "--no-input", "--disable-pip-version-check", "--report", report]
            self._run([*pip, "install", *options, *self.packages], fresh.lock)
            fresh.record.update(installed(report.read_text()))

    def places(self) -> list[Path]:
        self._check()
        interpreter = _interpreter()
        return [self._private.path, *([] if interpreter is None else [interpreter])]

    def versions(self) -> dict[str, str]:
        self._check()
        return dict(self._private.record)

    def program(self, name: str) -> Program:
        """Return a program of the environment, such as `python`.

        Raises: NotHere: it is missing; says how to install it.
        """
        self._check()
        path = self._private.path / "venv" / "bin" / name
        if not path.is_file():
            raise NotHere(f"{name}: {', '.join(self.packages)} have no such program")
        return Program(path, {})

    @property
    def site_packages(self) -> Path:
        """The folder with the packages' files."""
        self._check()
        (folder,) = self._private.path.glob("venv/lib/python*/site-packages")
        return folder

    @property
    def _private(self) -> PrivateFolder:
        return PrivateFolder("python", self.name, _Requested(self.packages, str(_interpreter())))

    def _check(self) -> None:
        for lacking in self.missing():
            raise NotHere(f"{lacking}; install it with: {' && '.join(self.commands())}")

    def _run(self, argv: list[object], lock: int) -> None:
        run_tool(argv, wanted=self.name, lock=lock)


@dataclass(frozen=True)
class _Requested:
    """All that decides what is installed: an environment works only with its own interpreter."""

    packages: tuple[str, ...]
    interpreter: str


def installed(report: str) -> dict[str, str]:
    """Return name -> version and checksum from the report of `pip install`.

    Source: pip documentation, "Installation Report", version 1.
    """
    found = {}
    for entry in json.loads(report)["install"]:
        metadata = entry["metadata"]
        digests = entry["download_info"].get("archive_info", {}).get("hashes", {})
        checksum = f" sha256:{digests['sha256']}" if "sha256" in digests else ""
        found[metadata["name"]] = f"{metadata['version']}{checksum}"
    return found


def _interpreter() -> Path | None:
    """Return the interpreter for new environments; None if applications can execute none."""
    return next(filter(application_can_execute, _interpreters()), None)


def _interpreters() -> Iterator[Path]:
    yield Path(sys.executable).resolve()
    for folder in os.get_exec_path():
        if found := shutil.which("python3", path=folder):
            yield Path(found).resolve()


def application_can_execute(program: Path) -> bool:
    """Return whether the account of applications may execute a program and enter every folder above it.

    If Crosswind runs as root, that is another account, with the rights of all users.
    """
    if os.geteuid() != 0:
        return os.access(program, os.X_OK)
    return all(path.stat().st_mode & 0o001 for path in (program, *program.parents))
