"""Programs from Debian packages, unpacked into a folder of their own: nothing is installed system-wide.

`apt-get` says what an installation would add, downloads it and checks it; `dpkg -x` unpacks it below the
cache. No root, no scripts of the packages, no services started. A program of the system is always preferred
to these.
"""

import hashlib
import json
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from urllib.parse import unquote

from crosswind.errors import CrosswindError, Exit
from crosswind.store.durable import write_text
from crosswind.testbed.folders import cache_folder, remove_tree

# What `crosswind apps install NAME` unpacks, by the name of what it is for.
PACKAGES: dict[str, tuple[str, ...]] = {"postgresql": ("postgresql",), "iperf3": ("iperf3",)}

_RECORD = "packages.json"
_URI_LINE = re.compile(r"'[^']+' (?P<file>(?P<name>[^_ ]+)_(?P<version>[^_ ]+)_\S+\.deb) \d+ ?(?P<sum>\S*)")


class PackagesUnavailable(CrosswindError):
    """The packages cannot be had on this machine."""

    exit = Exit.PREFLIGHT


@dataclass(frozen=True)
class Package:
    """A package as `apt-get --print-uris` announces it and as is recorded; `checksum` is `algorithm:hex`.

    Archives without MD5 sums are announced without a checksum: apt-get prints no other. It has checked the
    download against the signed index all the same, and what is recorded is the SHA-256 of what came.
    """

    name: str
    version: str
    file: str
    checksum: str


@dataclass(frozen=True)
class Program:
    """A program and the environment that it needs."""

    path: Path
    env: dict[str, str]


def private_root(name: str) -> Path:
    """Return the folder for the unpacked packages of `name`; it exists once they are unpacked."""
    return cache_folder() / "packages" / name / "root"


def find_program(name: str) -> Program | None:
    """Return a program on PATH, or else of the private packages of that name; None in neither."""
    if on_path := shutil.which(name):
        return Program(Path(on_path), {})
    private = private_root(name) / "usr" / "bin" / name
    return Program(private, library_path(private_root(name))) if private.is_file() else None


def program_version(name: str) -> str:
    """Return the first line of what `name --version` prints, for provenance; `missing` without it."""
    program = find_program(name)
    if program is None:
        return "missing"
    done = subprocess.run(
        [program.path, "--version"], capture_output=True, text=True, check=True, timeout=10, env=program.env
    )
    return done.stdout.partition("\n")[0]


def library_path(root: Path) -> dict[str, str]:
    """Return the environment in which unpacked programs find their unpacked libraries."""
    folders = [*root.glob("usr/lib/*-linux-gnu*"), *root.glob("lib/*-linux-gnu*")]
    return {"LD_LIBRARY_PATH": ":".join(str(folder) for folder in sorted(folders))} if folders else {}


def unpack(name: str, say: Callable[[str], None]) -> None:
    """Unpack what is missing for `name` into its private folder, and record versions and checksums.

    Raises: PackagesUnavailable: this is not a Debian, its package lists are empty, or a download failed.
    """
    for program in ("apt-get", "dpkg"):
        if shutil.which(program) is None:
            raise PackagesUnavailable(
                f"{name}: {program} is not on this machine, so its packages cannot be unpacked; "
                f"install {name} with this system's own means"
            )
    lists: tuple[str, ...] = ()
    try:
        wanted = _wanted(name, lists)
    except PackagesUnavailable:
        # A fresh image comes with empty lists, and only root may fill the system's.
        say("package lists, into a private folder")
        lists = _private_lists()
        _apt(*lists, "update")
        wanted = _wanted(name, lists)
    folder = private_root(name).parent
    downloads = folder / "downloads"
    remove_tree(folder)
    downloads.mkdir(parents=True)
    unpacked = []
    for number, package in enumerate(wanted, start=1):
        say(f"{number} of {len(wanted)}: {package.name} {package.version}")
        _apt(*lists, "download", f"{package.name}={package.version}", folder=downloads)
        archive = downloads / package.file
        unpacked.append(checked(package, archive))
        subprocess.run(["dpkg", "-x", archive, private_root(name)], check=True)
    remove_tree(downloads)
    write_text(folder / _RECORD, json.dumps([asdict(package) for package in unpacked], indent=2) + "\n")


def _wanted(name: str, lists: tuple[str, ...]) -> list[Package]:
    """Return the packages that an installation of `name` would add."""
    options = ("--print-uris", "--yes", "--no-install-recommends")
    return parse_uris(_apt(*lists, "install", *options, *PACKAGES[name]).stdout)


def _private_lists() -> tuple[str, ...]:
    """Return the options with which apt-get keeps its package lists below the cache, which needs no root."""
    folder = cache_folder() / "packages" / "lists"
    (folder / "partial").mkdir(parents=True, exist_ok=True)
    # apt-get's own download account may not enter a private folder; without it we fetch as who we are.
    return ("-o", f"Dir::State::Lists={folder}", "-o", "APT::Sandbox::User=", "-o", "Dir::Cache::pkgcache=")


def parse_uris(printed: str) -> list[Package]:
    """Return the packages in the output of `apt-get install --print-uris`.

    A line is `'URI' name_version_architecture.deb size algorithm:hex`, the last part of which may be missing;
    other lines are remarks.
    """
    packages = []
    for line in printed.splitlines():
        if match := _URI_LINE.fullmatch(line):
            packages.append(Package(match["name"], unquote(match["version"]), match["file"], match["sum"]))
    return packages


def checked(package: Package, archive: Path) -> Package:
    """Return the package with the checksum of its downloaded archive.

    Raises: PackagesUnavailable: it is not the announced one, or the file is not there.
    """
    if not archive.is_file():
        raise PackagesUnavailable(
            f"{archive.name}: apt-get did not download it; run `apt-get update` and try again"
        )
    algorithm, _, announced = (package.checksum or "SHA256:").partition(":")
    algorithm = {"MD5Sum": "md5"}.get(algorithm, algorithm.lower())
    with archive.open("rb") as content:
        found = hashlib.file_digest(content, algorithm).hexdigest()
    if announced and found != announced:
        raise PackagesUnavailable(
            f"{archive.name}: its {algorithm} is {found}, announced was {announced}; try again"
        )
    return replace(package, checksum=f"{algorithm}:{found}")


def _apt(*arguments: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            ["apt-get", "--quiet", *arguments], cwd=folder, capture_output=True, text=True, check=True
        )
    except subprocess.CalledProcessError as error:
        said = " ".join(error.stderr.split()) or "it said nothing"
        raise PackagesUnavailable(
            f"apt-get {' '.join(arguments)}: {said}; run `sudo apt-get update` if its lists are old or empty"
        ) from error
