"""YAML 1.2 becomes plain values with places; anything else is refused with a place."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crosswind.spec import SpecErrors
from crosswind.spec.document import parse_document
from crosswind.spec.load import parse_experiment


def read(text: str):
    return parse_document(text.encode(), "x.yaml")


def test_scalars_follow_the_core_schema_of_yaml_1_2() -> None:
    # In YAML 1.1 these would be true, 15 (octal), 90 (sexagesimal) and 1000.
    assert read("[yes, 017, 1:30, 1_000]").data == ["yes", 17, "1:30", "1_000"]
    assert read("[true, null, ~, 0o17, 0x1f, 1.5, 1e3, '5']").data == [
        True,
        None,
        None,
        15,
        31,
        1.5,
        1000.0,
        "5",
    ]


def test_infinity_and_not_a_number_stay_text() -> None:
    assert read("[.inf, .nan]").data == [".inf", ".nan"]


def test_places_are_those_of_the_text() -> None:
    document = read("a: 1\nb:\n  - {c: 2}\n")
    assert str(document.problem(("b", 0, "c"), "wrong")) == "x.yaml:3:9: wrong"
    assert str(document.problem(("b", 0, "c"), "wrong", at_key=True)) == "x.yaml:3:6: wrong"


def test_what_is_missing_is_placed_at_what_should_have_it() -> None:
    assert str(read("a: 1\nb:\n  - {c: 2}\n").problem(("b", 0, "d"), "missing")) == "x.yaml:3:5: missing"


def test_an_alias_stands_for_its_anchor() -> None:
    assert read("a: &x {b: 1}\nc: *x\n").data == {"a": {"b": 1}, "c": {"b": 1}}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\na: 2\n", 'x.yaml:2:1: key "a" is given twice (first on line 1); keep one'),
        ("a: !!python/name:os.system x", "x.yaml:1:4: tag"),
        ("a: 1\n---\nb: 2\n", "is not YAML: but found another document"),
        ("a: &a [*a]", "nested too deeply"),
        ("a: [1, 2", "is not YAML"),
        ("? [a]\n: 1\n", "a key must be text"),
        ("[" * 2000, "nested too deeply"),
        ("a: \0", "is not YAML"),
    ],
)
def test_what_is_not_plain_yaml_is_refused(text: str, message: str) -> None:
    with pytest.raises(SpecErrors) as caught:
        read(text)
    assert message in str(caught.value)


def test_a_few_lines_cannot_expand_without_bound() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    with pytest.raises(SpecErrors, match="use fewer aliases"):
        read("\n".join(lines))


STRUCTURE = [
    "\n",
    "  ",
    ": ",
    "- ",
    "{",
    "}",
    "[",
    "]",
    ", ",
    "&a ",
    "*a",
    "!!str ",
    "|\n",
    ">\n",
    "'",
    '"',
    "? ",
]
ODDITIES = ["# ", "%YAML 1.1\n", "---\n", "\t", "\\x", "\ufeff"]
WORDS = ["name", "topology", "hosts", "conditions", "link", "police", "h0", "10", "Mbit/s"]
YAML_PIECES = st.sampled_from([*STRUCTURE, *ODDITIES, *WORDS])


@settings(max_examples=200)
@given(st.one_of(st.lists(YAML_PIECES, max_size=40).map("".join).map(str.encode), st.binary(max_size=60)))
def test_no_input_ends_in_a_traceback(content: bytes) -> None:
    with pytest.raises(SpecErrors):
        parse_experiment(content, "x.yaml")


def test_folded_lines_become_one_line() -> None:
    assert parse_document(b"a: >-\n  one\n  two\n", "x.yaml").data == {"a": "one two"}
