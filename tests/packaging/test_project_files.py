"""Files that others read of a project say what the project says elsewhere."""

import re
import tomllib
from pathlib import Path

from ruamel.yaml import YAML

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def read(name: str) -> dict:
    return YAML(typ="safe").load(ROOT / name)


def test_the_citation_names_this_version_and_license() -> None:
    citation = read("CITATION.cff")
    assert citation["cff-version"] == "1.2.0"
    assert str(citation["version"]) == PROJECT["version"]
    assert citation["license"] == PROJECT["license"]


def test_every_hook_is_a_part_of_make_lint() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    (line,) = re.findall(r"^lint: (.*)$", makefile, re.MULTILINE)
    (repository,) = read(".pre-commit-config.yaml")["repos"]
    called = {hook["entry"].removeprefix("make --no-print-directory ") for hook in repository["hooks"]}
    assert called == {"lint-ruff", "lint-ruff-format", "lint-mypy", "lint-cargo-fmt"}
    assert called <= set(line.split())
