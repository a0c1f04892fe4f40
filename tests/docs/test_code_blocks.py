"""What blocks of code show is true: the real parser reads commands, files are valid, output is compared.

A block `console` shows a session: lines that begin with `$ ` are commands, the others what they print, `...`
where something is left out. A block `yaml` whose first line is a comment with a name is that file; any other
YAML is a part of an experiment, and is checked as such.
"""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner
from ruamel.yaml import YAML

from crosswind.cli._main import group
from crosswind.spec.kinds import check_file
from crosswind.spec.setup import load_setup

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")])
# Made from files that have tests of their own.
GENERATED = {DOCS / "reference" / "conditions.md", DOCS / "reference" / "experiments.md"}
BLOCK = re.compile(r"^(?P<indent> *)```(?P<kind>\w*)\n(?P<text>.*?)^ *```$", re.MULTILINE | re.DOTALL)
NAME = re.compile(r"# (?P<name>[\w-]+\.(?:yaml|csv|graphml|py))\n")
SHOWN = re.compile(r"(?:\.venv/bin/)?crosswind (?P<rest>[a-z]\S*(?: \S+)*)(?:  .*)?$")
# These read files and print, on any machine the same.
PURE = ("validate", "topology show", "init")
PLAIN = {
    "name": "page",
    "topology": {"hosts": 4, "uplink": {"rate": "1Gbit/s"}, "nodes": {"server": "h0", "client": "h1"}},
    "conditions": ["none"],
    "application": {"rpc": {"size": "small"}},
    "trials": {"repeat": 6, "seed": 1},
}


def named(page: Path) -> str:
    return str(page.relative_to(ROOT))


@dataclass(frozen=True)
class Block:
    kind: str
    text: str


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [
        Block(found["kind"], re.sub(f"^{found['indent']}", "", found["text"], flags=re.MULTILINE))
        for found in BLOCK.finditer(text)
    ]


def commands(page: Path) -> Iterator[str]:
    """Yield every command line with crosswind that a page shows, without what the shell does with it."""
    text = page.read_text(encoding="utf-8")
    indented = re.findall(r"^ {4}((?:\.venv/bin/)?crosswind .*)$", text, re.MULTILINE)
    fenced = [line for block in blocks(page) for line in block.text.splitlines()]
    for line in (*indented, *fenced):
        if session := re.match(r"\$ (?:\.venv/bin/)?crosswind (?P<rest>.*)", line):
            yield session["rest"]
        # What the reference says of a command stands behind two spaces; [OPTIONS] makes a synopsis of it.
        elif (shown := SHOWN.match(line)) and "[" not in shown["rest"]:
            yield shown["rest"]


def words(line: str) -> list[str]:
    """Return the arguments of a command line, up to the first operator or comment of the shell."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=";|&<>")
    lexer.whitespace_split = True
    arguments = []
    for word in lexer:
        if set(word) <= set(";|&<>"):
            break
        arguments.append(word)
    return arguments


def parse(command: click.Command, arguments: list[str], parent: click.Context | None = None) -> None:
    """Let the real parser read arguments, without running the command.

    Raises: click.UsageError: it refuses them.
    """
    context = command.make_context(command.name, list(arguments), parent=parent)
    rest = [*context._protected_args, *context.args]
    if isinstance(command, click.Group) and rest:
        _, inner, rest = command.resolve_command(context, rest)
        assert inner is not None
        parse(inner, rest, context)


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_command_line_is_one(page: Path) -> None:
    refused = []
    for line in commands(page):
        try:
            parse(group, words(line))
        except click.exceptions.Exit:
            pass  # --help and --version.
        except click.UsageError as error:
            refused.append(f"crosswind {line}: {error.format_message()}")
    assert refused == []


def test_a_wrong_option_is_found() -> None:
    with pytest.raises(click.UsageError, match="--agianst"):
        parse(group, words("check results/jobs/latest --agianst baseline | tee out"))


def test_there_are_commands_on_most_pages() -> None:
    assert sum(1 for page in PAGES for _ in commands(page)) > 80


def write_files(page: Path, folder: Path) -> list[Path]:
    """Write the files that a page shows and return their paths."""
    written = []
    for block in blocks(page):
        if name := NAME.match(block.text):
            file = folder / name["name"]
            file.write_text(block.text if file.suffix == ".yaml" else block.text.split("\n", 1)[1])
            written.append(file)
    return written


def experiment(part: dict[str, Any], before: dict[str, Any]) -> dict[str, Any]:
    """Return an experiment around a part of one: keys of an experiment, or of a condition alone.

    Args:
        before: the page's last experiment, whose keys fill in what the part leaves out.
    """
    if set(part) & {*PLAIN, "factors", "design", "scale", "testbed", "backend", "overlay", "time"}:
        return {**before, **part}
    return {**before, "conditions": ["none", {"shown": {"summary": "a part", **part}}]}


@pytest.mark.parametrize("page", [page for page in PAGES if page not in GENERATED], ids=named)
def test_every_yaml_is_valid(page: Path, tmp_path: Path) -> None:
    before = PLAIN
    write_files(page, tmp_path)
    (tmp_path / "rtt.csv").write_text("10.2ms\n10.4ms\n12.9ms\n")
    for number, block in enumerate(blocks(page)):
        part = YAML(typ="safe").load(block.text) if block.kind == "yaml" else {}
        if not part or set(part) & {"services", "jobs"}:
            continue  # Nothing, a compose file, a workflow.
        file = tmp_path / f"{number}.yaml"
        file.write_text(block.text)
        for listed in re.findall(r"files: \[([\w.-]+)\]", block.text):
            (tmp_path / listed).touch()
        # A file, or a network by itself; anything else is a part of what came before on the page.
        if set(part) <= {"topology", "condition", "conditions"} and "topology" in part:
            load_setup(file)
        elif NAME.match(block.text) or set(part) >= {"name", "application", "trials"}:
            check_file(file)
            before = part if "application" in part else before
        else:
            with file.open("w") as stream:
                YAML(typ="safe").dump(experiment(part, before), stream)
            check_file(file)


def sessions(page: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield the commands of a page's sessions that are pure, each with the lines that it prints."""
    for block in blocks(page):
        if block.kind != "console":
            continue
        for shown in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
            line, *printed = shown.rstrip().split("\n")
            if re.match(rf"crosswind (?:{'|'.join(PURE)})\b", line):
                yield line.removeprefix("crosswind "), printed


# What a reader is asked to change before a command, by page and file: the changed file, and what in it.
EDITS = {
    ("own-application", "broken.yaml"): ("shop.yaml", {"http://shop:8080": "http://{addres:shop}:8080"}),
    ("own-application", "compose-shop.yaml"): None,  # The page shows its parts.
    ("first-experiment", "experiment.yaml"): None,  # A test of its own, below.
    ("conditions", "broken.yaml"): ("reads.yaml", {"rate: 20Mbit/s": "rate: 20"}),
}


def pure_sessions() -> Iterator[Any]:
    for page in PAGES:
        for number, (line, printed) in enumerate(sessions(page)):
            if EDITS.get((page.stem, words(line)[-1]), ()) is not None and line != "init":
                yield pytest.param(page, line, printed, id=f"{page.stem}-{number}")


def matches(printed: str, shown: list[str]) -> bool:
    """Say whether what was printed is what a page shows, but for what `...` stands for."""
    parts = [re.escape(line.rstrip()) for line in shown]
    pattern = "\n".join(re.sub(r"^(?: *)\\\.\\\.\\\.$", r"(?:.*\n)*?.*", part) for part in parts)
    lines = "\n".join(line.rstrip() for line in printed.strip().splitlines())
    return re.fullmatch(pattern, lines) is not None


def run(line: str) -> str:
    return CliRunner().invoke(group, words(line)).output


@pytest.mark.parametrize(("page", "line", "printed"), [*pure_sessions()])
def test_a_command_prints_what_the_page_shows(
    page: Path, line: str, printed: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_files(page, tmp_path)
    if edit := EDITS.get((page.stem, words(line)[-1])):
        write_edited(Path(edit[0]), Path(words(line)[-1]), edit[1])
    output = run(line)
    assert matches(output, printed), output


def write_edited(source: Path, target: Path, changes: dict[str, str]) -> None:
    text = source.read_text()
    for old, new in changes.items():
        assert text.count(old) == 1
        text = text.replace(old, new)
    target.write_text(text)


def test_the_first_tutorial_finds_two_mistakes_and_then_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    made, broken, mended = sessions(DOCS / "tutorial" / "first-experiment.md")
    assert matches(run(made[0]), made[1])
    example = Path("experiment.yaml")
    text = example.read_text()
    write_edited(example, example, {"rate: 20Mbit/s": "rate: 20", " connections:": " conections:"})
    assert matches(run(broken[0]), broken[1])
    example.write_text(text)
    assert matches(run(mended[0]), mended[1])


def test_output_may_be_left_out_only_where_the_page_says_so() -> None:
    assert matches("a\nb\nc\nd", ["a", "...", "d"])
    assert matches("a\nd", ["a", "d"])
    assert not matches("a\nb\nd", ["a", "d"])
