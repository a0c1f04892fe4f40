"""A fingerprint's file, written and read; what it holds is docs/reference/contracts.md, section 9."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from crosswind.errors import CrosswindError
from crosswind.spec.read_file import read_file

# Of the document that this version writes, and the highest that it reads.
SCHEMA = 3


class NotAFingerprint(CrosswindError):
    """A file is no fingerprint that this version can read; the message says what is the matter."""


def read_fingerprint(path: Path) -> dict[str, Any]:
    """Return the document in a file.

    Raises: NotAFingerprint: it cannot be read, is none, or is of a later schema.
    """
    try:
        document = json.loads(read_file(path))
    except OSError as error:
        raise NotAFingerprint(f"{path}: cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise NotAFingerprint(f"{path}: is no whole JSON ({error}); is the file cut off?") from None
    schema = document.get("schema") if isinstance(document, Mapping) else None
    if not isinstance(schema, int) or "between" not in document:
        raise NotAFingerprint(f"{path}: is no fingerprint; `crosswind fingerprint FILE` measures one")
    if schema > SCHEMA:
        raise NotAFingerprint(
            f"{path}: is a fingerprint of schema {schema}, and this version reads up to {SCHEMA}; "
            "use the version that wrote it, or a later one"
        )
    return dict(document)


def text_of(document: Mapping[str, Any]) -> str:
    """Return a document as it is kept, a sample of its trace a line."""
    if "trace" not in document:
        return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    trace = ",\n    ".join(json.dumps(row) for row in document["trace"])
    rest = {name: part for name, part in document.items() if name != "trace"}
    return f'{json.dumps(rest, indent=2, ensure_ascii=False)[:-2]},\n  "trace": [\n    {trace}\n  ]\n}}\n'
