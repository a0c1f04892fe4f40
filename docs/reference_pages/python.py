"""docs/reference/python.md: the public names of `import crosswind`, from their docstrings."""

from __future__ import annotations

import dataclasses
import inspect
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

import crosswind
from crosswind.api import pytest_plugin
from reference_pages import markdown

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

# In reading order. The build fails if a public name is missing here.
_SECTIONS = {
    "Results": ("load", "LoadedRun", "Monitors", "Summary", "ConditionSummary", "Interval", "Surface"),
    "Runs": ("run", "RunNotWhole", "compare", "RunComparison", "Compared", "RatioInterval"),
    "Networks": ("Fabric", "Reading", "ElementReading", "Written", "Step", "Subscription"),
    "Errors": ("CrosswindError",),
}
_STARS: Mapping[object, str] = {
    inspect.Parameter.VAR_POSITIONAL: "*",
    inspect.Parameter.VAR_KEYWORD: "**",
}
_HEADS = ("Args", "Attributes", "Returns", "Raises")


def page() -> str:
    """Return the page."""
    listed = {name for names in _SECTIONS.values() for name in names} | {"__version__"}
    assert listed == set(crosswind.__all__), listed ^ set(crosswind.__all__)
    sections = [
        "\n\n".join([f"## {title}", *(_entry(name) for name in names)]) for title, names in _SECTIONS.items()
    ]
    plugin = "\n\n".join(["## In pytest", *_text(inspect.getdoc(pytest_plugin) or "")])
    return markdown.page(
        "Python",
        "the docstrings of python/crosswind/api",
        "Everything here is a name of `import crosswind`, with types that mypy checks (`py.typed`).",
        *sections,
        plugin,
    )


def _entry(name: str) -> str:
    value = getattr(crosswind, name)
    parts = [f"### crosswind.{name}"]
    if not inspect.isclass(value):
        return "\n\n".join([*parts, _signature(name, value), *_text(inspect.getdoc(value) or "")])
    text = inspect.getdoc(value) or ""
    # Only Crosswind makes instances of other classes.
    if "\nArgs:" in text:
        parts.append(_signature(name, value))
    parts += _text(text)
    if dataclasses.is_dataclass(value):
        parts.append(_fields(value))
    for member, made in _members(value):
        parts.append(f"#### {name}.{member}")
        if isinstance(made, property | cached_property):
            read = made.fget if isinstance(made, property) else made.func
            assert read is not None
            parts.append(
                markdown.fenced(f"{member}: {_type(inspect.signature(read).return_annotation)}", "python")
            )
        else:
            parts.append(_signature(member, made))
        parts += _text(inspect.getdoc(made) or "")
    return "\n\n".join(parts)


def _fields(kind: type[DataclassInstance]) -> str:
    """Return the fields of a dataclass, each with its trailing comment."""
    source = inspect.getsource(kind)
    rows = []
    for field in dataclasses.fields(kind):
        comment = re.search(rf"^    {field.name}: .*?  # (.*)$", source, re.MULTILINE)
        rows.append([f"`{field.name}`", f"`{_type(field.type)}`", comment[1] if comment else ""])
    if not any(comment for _, _, comment in rows):
        return markdown.table(["field", "type"], [row[:2] for row in rows])
    return markdown.table(["field", "type", "meaning"], rows)


def _members(kind: type) -> Iterator[tuple[str, Callable[..., object] | property | cached_property[object]]]:
    """Yield the public methods and properties of a class and of those of Crosswind that it is made of.

    They come in the order of the code, its own first.
    """
    seen: set[str] = set()
    for part in (part for part in kind.__mro__ if part.__module__.partition(".")[0] == crosswind.__name__):
        for name, value in vars(part).items():
            if name.startswith("_") or name in seen:
                continue
            seen.add(name)
            if inspect.isfunction(value) or isinstance(value, property | cached_property):
                yield name, value


def _signature(name: str, value: Callable[..., object]) -> str:
    """Return a signature as a block of code; a long one has one argument per line."""
    signature = inspect.signature(value)
    parameters = [parameter for parameter in signature.parameters.values() if parameter.name != "self"]
    returned = signature.return_annotation
    # A class has no return annotation, and that of a constructor is not useful.
    end = "" if inspect.isclass(value) or returned is inspect.Signature.empty else f" -> {_type(returned)}"
    shown = _shown(parameters)
    line = f"{name}({', '.join(shown)}){end}"
    if len(line) > 100:
        line = f"{name}(\n    " + ",\n    ".join(shown) + f",\n){end}"
    return markdown.fenced(line, "python")


def _shown(parameters: list[inspect.Parameter]) -> list[str]:
    """Return the arguments as in code, with a star before keyword-only arguments."""
    shown: list[str] = []
    for parameter in parameters:
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY and "*" not in shown:
            shown.append("*")
        name = _STARS.get(parameter.kind, "") + parameter.name
        default = parameter.default
        equals = "" if default is inspect.Parameter.empty else f" = {_default(default)}"
        shown.append(f"{name}: {_type(parameter.annotation)}{equals}")
    return shown


def _type(annotation: object) -> str:
    """Return an annotation as in code, without the modules of Crosswind and of common types."""
    # Quotes as the formatter writes them.
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    text = text.replace("'", '"')
    return re.sub(r"\b(?:crosswind\.(?:\w+\.)*|typing\.|pathlib\.|collections\.abc\.)(?=\w)", "", text)


def _default(value: object) -> str:
    # The only default that is a constant of `subprocess`.
    return "DEVNULL" if value == -3 else repr(value)


def _text(docstring: str) -> list[str]:
    """Return a docstring (style.md) as paragraphs, lists and blocks of code."""
    parts: list[str] = []
    for block in re.split(r"\n\n", docstring):
        if block.startswith("    "):
            parts.append(markdown.fenced(textwrap.dedent(block), "python"))
            continue
        parts += _paragraph(block)
    return parts


def _paragraph(block: str) -> Iterator[str]:
    """Yield a paragraph; its parts that begin with `Args:` and the like become lists."""
    for part in re.split(rf"\n(?=(?:{'|'.join(_HEADS)}):)", block):
        head = re.match(rf"({'|'.join(_HEADS)}):[ \n]", part)
        if head is None:
            yield part
            continue
        content = part[head.end() :]
        items = re.split(r"\n(?= {4}\S)", content) if content.startswith("    ") else [content]
        lines = [_item(" ".join(item.split()), head[1]) for item in items]
        yield f"{head[1]}:\n\n" + "\n".join(f"* {line}" for line in lines)


def _item(text: str, head: str) -> str:
    """Return an item of a list, with the names before its colon as code."""
    names, colon, rest = text.partition(": ")
    named = re.fullmatch(r"[\w.]+(, [\w.]+)*", names)
    if not colon or head == "Returns" or named is None:
        return text
    return ", ".join(f"`{name}`" for name in names.split(", ")) + f": {rest}"
