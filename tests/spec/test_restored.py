"""Parameters that went through resolved.json are the parameters that went in."""

from __future__ import annotations

import json
from typing import Annotated

from pydantic import Field

from crosswind.spec.base import ReadingContext, SpecModel
from crosswind.spec.named_file import NamedFile, named_file, named_files
from crosswind.spec.quantities import PositiveDuration
from crosswind.spec.restored import restored


class Part(SpecModel):
    within_ns: PositiveDuration = Field(1_000_000_000, alias="within")
    words: tuple[str, ...] = ()


class Other(SpecModel):
    count: int


class Whole(SpecModel):
    parts: dict[str, Part]
    either: Part | Other | str
    optional: Annotated[Part | Other, Field(description="a union with something said about it")] | None
    listed: list[Other | None]
    trace: Annotated[NamedFile[dict[str, Other]], *named_file(lambda _: {"a": Other(count=3)}, "a.txt")]


def read() -> Whole:
    data = {
        "parts": {"x": {"within": "2s", "words": ("a", "b")}},
        "either": {"count": 1},
        "optional": {"count": 4},
        "listed": [{"count": 2}, None],
        "trace": "a.txt",
    }
    return Whole.model_validate(data, context=ReadingContext(lambda _: b"content", lambda _: []))


def test_nested_models_unions_and_named_files_come_back() -> None:
    whole = read()
    assert restored(Whole, json.loads(json.dumps(whole.model_dump(mode="json")))) == whole


def test_what_is_absent_has_its_default() -> None:
    assert restored(Part, {}).within_ns == 10**9


def test_files_are_found_however_deep_they_are_named() -> None:
    assert [file.file for file in named_files(read())] == ["a.txt"]
