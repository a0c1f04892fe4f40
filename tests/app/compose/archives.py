"""Images as files, made here as `docker save` and `docker export` write them."""

from __future__ import annotations

import hashlib
import io
import json
import re
import subprocess
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

Content = bytes | str | None


def layer(entries: Mapping[str, Content]) -> bytes:
    """Return a tar: bytes become files, text becomes links, None becomes folders."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as tar:
        for name, content in entries.items():
            member = tarfile.TarInfo(name)
            member.mode = 0o755
            if content is None:
                member.type = tarfile.DIRTYPE
            elif isinstance(content, str):
                member.type, member.linkname = tarfile.SYMTYPE, content
            else:
                member.size = len(content)
            tar.addfile(member, io.BytesIO(content) if isinstance(content, bytes) else None)
    return stream.getvalue()


def save(path: Path, layers: Sequence[bytes], config: Mapping[str, Any]) -> Path:
    """Write an image as `docker save` does; it is named by the digest of its configuration."""
    digests = [f"sha256:{hashlib.sha256(content).hexdigest()}" for content in layers]
    document = {"architecture": "amd64", "os": "linux", "config": config}
    configuration = json.dumps(document | {"rootfs": {"type": "layers", "diff_ids": digests}}).encode()
    name = f"blobs/sha256/{hashlib.sha256(configuration).hexdigest()}"
    files = {name: configuration}
    names = []
    for content in layers:
        names.append(f"blobs/sha256/{hashlib.sha256(content).hexdigest()}")
        files[names[-1]] = content
    files["manifest.json"] = json.dumps([{"Config": name, "RepoTags": ["x:1"], "Layers": names}]).encode()
    path.write_bytes(layer(files))
    return path


def with_programs(*programs: str) -> dict[str, Content]:
    """Return the files of a root in which these programs of the host run: each with its shared libraries."""
    entries: dict[str, Content] = {"bin": None, "etc": None, "tmp": None}
    for program in programs:
        entries[f"bin/{Path(program).name}"] = Path(program).read_bytes()
        listed = subprocess.run(["ldd", program], capture_output=True, text=True, check=False).stdout
        for library in re.findall(r"(/\S+) \(0x", listed):
            entries[library.lstrip("/")] = Path(library).read_bytes()
    return entries
