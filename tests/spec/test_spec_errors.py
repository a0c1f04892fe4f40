"""What a user reads when a file is wrong. The expected texts stand beside the files in `golden`.

To accept a change: CROSSWIND_WRITE_GOLDEN=1 pytest tests/spec/test_spec_errors.py, then read the difference.
"""

import os
from pathlib import Path

import pytest

from crosswind.spec import SpecErrors, load_condition_file, load_experiment
from crosswind.spec.load import parse_experiment

GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("file", sorted(GOLDEN.glob("*.yaml")), ids=lambda file: file.stem)
def test_all_errors_of_a_file_are_reported_at_once_with_their_places(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(GOLDEN)
    with pytest.raises(SpecErrors) as caught:
        load_experiment(file.name)
    text = str(caught.value) + "\n"
    expected = file.with_suffix(".txt")
    if os.environ.get("CROSSWIND_WRITE_GOLDEN"):
        expected.write_text(text, encoding="utf-8")
    assert text == expected.read_text(encoding="utf-8")


def test_a_missing_file_is_named() -> None:
    with pytest.raises(SpecErrors, match=r"nowhere\.yaml: cannot be read: no such file or directory"):
        load_experiment("nowhere.yaml")


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(SpecErrors, match="cannot be read: is a directory"):
        load_experiment(tmp_path)


def test_bytes_that_are_not_utf8_are_located() -> None:
    with pytest.raises(SpecErrors, match=r"x\.yaml:2:4: is not UTF-8"):
        parse_experiment(b"a: 1\nb: \xff\n", "x.yaml")


def test_an_error_in_an_element_does_not_hide_the_next_one(tmp_path: Path) -> None:
    file = tmp_path / "condition.yaml"
    file.write_text("""\
mine:
  link:
    - delay: {time: 10}
    - schedule: {by: strict, queues: [{dscp: default}]}
""")
    with pytest.raises(SpecErrors) as caught:
        load_condition_file(file)
    assert [problem.line for problem in caught.value.problems] == [3, 4]


def test_an_empty_file_of_conditions_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "empty.yaml"
    file.write_text("")
    with pytest.raises(SpecErrors):
        load_condition_file(file)
