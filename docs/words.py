"""Find words that plain English does without: print each place that has one, and fail if there is any.

It reads what people read: Markdown, the report's templates, and of Python files the strings (with docstrings)
and the comments.
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

INSTEAD = {
    r"in force": "active, applied",
    r"in print": "published",
    r"brought home|what came back": "the result",
    r"nobody knows": "unknown",
    r"whoever": "the process, the client, the reader",
    r"so many|so much": "the number itself",
    r"asked of": "measured on",
    r"standstills?": "stall",
    r"told": "reported, shown",
    r"processors?": "CPU, core",
    r"a lot of|lots of": "many; sets of samples",
    r"beside a load": "under a load average",
    r"remarks?": "note, warning",
}
WORDS = re.compile("|".join(rf"(?P<w{n}>\b(?:{words})\b)" for n, words in enumerate(INSTEAD)), re.IGNORECASE)

CODE = re.compile(r"{[{%].*?[%}]}|^( *)```.*?^\1```$|`[^`\n]+`|\]\([^)\s]+\)", re.MULTILINE | re.DOTALL)
# What a docstring lists is called what it is called: an attribute, or code.
NAMES = re.compile(r"`[^`\n]*`|^ +\w+(, \w+)*: ", re.MULTILINE)

ROOT = Path(__file__).parents[1]
# Laboratory records and decisions are history, and stay as they were written.
READ = (
    "README.md",
    "CONTRIBUTING.md",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "bench",
    "docs/README.md",
    "docs/limits.md",
    "docs/sources.md",
    "docs/gallery/README.md",
    "docs/contribute",
    "docs/explanation",
    "docs/guides",
    "docs/tutorial",
    "docs/reference/failures.md",
    "docs/reference/faq.md",
    "docs/generate.py",
    "docs/reference_pages",
    "docs/site_hooks.py",
    "python/crosswind",
)


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the text that people read in a file, each piece with the number of its first line."""
    source = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        # Code names what it likes: that of a template, blocks and spans of Markdown, targets of links.
        lines = CODE.sub(lambda code: "\n" * code.group().count("\n"), source).split("\n")
        yield from enumerate(lines, 1)
        return
    for node in ast.walk(ast.parse(source)):
        # A string without a space is a key, not a sentence.
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield node.lineno, NAMES.sub("", node.value)


def main() -> int:
    """Print every place and return the exit status."""
    files = [file for name in READ for file in ([ROOT / name, *(ROOT / name).rglob("*")])]
    found = [
        f"{file.relative_to(ROOT)}:{line}: {match.group()!r}: say {INSTEAD[words]}"
        for file in files
        if file.suffix in (".md", ".j2", ".py")
        for line, text in texts(file)
        for match in WORDS.finditer(text)
        for words in [list(INSTEAD)[int((match.lastgroup or "w0")[1:])]]
    ]
    print("\n".join(sorted(found)))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
