"""The files of a service: `volumes`, `tmpfs`, `secrets` and `configs`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from crosswind.app.compose.located import Located
from crosswind.app.compose.mount import Mount, read_file_mount, read_mount, read_tmpfs
from crosswind.app.compose.service_text import ServiceText
from crosswind.spec.quantities import QuantityError, shown


def read_mounts(service: ServiceText) -> Located | None:
    """Return what the service sees at which paths; None where it brings no files."""
    found: list[Mount] = []
    for item in service.listed("volumes"):
        mount = _at(service, item, read_mount)
        if mount is not None:
            found.append(_bound(service, item, mount))
    written = service.items.get("tmpfs")
    for item in [] if written is None else (written.list or [written]):
        mount = _at(service, item, read_tmpfs)
        found += [] if mount is None else [mount]
        says = "is a folder on disk, empty at the start of a trial, without options"
        service.context.note(item.place, "tmpfs", says, matters=True)
    for kind in ("secret", "config"):
        defined = service.context.tree.items.get(f"{kind}s")
        for item in service.listed(f"{kind}s"):
            for key in item.items.keys() & {"uid", "gid", "mode"}:
                says = f"of a {kind} is ignored: every process of the service may read it"
                service.context.note(item.items[key].key, key, says)
            read = partial(
                read_file_mount,
                kind=kind,
                defined=defined,
                files=service.context.files,
                values=service.context.values,
            )
            file = _at(service, item, read)
            found += [] if file is None else [file]
    return service.written.made([mount.model_dump() for mount in found]) if found else None


def _at(service: ServiceText, item: Located, read: Callable[[Located], Mount]) -> Mount | None:
    """Return the mount of an item; None where it has none, after a problem was added at its place."""
    try:
        return read(item)
    except QuantityError as error:
        service.context.problems.append(item.place.problem(f"services.{service.name}: {error}"))
        return None


def _bound(service: ServiceText, item: Located, mount: Mount) -> Mount:
    """Return a mount after checking its source, with a note if the service sees something different."""
    context = service.context
    if mount.kind == "volume":
        defined = context.tree.items.get("volumes")
        if defined is None or mount.source not in defined.items:
            message = f"{shown(mount.source)} is not a volume of the file; add volumes: {{{mount.source}: }}"
            context.problems.append(item.place.problem(f"services.{service.name}: {message}"))
    elif mount.kind == "host" and not mount.read_only:
        says = "is copied for each trial; changes are lost after it"
        context.note(item.place, mount.source, says, matters=True)
    elif mount.kind == "bind":
        try:
            found = context.files.folder(mount.source)
        except QuantityError as error:
            context.problems.append(item.place.problem(f"services.{service.name}: {error}"))
            return mount
        if not found:
            context.note(
                item.place, mount.source, "has no files; the service sees an empty folder", matters=True
            )
        elif not mount.read_only:
            says = "is copied for each trial; changes are lost after it"
            context.note(item.place, mount.source, says)
    return mount
