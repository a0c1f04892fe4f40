"""A real results folder, damaged in many ways: what reads it names the file and never blames itself."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

from crosswind.cli._main import run

if TYPE_CHECKING:
    from conftest import Live

SEED = 20
# What a value of a document is replaced by.
ODD = (None, [], {}, "x", -1, 0, 1e308, True, [[]], {"x": 1})
VERBS = (
    ("report", "--json", "FOLDER"),
    ("compare", "WHOLE", "FOLDER"),
    ("analyze", "FOLDER"),
    ("resume", "FOLDER"),
    ("report", "FOLDER"),
)


def cut(content: bytes, random: random.Random) -> bytes:
    return content[: random.randrange(len(content))]


def flip(content: bytes, random: random.Random) -> bytes:
    damaged = bytearray(content)
    for _ in range(8):
        damaged[random.randrange(len(damaged))] ^= 1 << random.randrange(8)
    return bytes(damaged)


def blank(content: bytes, random: random.Random) -> bytes:
    begin = random.randrange(len(content))
    length = min(512, len(content) - begin)
    return content[:begin] + bytes(length) + content[begin + length :]


def other(content: bytes, random: random.Random) -> bytes:
    return random.choice((b"", b"null", b"[]", b"{}", b"not this", b"[" * 100_000, b"\xff" * 64))


def spots(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every place of a document: what it is in, and its key or index there."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, member in list(inner):
        yield value, key
        yield from spots(member)


def without(content: bytes, random: random.Random) -> bytes:
    document = json.loads(content)
    parent, key = random.choice(list(spots(document)))
    del parent[key]
    return json.dumps(document).encode()


def odd(content: bytes, random: random.Random) -> bytes:
    document = json.loads(content)
    parent, key = random.choice(list(spots(document)))
    parent[key] = random.choice(ODD)
    return json.dumps(document).encode()


def damage_table(path: Path, random: random.Random) -> None:
    """Leave out a column of a table, make it text, or make it nothing."""
    columns = [name for name, *_ in duckdb.sql(f"DESCRIBE SELECT * FROM '{path}'").fetchall()]
    column = random.choice(columns)
    change = random.choice(
        (
            f"EXCLUDE ({column})",
            f"REPLACE ('x' || {column} AS {column})",
            f"REPLACE (NULL AS {column})",
        )
    )
    if change.startswith("EXCLUDE") and len(columns) == 1:
        change = f"REPLACE (NULL AS {column})"
    part = path.with_suffix(".part")
    duckdb.sql(f"COPY (SELECT * {change} FROM '{path}') TO '{part}' (FORMAT parquet)")
    part.replace(path)


def damage(path: Path, random: random.Random) -> str:
    """Damage a file; return how."""
    ways: list[Callable[[bytes, random.Random], bytes]] = [cut, flip, blank, other]  # type: ignore[name-defined]
    if path.suffix == ".json":
        ways += [without, odd, odd]
    elif random.random() < 0.4:
        damage_table(path, random)
        return "table"
    way = random.choice(ways)
    path.write_bytes(way(path.read_bytes(), random))
    return way.__name__


def check_damaged(whole: Path, folder: Path, capsys: pytest.CaptureFixture[str], number: int) -> None:
    """Damage a copy of a folder, read it with one verb, and check what is said."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(whole, folder)
    chosen = random.Random(SEED * 1000 + number)
    kinds = ("resolved.json", "provenance.json", "samples/*", "monitors/*", "monitors/*.json", "*.parquet")
    path = chosen.choice(sorted(folder.glob(kinds[number % len(kinds)])))
    way = damage(path, chosen)
    arguments = [
        {"FOLDER": str(folder), "WHOLE": str(whole)}.get(word, word) for word in VERBS[number % len(VERBS)]
    ]
    status = run(arguments)
    said = "".join(capsys.readouterr())
    case = f"{number}: {path.name}, {way}, {arguments[0]}: {said[-600:]}"
    assert "internal error" not in said, case
    assert status in (0, 2, 6, 7), case
    if status == 2:
        assert path.name in said, case


# Thirty have each verb with each kind of file.
@pytest.mark.parametrize("ways", [30, pytest.param(120, marks=pytest.mark.long)])
def test_what_reads_a_damaged_folder_names_the_file(
    live: Live,
    experiment: Callable[..., str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: Any,
    ways: int,
) -> None:
    status, said = live.run("run", experiment(repeat=2))
    assert status == 0, said
    for name, value in live.env.items():
        monkeypatch.setenv(name, value)
    for number in range(ways):
        check_damaged(live.run_folder, live.folder / "damaged", capsys, number)
