"""A condition with the delays and losses of all pairs."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path
from textwrap import indent

import pytest
from pair_parts import direction, write

from crosswind.cli._main import run
from crosswind.fingerprint.between.document import BetweenMachine
from crosswind.spec import load_setup

NAMES = ["m0", "m1", "m2.example.org"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = [
        direction(one, other, 100.0 + 50 * NAMES.index(one) + NAMES.index(other))
        for one, other in permutations(NAMES, 2)
    ]
    write(tmp_path / "between", [BetweenMachine(name=name) for name in NAMES], found)
    return tmp_path / "between"


def test_it_has_every_pair_and_an_experiment_validates_with_it(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["conditions", "from", str(folder), "--name", "cloud"]) == 0
    text = capsys.readouterr().out
    (folder / "network.yaml").write_text(
        "topology:\n  zones: {delay: 1us}\n"
        f"  nodes: {{{', '.join(f'n{number}: {name}' for number, name in enumerate(NAMES))}}}\n"
        "condition:\n" + indent(text, "  ")
    )
    setup = load_setup(folder / "network.yaml")
    assert list(setup.conditions) == ["cloud"]
    setup.resolved(1).under(setup.condition("cloud"))
    for one, other in permutations(NAMES, 2):
        assert f"    {one}->{other}:\n      - delay:" in text
    assert text.count("- lose: 1%") == 6


def test_options_of_files_are_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["conditions", "from", str(folder), "--back"]) == 2
    assert "leave --refill, --delays, --floor and --back out" in capsys.readouterr().err
    assert run(["conditions", "from", str(folder), "--as", "norma"]) == 2
    assert "normal" in capsys.readouterr().err


def test_a_folder_without_a_measurement_is_one_clear_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["conditions", "from", str(tmp_path)]) == 2
    assert "between.json: cannot be read" in capsys.readouterr().err
