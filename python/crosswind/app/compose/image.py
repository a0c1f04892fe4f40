"""Images of services: from files that the experiment names, or from podman or docker; unpacked once."""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from types import MappingProxyType

from pydantic import TypeAdapter

from crosswind.app.base import Missing
from crosswind.app.compose.build import Build
from crosswind.app.compose.unpack import ImageConfiguration, digest_of, unpack
from crosswind.results.durable import write_text
from crosswind.testbed.errors import NotHere, TestbedError
from crosswind.testbed.folders import cache_folder, give_tree, remove_tree

_TOOLS = ("podman", "docker")
_CONFIGURATION = "configuration.json"
_ROOT = "root"
_ASK_S = 20.0


class Images:
    """The images of a compose file.

    Args:
        archives: image files, by the names of images in the compose file.
        builds: builds of images without a file.
    """

    def __init__(
        self, archives: Mapping[str, str], builds: Mapping[str, Build] = MappingProxyType({})
    ) -> None:
        self._archives = archives
        self._builds = {name: build for name, build in builds.items() if name not in archives}
        self._digests: dict[str, str] = {}

    def missing(self, names: set[str]) -> list[Missing]:
        """Return the images that this machine neither has nor can build."""
        found = []
        tool = next((tool for tool in _TOOLS if shutil.which(tool)), _TOOLS[0])
        for name in sorted(names):
            if name in self._builds:
                found += self._build_missing(name)
                continue
            try:
                self.digest(name)
            except NotHere as error:
                found.append(
                    Missing(
                        str(error),
                        f"run {tool} pull {name}, or name an image file: images: {{{name}: /FILE.tar}}",
                    )
                )
        return found

    def digest(self, name: str) -> str:
        """Return the SHA-256 that identifies an image.

        Raises: NotHere: there is no such image.
        """
        if name not in self._digests:
            archive = self._archives.get(name)
            if archive is None:
                self._digests[name] = _ask(name)[1]
            elif not Path(archive).is_file():
                raise NotHere(f"image {name}: {archive} is not a file")
            else:
                self._digests[name] = digest_of(Path(archive))
        return self._digests[name]

    def identity(self, name: str) -> str:
        """Return what identifies an image in the provenance; for a build, the digest of its inputs."""
        build = self._builds.get(name)
        return f"sha256:{self.digest(name)}" if build is None else f"built as {build.tag}"

    def is_unpacked(self, name: str) -> bool:
        """Return whether the image is in the cache."""
        return (self._folder(name) / _CONFIGURATION).is_file()

    def root(self, name: str) -> Path:
        """Return the root file system of an unpacked image, which must be copied and not changed."""
        return self._folder(name) / _ROOT

    def configuration(self, name: str) -> ImageConfiguration:
        """Return the configuration of an unpacked image."""
        return TypeAdapter(ImageConfiguration).validate_json(
            (self._folder(name) / _CONFIGURATION).read_bytes()
        )

    def unpack(
        self, name: str, uid: int, gid: int, copies: Mapping[str, Path] = MappingProxyType({})
    ) -> None:
        """Unpack an image into the cache, completely or not at all, and give its files to an account.

        Args:
            copies: the files for builds, by name.
        """
        if self.is_unpacked(name):
            return
        folder = self._folder(name)
        folder.parent.mkdir(parents=True, exist_ok=True)
        partial = Path(tempfile.mkdtemp(prefix=".part-", dir=folder.parent))
        try:
            archive = self._archive(name, partial / "saved.tar", copies)
            (partial / _ROOT).mkdir()
            configuration = unpack(archive, partial / _ROOT)
            (partial / "saved.tar").unlink(missing_ok=True)
            give_tree(partial / _ROOT, uid, gid)
            # The folder stays private: the account may change copies of the image, but not the image.
            write_text(partial / _CONFIGURATION, json.dumps(asdict(configuration)) + "\n")
            remove_tree(folder)
            partial.rename(folder)
        finally:
            shutil.rmtree(partial, ignore_errors=True)

    def _archive(self, name: str, saved: Path, copies: Mapping[str, Path]) -> Path:
        """Return the file of an image; if none is named, write it to `saved`."""
        if name in self._archives:
            return Path(self._archives[name])
        build = self._builds.get(name)
        if build is None:
            return _save(_ask(name)[0], name, saved)
        tool = _builder()
        if tool is None:
            raise NotHere(f"image {name}: cannot be built, because neither podman nor docker is installed")
        build.run(tool, copies)
        return _save(tool, build.tag, saved)

    def _build_missing(self, name: str) -> list[Missing]:
        """Return the image in a list if it is not in the cache and no tool can build it."""
        if self.is_unpacked(name) or _builder() is not None:
            return []
        here = [tool for tool in _TOOLS if shutil.which(tool)]
        why = (
            f"{' and '.join(here)} cannot reach an engine"
            if here
            else "neither podman nor docker is installed"
        )
        build = self._builds[name]
        remedy = (
            f"install podman, or build it elsewhere (docker build {build.context}; docker save) and name the "
            f"file: images: {{{name}: /FILE.tar}}"
        )
        return [Missing(f"image {name}: is built from {build.context}, and {why}", remedy)]

    def _folder(self, name: str) -> Path:
        build = self._builds.get(name)
        digest = self.digest(name) if build is None else build.tag.rpartition(":")[2]
        return cache_folder() / "images" / digest


def _ask(name: str) -> tuple[str, str]:
    """Return the tool that has an image, and the digest of the image.

    Raises: NotHere: neither podman nor docker has it; the message has the error of each.
    """
    said = []
    for tool in _TOOLS:
        if shutil.which(tool) is None:
            said.append(f"{tool} is not installed")
            continue
        try:
            done = subprocess.run(
                [tool, "image", "inspect", "--format", "{{.Id}}", name],
                capture_output=True,
                text=True,
                timeout=_ASK_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            said.append(f"{tool} does not answer")
            continue
        if done.returncode == 0:
            return tool, done.stdout.strip().removeprefix("sha256:")
        said.append(f"{tool}: {' '.join(done.stderr.split())}")
    raise NotHere(f"image {name}: {'; '.join(said)}")


def _builder() -> str | None:
    """Return the first tool that can reach an engine."""
    for tool in _TOOLS:
        if shutil.which(tool) is None:
            continue
        with contextlib.suppress(subprocess.TimeoutExpired):
            asked = subprocess.run([tool, "info"], capture_output=True, timeout=_ASK_S, check=False)
            if asked.returncode == 0:
                return tool
    return None


def _save(tool: str, name: str, archive: Path) -> Path:
    """Write an image of podman or docker into a file."""
    done = subprocess.run(
        [tool, "save", "--output", archive, name], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise TestbedError(f"image {name}: {tool} save: {' '.join(done.stderr.split())}")
    return archive
