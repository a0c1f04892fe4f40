"""Debian archives: as apt-get announces them, and as it downloaded them."""

import hashlib
import re
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import unquote

from crosswind.app.requirements.requirement import CannotInstall

_URI_LINE = re.compile(r"'[^']+' (?P<file>(?P<name>[^_ ]+)_(?P<version>[^_ ]+)_\S+\.deb) \d+ ?(?P<sum>\S*)")


@dataclass(frozen=True)
class Archive:
    """A package, as `apt-get --print-uris` announces it or as it is recorded; `checksum` is `algorithm:hex`.

    apt-get announces only MD5 sums, so an archive without one has no checksum. It checks every download
    against the signed index in any case; the record has the SHA-256 of the downloaded file.
    """

    name: str
    version: str
    file: str
    checksum: str


def parse_uris(printed: str) -> list[Archive]:
    """Return the packages in the output of `apt-get install --print-uris`.

    A line is `'URI' name_version_architecture.deb size algorithm:hex`; the last part may be missing. Other
    lines are notes and are ignored.
    """
    archives = []
    for line in printed.splitlines():
        if match := _URI_LINE.fullmatch(line):
            archives.append(Archive(match["name"], unquote(match["version"]), match["file"], match["sum"]))
    return archives


def checked(announced: Archive, downloaded: Path) -> Archive:
    """Compare a downloaded file with its announced checksum, and return the archive with its SHA-256.

    Raises: CannotInstall: the checksums differ, or the file does not exist.
    """
    if not downloaded.is_file():
        raise CannotInstall(
            f"{downloaded.name}: apt-get did not download it; run `apt-get update` and try again"
        )
    algorithm, _, expected = (announced.checksum or "SHA256:").partition(":")
    algorithm = {"MD5Sum": "md5"}.get(algorithm, algorithm.lower())
    content = downloaded.read_bytes()
    found = hashlib.new(algorithm, content).hexdigest()
    if expected and found != expected:
        raise CannotInstall(
            f"{downloaded.name}: its {algorithm} is {found}, but {expected} was announced; try again"
        )
    return replace(announced, checksum=f"sha256:{hashlib.sha256(content).hexdigest()}")
