from pathlib import Path

import numpy as np
import pytest

from crosswind.analysis import BadSamples, read_samples


def written(folder: Path, text: str | bytes) -> Path:
    path = folder / "x.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_one_column_needs_no_name(tmp_path):
    samples = read_samples(written(tmp_path, "ms\n3\n1\n2\n"))
    assert (samples.column, samples.values.tolist(), samples.groups) == ("ms", [3, 1, 2], ("",))
    assert samples.trial_of is None


def test_numbers_alone_are_read_without_a_line_of_names(tmp_path):
    samples = read_samples(written(tmp_path, "3\n1e3\ninf\n\n"))
    assert (samples.column, samples.values.tolist()) == ("1", [3, 1000, np.inf])


def test_the_only_column_with_numbers_needs_no_name_and_the_others_are_named(tmp_path):
    samples = read_samples(written(tmp_path, "host,ms,note\na,3,quick\nb,1,\nc,2,x\n"))
    assert (samples.column, samples.values.tolist()) == ("ms", [3, 1, 2])
    assert samples.set_aside == ("host", "note")


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_groups_and_trials_keep_the_order_of_the_file(tmp_path, delimiter):
    rows = ["run,net,ms", "1,slow,5", "1,fast,2", "2,slow,7", '1,"slow",6']
    samples = read_samples(written(tmp_path, "\n".join(rows).replace(",", delimiter)), by=["net"])
    assert samples.groups == ("slow", "fast")
    assert samples.group_of.tolist() == [0, 1, 0, 0]
    # `run` is found by its name, and run 1 of one group is not run 1 of the other.
    assert samples.trial == "run"
    assert (samples.trials, samples.trial_of.tolist()) == (("1", "1", "2"), [0, 1, 2, 0])


@pytest.mark.parametrize(
    ("text", "arguments", "words"),
    [
        ("", {}, "x.csv:1: is empty"),
        ("ms\n", {}, "x.csv:2: there are no rows"),
        ("ms\n1\n2ms\n", {}, 'x.csv:3: ms: "2ms" is not a plain number; write all values in one unit'),
        ("ms\n1\nfast\n", {}, 'x.csv:3: ms: "fast" is not a number'),
        ("ms\nnan\n", {}, "x.csv:2: ms: NaN has no rank; write inf"),
        ("g,ms\na,\n", {"by": ["g"]}, "x.csv:2: ms: the cell is empty"),
        ("ms\n1\n\n2\n", {}, "x.csv:3: the line is empty"),
        ("g,ms\na,1\nb\n", {"by": ["g"]}, "x.csv:3: 1 cells, but 2 columns: g, ms"),
        ("g,ms\n1,1\n", {}, "x.csv:1: which column has the values? Name it with --column: g, ms"),
        ("g,h\na,b\n", {}, "x.csv:1: which column has the values? Name it with --column: g, h"),
        ("g,ms\na,\nb,1\n", {}, "x.csv:2: ms: the cell is empty"),
        ("g,ms\na,1\n", {"by": ["G"]}, 'x.csv:1: there is no column "G"; did you mean "g"?'),
        ("ms,ms\n1,2\n", {}, 'x.csv:1: column "ms" exists twice'),
        (b"ms\n\xff\xfe\n", {}, "x.csv: is not text in UTF-8"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_line(tmp_path, text, arguments, words):
    with pytest.raises(BadSamples) as refusal:
        read_samples(written(tmp_path, text), **arguments)
    assert words in str(refusal.value)


def test_bad_lines_are_named_together_up_to_ten(tmp_path):
    with pytest.raises(BadSamples) as refusal:
        read_samples(written(tmp_path, "ms\n" + "x\n" * 30))
    lines = str(refusal.value).splitlines()
    assert len(lines) == 11
    assert lines[9].startswith(f"{tmp_path}/x.csv:11:")


def test_a_file_that_is_not_there_is_named():
    with pytest.raises(BadSamples, match=r"nowhere\.csv: cannot be read: No such file"):
        read_samples(Path("nowhere.csv"))
