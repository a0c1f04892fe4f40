"""Mounts of a service: volumes, binds, secrets and configs, in their short and long forms.

Source: the Compose Specification, "volumes", "secrets" and "configs" of services.
"""

from __future__ import annotations

import posixpath
import re
from typing import Literal

from crosswind.app.compose.files import ComposeFiles, path_from
from crosswind.app.compose.located import Located
from crosswind.spec.base import SpecModel
from crosswind.spec.quantities import QuantityError, shown

_SOCKET = re.compile(r".*/(docker|podman|containerd|crio)[^/]*\.sock")
_KERNEL = re.compile(r"/(proc|sys|dev)(/.*)?")
# Modes of the short form; those besides ro, rw and nocopy have no meaning here.
_MODES = {"ro", "rw", "z", "Z", "cached", "delegated", "consistent", "nocopy"}


class Mount(SpecModel):
    """A file or folder that a service sees at `target`.

    Attributes:
        kind: `volume` of the file, `own` folder of the service, `bind` of a path beside the experiment,
            `host`: a path of this machine, or `text`.
        source: name of the volume, path, or the text itself.
        fresh: whether a volume starts empty, even if the image has files at its place.
    """

    kind: Literal["volume", "own", "bind", "host", "text"]
    source: str
    target: str
    read_only: bool = False
    fresh: bool = False


def read_mount(item: Located) -> Mount:
    """Return an entry of `volumes`.

    Raises: QuantityError: it is not one.
    """
    if isinstance(item.value, dict):
        return _long(item)
    if not isinstance(item.value, str):
        raise QuantityError(f'{shown(item.value)} is not a volume; write "SOURCE:/PATH" or "SOURCE:/PATH:ro"')
    parts = item.value.split(":")
    if len(parts) == 1:
        return Mount(kind="own", source="", target=target_path(parts[0]))
    if len(parts) > 3 or not all(parts) or not parts[1].startswith("/"):
        raise QuantityError(f'{shown(item.value)} is not a volume; write "SOURCE:/PATH" or "SOURCE:/PATH:ro"')
    modes = parts[2].split(",") if len(parts) == 3 else []
    for mode in modes:
        if mode not in _MODES:
            raise QuantityError(f"{shown(item.value)} has the mode {mode}; modes are ro and rw")
    return _of(item, parts[0], parts[1], read_only="ro" in modes, fresh="nocopy" in modes)


def read_tmpfs(item: Located) -> Mount:
    """Return an entry of `tmpfs`, whose options follow a colon.

    Raises: QuantityError: it is not one.
    """
    return Mount(kind="own", source="", target=target_path(str(item.value).partition(":")[0]), fresh=True)


def _of(item: Located, source: str, target: str, *, read_only: bool, fresh: bool = False) -> Mount:
    if source.startswith((".", "/", "~")):
        return bind(item, source, target, read_only=read_only)
    return Mount(kind="volume", source=source, target=target_path(target), read_only=read_only, fresh=fresh)


def bind(item: Located, source: str, target: str, *, read_only: bool) -> Mount:
    """Return a bind of a path that an item of a compose file names.

    Raises: QuantityError: a test cannot have it.
    """
    path = path_from(item.place.file, source)
    if _SOCKET.fullmatch(path):
        raise QuantityError(
            f"{shown(source)} is the socket of a container engine, but no engine runs the services; "
            "leave the service out, or configure it without the engine"
        )
    if path.startswith("/") and _KERNEL.fullmatch(path) and not read_only:
        raise QuantityError(f"{shown(source)} would let a trial change this machine; add :ro")
    kind: Literal["host", "bind"] = "host" if path.startswith("/") else "bind"
    return Mount(kind=kind, source=path, target=target_path(target), read_only=read_only)


_LONG_KEYS = {"type", "source", "target", "read_only", "bind", "volume", "tmpfs", "consistency", "image"}


def _long(item: Located) -> Mount:
    values = item.plain()
    for key in values:
        if key not in _LONG_KEYS:
            raise QuantityError(
                f'has "{key}", which is not a key of a volume; keys are {", ".join(sorted(_LONG_KEYS))}'
            )
    kind, source = values.get("type", "volume"), values.get("source")
    target, read_only = values.get("target"), read_bool(values.get("read_only", False))
    options = values.get("volume") or {}
    if not isinstance(target, str):
        raise QuantityError("has no target; add it, such as target: /data")
    if kind == "tmpfs":
        return Mount(kind="own", source="", target=target_path(target), fresh=True)
    if kind not in ("volume", "bind"):
        raise QuantityError(f"{shown(kind)} is not a supported type; types are volume, bind and tmpfs")
    if isinstance(options, dict) and options.get("subpath"):
        raise QuantityError("has a subpath; use a separate volume instead")
    fresh = isinstance(options, dict) and read_bool(options.get("nocopy", False))
    if source is None and kind == "volume":
        return Mount(kind="own", source="", target=target_path(target), fresh=fresh)
    if not isinstance(source, str) or not source:
        raise QuantityError("has no source; add it, such as source: ./data")
    if kind == "volume":
        return Mount(
            kind="volume", source=source, target=target_path(target), read_only=read_only, fresh=fresh
        )
    # In this form, a source without ./ is also a path.
    return bind(item, source, target, read_only=read_only)


def target_path(text: str) -> str:
    """Return a normal path in a service, without `..`, which could lead out of a bind.

    Raises: QuantityError: it is relative.
    """
    if not text.startswith("/"):
        raise QuantityError(f"{shown(text)} is not a path in the service; write it from /")
    return posixpath.normpath(f"/{text.lstrip('/')}")


def read_bool(value: object) -> bool:
    """Return true or false, also from text, because variables are text.

    Raises: QuantityError: it is neither.
    """
    found = {"true": True, "false": False}.get(str(value).lower())
    if found is None:
        raise QuantityError(f"{shown(value)} must be true or false")
    return found


def read_file_mount(
    item: Located, kind: str, defined: Located | None, files: ComposeFiles, values: dict[str, str]
) -> Mount:
    """Return a secret or config of a service, as the top level defines it.

    Args:
        kind: `secret` or `config`.
        defined: the top level's `secrets` or `configs`.
        values: variables that may be its content.

    Raises: QuantityError: it is not one, or is not defined.
    """
    asked = item.plain() if isinstance(item.value, dict) else {"source": item.value}
    name = asked.get("source")
    named = None if defined is None else defined.items.get(str(name))
    if named is None or not isinstance(named.value, dict):
        raise QuantityError(
            f"{shown(name)} is not a {kind} of the file; add {kind}s: {{{name}: {{file: ./{name}}}}}"
        )
    usual = f"/run/secrets/{name}" if kind == "secret" else f"/{name}"
    target = str(asked.get("target") or usual)
    if not target.startswith("/"):
        target = f"/run/secrets/{target}" if kind == "secret" else f"/{target}"
    target = target_path(target)
    says = named.plain()
    if isinstance(says.get("file"), str):
        path = path_from(named.place.file, says["file"])
        if path.startswith("/"):
            return Mount(kind="host", source=path, target=target, read_only=True)
        files.needed(path, f"file of the {kind} {name}")
        return Mount(kind="bind", source=path, target=target, read_only=True)
    if isinstance(says.get("environment"), str):
        variable = says["environment"]
        if variable not in values:
            raise QuantityError(
                f"{shown(name)} is the variable {variable}, which has no value; write it into .env"
            )
        return Mount(kind="text", source=values[variable], target=target, read_only=True)
    if isinstance(says.get("content"), str) and kind == "config":
        return Mount(kind="text", source=says["content"], target=target, read_only=True)
    raise QuantityError(
        f"{shown(name)} is defined outside the file; write {kind}s: {{{name}: {{file: ./{name}}}}}"
    )
