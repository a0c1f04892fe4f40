"""Compose files of tests: read from memory."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from crosswind.app.compose.file import ComposeFile, read_compose
from crosswind.app.compose.files import ComposeFiles
from crosswind.spec.problems import SpecErrors


def files_of(contents: Mapping[str, str]) -> ComposeFiles:
    """Return files with these contents, by their paths."""

    def read(name: str) -> bytes:
        if name not in contents:
            raise FileNotFoundError(2, "No such file or directory", name)
        return contents[name].encode()

    def below(folder: str) -> list[str]:
        prefix = "" if folder == "." else f"{folder}/"
        return sorted(name for name in contents if name.startswith(prefix))

    return ComposeFiles(read, below)


def compose(
    text: str,
    others: Mapping[str, str] | None = None,
    *,
    variables: Mapping[str, str] | None = None,
    profiles: Collection[str] = (),
    wanted: Collection[str] = (),
) -> ComposeFile:
    """Return what a compose file in the folder `sub` says."""
    files = files_of({**(others or {}), "sub/compose.yaml": text})
    return read_compose(
        "sub/compose.yaml", files, variables=variables or {}, profiles=profiles, wanted=wanted
    )


def problems(text: str, others: Mapping[str, str] | None = None) -> list[str]:
    """Return what is wrong with a compose file, each with its place."""
    try:
        compose(text, others)
    except SpecErrors as errors:
        return [str(problem) for problem in errors.problems]
    return []
