"""Programs from Debian packages, unpacked into a private folder: nothing is installed system-wide.

`apt-get` lists what an installation would add, downloads it and checks it; `dpkg -x` unpacks it below the
cache. This needs no root, runs no scripts of the packages and starts no services. Programs of the system are
always preferred. Unpacked programs use the libraries of the system.
"""

import fcntl
import os
import re
import shlex
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from crosswind.app.requirements.archive import Archive, checked, parse_uris
from crosswind.app.requirements.backports import Backports, backports_of, sources_with
from crosswind.app.requirements.candidate import candidates
from crosswind.app.requirements.checksum import identity
from crosswind.app.requirements.private_folder import Fresh, PrivateFolder
from crosswind.app.requirements.requirement import CannotInstall, Program, Requirement
from crosswind.app.requirements.tool import run_tool
from crosswind.app.requirements.unpacked import library_path, make_links_relative, program_folders
from crosswind.results.durable import write_text
from crosswind.testbed.errors import NotHere
from crosswind.testbed.folders import cache_folder, remove_tree

_SYSTEM = Path("/")
_IN_ENGLISH = {"LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive"}
# The packages of all requirements, so that one look-up finds the versions of all of them.
_declared: set[str] = set()


@dataclass(frozen=True)
class DebianPackages(Requirement):
    """Debian packages, and which of their programs and files are used.

    Args:
        name: of the group of packages, such as `postgresql`.
        packages: names for apt-get, which adds their dependencies.
        programs: to run. All come from the system or all from the unpacked tree: Debian's client package, for
            instance, has `psql` but no server.
        folders: patterns of more folders with programs, relative to the root, such as
            `usr/lib/postgresql/*/bin`; the one with the highest version is used.
        files: other files that must exist, relative to the root.
        only_in_backports_of: the release of Debian, such as `bookworm`, that has the packages only in its
            backports. Backports of other releases are not used.
    """

    name: str
    packages: tuple[str, ...]
    programs: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    only_in_backports_of: str | None = None

    def missing(self) -> list[str]:
        if self._place() is not None:
            return []
        wanted = ", ".join((*self.programs, *(f"/{file}" for file in self.files)))
        return [f"{self.name} ({wanted}): neither on this system nor in the private packages"]

    def __post_init__(self) -> None:
        _declared.update(self.packages)

    def commands(self) -> list[str]:
        """Return the commands that install the versions in this machine's package lists.

        If the lists do not have a package, it has no version, and the lists are updated first. If it is only
        in backports, these are added to this machine's sources before that.
        """
        known = candidates(frozenset(_declared))
        packages = [f"{name}={known[name]}" if name in known else name for name in self.packages]
        install = f"apt-get install --yes --no-install-recommends {' '.join(packages)}"
        if known.keys() >= {*self.packages}:
            return [install]
        if (backports := self._backports()) is None:
            return ["apt-get update", install]
        return [
            f"echo {shlex.quote(backports.line)} > /etc/apt/sources.list.d/{backports.suite}.list",
            "apt-get update",
            install.replace("install", f"install -t {backports.suite}", 1),
        ]

    def install(self, say: Callable[[str], None]) -> None:
        for tool in ("apt-get", "dpkg"):
            if shutil.which(tool) is None:
                raise CannotInstall(
                    f"{self.name}: {tool} is not on this machine, so its packages cannot be unpacked; "
                    f"install {', '.join(self.packages)} with this system's package manager"
                )
        with self._private.installing(say, lambda: self._place() is not None) as fresh:
            if fresh is None:
                return
            self._unpack(fresh, say)
            if self._place_below(fresh.path / "root") is None:
                # apt-get adds nothing if its database says that everything is installed.
                raise CannotInstall(
                    f"{self.missing()[0]}; apt-get added {', '.join(fresh.record) or 'nothing'}; "
                    f"try `{self.commands()[-1].replace('install', 'install --reinstall', 1)}`"
                )

    def versions(self) -> dict[str, str]:
        place = self._here()
        if place.root != _SYSTEM:
            return dict(self._private.record)
        files = {file: _SYSTEM / file for file in self.files}
        return {name: identity(path) for name, path in {**place.programs, **files}.items()}

    def places(self) -> list[Path]:
        place = self._here()
        if place.root != _SYSTEM:
            return [self._private.path]
        return [*place.programs.values(), *(_SYSTEM / file for file in self.files)]

    def program(self, name: str) -> Program:
        """Return one of the declared programs.

        Raises: NotHere: it is missing; says how to install it.
        """
        place = self._here()
        if name not in place.programs:
            raise NotHere(f"{name}: not among the declared programs of {self.name}")
        return Program(place.programs[name], place.env)

    @property
    def root(self) -> Path:
        """The root folder of the packages' files: `/`, or that of the unpacked tree."""
        return self._here().root

    @property
    def env(self) -> dict[str, str]:
        """Environment variables with which programs find the libraries of these packages."""
        return self._here().env

    @property
    def _private(self) -> PrivateFolder:
        return PrivateFolder("debian", self.name, _Requested(self.packages))

    def _backports(self) -> Backports | None:
        return None if self.only_in_backports_of is None else backports_of(self.only_in_backports_of)

    def _here(self) -> "_Place":
        place = self._place()
        if place is None:
            raise NotHere(f"{self.missing()[0]}; install it with: {' && '.join(self.commands())}")
        return place

    def _place(self) -> "_Place | None":
        """Return the place that has everything: the system, or the unpacked tree."""
        place = self._place_below(_SYSTEM)
        if place is None and self._private.is_complete:
            place = self._place_below(self._private.path / "root")
        return place

    def _place_below(self, root: Path) -> "_Place | None":
        if not all((root / file).exists() for file in self.files):
            return None
        for folders in self._program_folders(root):
            path = ":".join(str(folder) for folder in folders)
            found = {name: shutil.which(name, path=path) for name in self.programs}
            programs = {name: Path(path) for name, path in found.items() if path is not None}
            if len(programs) == len(self.programs):
                return _Place(root, programs)
        return None

    def _program_folders(self, root: Path) -> Iterator[list[Path]]:
        """Yield lists of folders that may have all programs, the preferred first."""
        usual = program_folders(root)
        if root == _SYSTEM:
            usual = [*(Path(folder) for folder in os.get_exec_path()), *usual]
        own = [folder for pattern in self.folders for folder in root.glob(pattern)]
        for folder in sorted(own, key=_numbers, reverse=True):
            yield [folder, *usual]
        yield usual

    def _unpack(self, fresh: Fresh, say: Callable[[str], None]) -> None:
        lists: tuple[str, ...] = ()
        try:
            wanted = self._wanted(lists)
        except CannotInstall:
            # A fresh image has empty lists, and only root may fill those of the system or add backports.
            backports = self._backports()
            among = "" if backports is None else f", {backports.suite} among them"
            say(f"package lists{among}, into a private folder")
            lists = _private_lists(backports)
            wanted = self._wanted(lists)
        root, downloads = fresh.path / "root", fresh.path / "downloads"
        root.mkdir()
        downloads.mkdir()
        say(f"{len(wanted)} packages: {', '.join(archive.name for archive in wanted)}")
        if wanted:
            names = [f"{archive.name}={archive.version}" for archive in wanted]
            self._apt(*lists, "download", *names, folder=downloads, lock=fresh.lock)
        for announced in wanted:
            archive = checked(announced, downloads / announced.file)
            run_tool(["dpkg", "-x", downloads / announced.file, root], wanted=self.name, lock=fresh.lock)
            fresh.record[archive.name] = f"{archive.version} {archive.checksum}"
        remove_tree(downloads)
        make_links_relative(root)

    def _wanted(self, lists: tuple[str, ...]) -> list[Archive]:
        """Return the packages that an installation would add."""
        options = ("--print-uris", "--yes", "--no-install-recommends")
        return parse_uris(self._apt(*lists, "install", *options, *self.packages))

    def _apt(self, *arguments: str, folder: Path | None = None, lock: int | None = None) -> str:
        return run_tool(
            ["apt-get", "--quiet", *arguments], wanted=self.name, folder=folder, env=_IN_ENGLISH, lock=lock
        )


@dataclass(frozen=True)
class _Requested:
    """All that decides what is unpacked."""

    packages: tuple[str, ...]


@dataclass(frozen=True)
class _Place:
    """The root folder of the packages, and the paths of their programs."""

    root: Path
    programs: dict[str, Path]

    @property
    def env(self) -> dict[str, str]:
        return {} if self.root == _SYSTEM else dict(_library_path(self.root))


@lru_cache
def _library_path(root: Path) -> dict[str, str]:
    return library_path(root)


def _numbers(folder: Path) -> list[int]:
    """Return the numbers in a path, as a key by which version 15 sorts after version 9."""
    return [int(number) for number in re.findall(r"\d+", str(folder))]


def _private_lists(backports: Backports | None) -> tuple[str, ...]:
    """Fill package lists below the cache, which needs no root; return apt-get's options to use them.

    Backports have separate lists, because an update without backports would remove theirs.
    """
    parent = cache_folder() / "requirements" / "debian"
    folder = parent / ("lists" if backports is None else f"lists-{backports.suite}")
    (folder / "partial").mkdir(parents=True, exist_ok=True)
    # apt-get's download account may not enter a private folder; an empty name makes it use our account.
    settings = [
        f"Dir::State::Lists={folder}",
        "APT::Sandbox::User=",
        "Dir::Cache::pkgcache=",
        "Dir::Cache::srcpkgcache=",
    ]
    lock = os.open(folder.with_name(f".{folder.name}.lock"), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if backports is not None:
            sources = parent / f"{backports.suite}.list"
            write_text(sources, sources_with(backports))
            settings.append(f"Dir::Etc::sourcelist={sources}")
        options = tuple(word for setting in settings for word in ("-o", setting))
        run_tool(
            ["apt-get", "--quiet", *options, "update"], wanted="package lists", env=_IN_ENGLISH, lock=lock
        )
    finally:
        os.close(lock)
    return options
