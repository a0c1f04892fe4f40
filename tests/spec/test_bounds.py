"""What a user names is refused at once where it is not a file, too large, too deep or too long to be read."""

import os
from pathlib import Path

import pytest

from crosswind.cli._main import run
from crosswind.spec import SpecErrors
from crosswind.spec.document import parse_document
from crosswind.spec.load import load_experiment, parse_experiment
from crosswind.spec.read_file import read_file

TRACE = """\
name: x
topology: {{hosts: 2, uplink: {{rate: 1Gbit/s}}, nodes: {{server: h0, client: h1}}}}
conditions: [{{c: {{link: [{{capacity: {{trace: {file}}}}}]}}}}]
application: {{rpc: {{request: 1B, response: 1B, connections: 1, duration: 1s}}}}
trials: {{repeat: 6}}
"""


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    os.mkfifo(tmp_path / "pipe")
    return tmp_path / "pipe"


@pytest.mark.parametrize(("device", "what"), [("/dev/zero", "is a device"), ("/", "is a directory")])
def test_what_is_no_file_is_refused(device: str, what: str) -> None:
    with pytest.raises(SpecErrors, match=f"{device}: cannot be read: {what}; name a YAML file"):
        load_experiment(device)


@pytest.mark.parametrize(
    "words",
    [
        "validate {}",
        "plan {}",
        "conditions from {}",
        "conditions from trace.csv --floor {}",
        "analyze {}",
        "compare {} {}",
        "report {}",
        "simulate {}",
        "simulate {} --offer a->b=1Mbit/s",
        "up {}",
        "fingerprint {}",
    ],
)
def test_no_verb_waits_for_a_pipe(words: str, pipe: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(pipe.parent)
    Path("trace.csv").write_text("delay_us\n1\n2\n")
    assert run([word.format(pipe) for word in words.split()]) == 2
    assert str(pipe) in capsys.readouterr().err


def test_a_file_that_a_file_names_is_bounded_alike(pipe: Path) -> None:
    for file, what in ((pipe, "is a named pipe"), ("/dev/zero", "is a device")):
        with pytest.raises(SpecErrors, match=f"x.yaml:3:.*cannot be read: {what}"):
            parse_experiment(TRACE.format(file=file).encode(), "x.yaml")


def test_a_file_is_read_up_to_its_bound(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"12345")
    assert read_file(tmp_path / "x", 5) == b"12345"
    with pytest.raises(OSError, match="has more than 4 bytes"):
        read_file(tmp_path / "x", 4)


def test_a_large_file_is_refused_before_it_is_parsed(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text("[" + "1, " * 1_400_000 + "1]")
    with pytest.raises(SpecErrors, match="has more than 4194304 bytes"):
        load_experiment(tmp_path / "x.yaml")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        # 20,000 keys with a value each are 40,000 nodes. Four stand before the first number, at column 4, and
        # three columns lie between two numbers: the node beyond the bound is at 4 + 3 * 39,996.
        ("a:\n- [" + "1, " * 60_000, r"x:2:119992: has more than 20000 values"),
        ("a:\n  " + "[" * 100_000, r"x:2:66: is nested too deeply; at most 64 levels"),
        # YAML 1.2 that the fast parser does not know comes first.
        ("a: [1:30]\nb:\n  " + "[" * 100_000, r"x:3:66: is nested too deeply; at most 64 levels"),
    ],
)
def test_reading_ends_where_the_text_is_beyond_a_bound(text: str, message: str) -> None:
    with pytest.raises(SpecErrors, match=message):
        parse_document(text.encode(), "x")


def test_a_large_file_is_parsed_as_a_small_one_is() -> None:
    lines = "# why\n" * 600_000
    document = parse_document(f"{lines}a: [yes, '1:30']\nb: >\n  two\n  words\n".encode(), "x")
    assert document.data == {"a": ["yes", "1:30"], "b": "two words\n"}
    assert document.values[("a", 1)] == (600_001, 10)
    with pytest.raises(SpecErrors, match="x:600001:"):
        parse_document(f"{lines}a: b: c".encode(), "x")


def test_conditions_are_refused_by_their_number_before_they_are_read() -> None:
    head = TRACE.format(file="x").replace("{c: {link: [{capacity: {trace: x}}]}}", "{}")
    text = head.replace("[{}]", "[" + ", ".join(f"{{c{n}: {{}}}}" for n in range(20_001)) + "]")
    with pytest.raises(SpecErrors, match="has more than 20000 values"):
        parse_experiment(text.encode(), "x.yaml")
