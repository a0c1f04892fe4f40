"""Unpack an image file: its root file system, and its configuration.

Two kinds of file are supported. `docker save` and `podman save` write a manifest, a configuration and layers;
each layer is a tar that adds files to the layers before it and removes others. `docker export` writes the tar
of a root file system without a configuration. Unpacked files belong to the current account, without special
bits. Devices are left out, because a service sees the node's own /dev.

Source: OCI Image Format Specification 1.1, layer.md, sections "Applying Changesets" and "Whiteouts".
"""

from __future__ import annotations

import contextlib
import hashlib
import shutil
import tarfile
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field, TypeAdapter

from crosswind.app.compose.inside import inside
from crosswind.app.written import WrittenPart
from crosswind.testbed.errors import TestbedError

_WHITEOUT = ".wh."
_OPAQUE = ".wh..wh..opq"


@dataclass(frozen=True)
class ImageConfiguration:
    """How an image is started."""

    entrypoint: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    environment: tuple[str, ...] = ()  # NAME=VALUE
    working_dir: str = "/"


class _Config(WrittenPart):
    entrypoint: list[str] | None = Field(None, alias="Entrypoint")
    command: list[str] | None = Field(None, alias="Cmd")
    environment: list[str] | None = Field(None, alias="Env")
    working_dir: str | None = Field(None, alias="WorkingDir")


class _Document(WrittenPart):
    """The configuration of an image, as far as it is read (OCI Image Format, config.md)."""

    config: _Config | None = None


class _Manifest(WrittenPart):
    """An entry of `manifest.json`: the names of the configuration and of the layers in the archive."""

    config: str = Field(alias="Config")
    layers: list[str] = Field(alias="Layers")


_MANIFESTS = TypeAdapter(list[_Manifest])


def digest_of(archive: Path) -> str:
    """Return the digest of an image file: the SHA-256 of its configuration, or else of the whole file.

    Raises: TestbedError: it is not an image.
    """
    with _opened(archive) as tar:
        manifest = _manifest(tar)
        if manifest is not None:
            return hashlib.sha256(_member(tar, manifest.config)).hexdigest()
    with archive.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def unpack(archive: Path, root: Path) -> ImageConfiguration:
    """Unpack an image file into an empty folder.

    Raises: TestbedError: it is not an image, or is damaged.
    """
    try:
        return _unpack(archive, root)
    except (tarfile.TarError, EOFError, KeyError, ValueError) as error:
        raise TestbedError(f"image {archive}: {error}; it is damaged: save it again") from None


def _unpack(archive: Path, root: Path) -> ImageConfiguration:
    with _opened(archive) as tar:
        manifest = _manifest(tar)
        if manifest is None:
            _apply(tar, root)
            return ImageConfiguration()
        for layer in manifest.layers:
            content = tar.extractfile(layer)
            assert content is not None
            with tarfile.open(fileobj=content) as layer_tar:
                _apply(layer_tar, root)
        found = _Document.model_validate_json(_member(tar, manifest.config)).config or _Config()
        return ImageConfiguration(
            tuple(found.entrypoint or ()),
            tuple(found.command or ()),
            tuple(found.environment or ()),
            found.working_dir or "/",
        )


def _opened(archive: Path) -> tarfile.TarFile:
    try:
        return tarfile.open(archive)
    except (OSError, tarfile.TarError) as error:
        raise TestbedError(
            f"image {archive}: {str(error).lower()}; name a file that `docker save` or `docker export` wrote"
        ) from None


def _manifest(tar: tarfile.TarFile) -> _Manifest | None:
    """Return the entry of the only image in an archive; None for a root file system alone."""
    try:
        images = _MANIFESTS.validate_json(_member(tar, "manifest.json"))
    except KeyError:
        return None
    if len(images) != 1:
        raise TestbedError(f"image {tar.name!r}: has {len(images)} images; save only one")
    return images[0]


def _member(tar: tarfile.TarFile, name: str) -> bytes:
    content = tar.extractfile(name)
    assert content is not None
    return content.read()


def _apply(tar: tarfile.TarFile, root: Path) -> None:
    """Apply one layer: add, replace and remove files."""
    for member in tar:
        folder, _, name = member.name.strip("/").rpartition("/")
        if name in ("", ".", ".."):
            continue
        parent = inside(root, folder)
        if name == _OPAQUE:
            for entry in parent.iterdir() if parent.is_dir() else ():
                _remove(entry)
        elif name.startswith(_WHITEOUT):
            _remove(parent / name.removeprefix(_WHITEOUT))
        else:
            parent.mkdir(parents=True, exist_ok=True)
            _place(tar, member, parent / name, root)


def _place(tar: tarfile.TarFile, member: tarfile.TarInfo, target: Path, root: Path) -> None:
    # A layer may replace any file by any other; only a folder that stays a folder keeps its content.
    if not (member.isdir() and target.is_dir() and not target.is_symlink()):
        _remove(target)
    if member.isdir():
        target.mkdir(exist_ok=True)
        # This process must enter the folder and, for a later layer, write into it.
        target.chmod(member.mode & 0o777 | 0o700)
    elif member.issym():
        target.symlink_to(member.linkname)
    elif member.islnk():
        folder, _, name = member.linkname.strip("/").rpartition("/")
        target.hardlink_to(inside(root, folder) / name)
    elif member.isfile():
        content = tar.extractfile(member)
        assert content is not None
        with target.open("wb") as copy:
            shutil.copyfileobj(content, copy)
        target.chmod(member.mode & 0o777 | 0o400)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
        return
    with contextlib.suppress(FileNotFoundError):
        path.unlink()
