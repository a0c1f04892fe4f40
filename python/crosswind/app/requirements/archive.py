"""Debian archives: what apt-get announces, and what it downloaded."""

import hashlib
import re
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import unquote

from crosswind.app.requirements.requirement import CannotInstall

_URI_LINE = re.compile(r"'[^']+' (?P<file>(?P<name>[^_ ]+)_(?P<version>[^_ ]+)_\S+\.deb) \d+ ?(?P<sum>\S*)")


@dataclass(frozen=True)
class Archive:
    """A package as `apt-get --print-uris` announces it and as is recorded; `checksum` is `algorithm:hex`.

    Archives without MD5 sums are announced without a checksum: apt-get prints no other. It has checked the
    download against the signed index all the same, and what is recorded is the SHA-256 of what came.
    """

    name: str
    version: str
    file: str
    checksum: str


def parse_uris(printed: str) -> list[Archive]:
    """Return the packages in the output of `apt-get install --print-uris`.

    A line is `'URI' name_version_architecture.deb size algorithm:hex`, the last part of which may be missing;
    other lines are remarks.
    """
    archives = []
    for line in printed.splitlines():
        if match := _URI_LINE.fullmatch(line):
            archives.append(Archive(match["name"], unquote(match["version"]), match["file"], match["sum"]))
    return archives


def checked(announced: Archive, downloaded: Path) -> Archive:
    """Return the archive with the SHA-256 of its downloaded file, after a comparison with what was announced.

    Raises: CannotInstall: it is not the announced one, or the file is not there.
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
            f"{downloaded.name}: its {algorithm} is {found}, announced was {expected}; try again"
        )
    return replace(announced, checksum=f"sha256:{hashlib.sha256(content).hexdigest()}")
