"""What the documentation refers to exists: files, headings, verbs, examples."""

import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from crosswind.cli._verbs import verbs
from crosswind.spec.kinds import check_file

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
EXAMPLES = sorted((ROOT / "examples").glob("*.yaml"))

LINK = re.compile(r"\]\((?P<target>[^)\s]+)\)")
# A verb is documented where it stands in code: in a block, or between backticks.
COMMAND = re.compile(r"(?:^|[`$>\s(])crosswind (?P<verb>[a-z]+)", re.MULTILINE)


def named(page: Path) -> str:
    return str(page.relative_to(ROOT))


def relative_links(page: Path) -> Iterator[str]:
    for match in LINK.finditer(page.read_text(encoding="utf-8")):
        if not re.match(r"[a-z]+:", match["target"]):
            yield match["target"]


def anchors(page: Path) -> set[str]:
    """Return the fragments of a page: of its headings, as forges make them, and those it names itself."""
    text = page.read_text(encoding="utf-8")
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    named = re.findall(r'<a id="([^"]+)"></a>', text)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings} | set(named)


def code(page: Path) -> str:
    """Return what stands in blocks of code and between backticks, one piece per line."""
    text = page.read_text(encoding="utf-8")
    fenced = re.findall(r"```.*?\n(.*?)```", text, re.DOTALL)
    indented = re.findall(r"^ {4}\S.*$", text, re.MULTILINE)
    spans = re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", text, flags=re.DOTALL))
    return "\n".join([*fenced, *indented, *spans])


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_relative_link_resolves(page: Path) -> None:
    broken = []
    for target in relative_links(page):
        path, _, fragment = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        if not file.exists() or (fragment and fragment not in anchors(file)):
            broken.append(target)
    assert not broken


def test_the_index_lists_every_page_below_docs_once() -> None:
    index = ROOT / "docs" / "README.md"
    linked = Counter((index.parent / link.partition("#")[0]).resolve() for link in relative_links(index))
    pages = [page for page in PAGES if (ROOT / "docs") in page.parents and page != index]
    assert {named(page): linked[page] for page in pages if linked[page] != 1} == {}


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_row_of_a_table_is_in_a_table(page: Path) -> None:
    # A table has a line of hyphens behind its header; rows without one are shown as text with bars in it.
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    blocks = re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)
    assert [block for block in blocks if not re.match(r".*\n\|[ :|-]+\|\n", block)] == []


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_documented_verb_exists(page: Path) -> None:
    used = {match["verb"] for match in COMMAND.finditer(code(page))}
    assert used <= set(verbs())


def test_every_verb_is_in_the_reference() -> None:
    reference = (ROOT / "docs" / "reference" / "verbs.md").read_text(encoding="utf-8")
    assert [verb for verb in verbs() if f"## crosswind {verb}\n" not in reference] == []


@pytest.mark.parametrize("example", EXAMPLES, ids=named)
def test_every_example_is_valid(example: Path) -> None:
    kind, _ = check_file(example)
    assert kind == "experiment"


def test_there_are_examples() -> None:
    assert EXAMPLES


def declared_dependencies() -> set[str]:
    """Return the names of what requirements files and crates declare, Crosswind's own crates left out."""
    declared = set()
    for name in (
        "requirements.txt",
        "requirements-build.txt",
        "requirements-dev.txt",
        "requirements-release.txt",
        "requirements-page.txt",
    ):
        lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
        declared |= {line.partition("==")[0] for line in lines if "==" in line}
    for manifest in (ROOT / "crates").glob("*/Cargo.toml"):
        tables = tomllib.loads(manifest.read_text(encoding="utf-8"))
        declared |= {*tables.get("dependencies", {}), *tables.get("dev-dependencies", {})}
    return {name for name in declared if not name.startswith("crosswind-")}


def test_every_dependency_has_a_reason_and_every_reason_a_dependency() -> None:
    page = (ROOT / "docs" / "decisions" / "dependencies.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `([^`]+)`", page, re.MULTILINE)) == declared_dependencies()
