"""Find words that plain English does without: print each place that has one, and fail if there is any.

It reads what people read: Markdown, the report's templates, the comments of code, and the strings of Python,
among them docstrings.
"""

import ast
import io
import re
import sys
import tokenize
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
# In Rust and YAML; `//` after a colon is part of an address.
COMMENT = re.compile(r"(?<!:)//.*|(?<!\S)#(?!\[).*")
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
    "crates",
    "tests",
)


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the text that people read in a file, each piece with the number of its first line."""
    source = path.read_text(encoding="utf-8")
    if path.suffix in (".rs", ".yaml"):
        for number, line in enumerate(source.split("\n"), 1):
            if comment := COMMENT.search(line):
                yield number, NAMES.sub("", comment.group())
        return
    if path.suffix != ".py":
        # Code names what it likes: that of a template, blocks and spans of Markdown, targets of links.
        lines = CODE.sub(lambda code: "\n" * code.group().count("\n"), source).split("\n")
        yield from enumerate(lines, 1)
        return
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], NAMES.sub("", token.string)
    if path.is_relative_to(ROOT / "tests"):
        return  # Strings of tests are often what must be refused.
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
        if file.suffix in (".md", ".j2", ".py", ".rs", ".yaml")
        for line, text in texts(file)
        for match in WORDS.finditer(text)
        for words in [list(INSTEAD)[int((match.lastgroup or "w0")[1:])]]
    ]
    print("\n".join(sorted(found)))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
