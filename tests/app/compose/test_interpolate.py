"""Variables of compose files, by the forms of the Compose Specification."""

from __future__ import annotations

import contextlib
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crosswind.app.compose.dotenv import read_variables
from crosswind.app.compose.interpolate import interpolated
from crosswind.spec.quantities import QuantityError
from crosswind.spec.text_lines import LineError

VALUES = {"SET": "value", "EMPTY": "", "OTHER": "other"}


def value_of(text: str) -> tuple[str, list[str]]:
    unset: list[str] = []
    return interpolated(text, VALUES, unset.append), unset


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("$SET", "value"),
        ("${SET}", "value"),
        ("a${SET}b$OTHER-c", "avaluebother-c"),
        ("$$SET", "$SET"),
        ("$${SET}", "${SET}"),
        ("${SET:-default}", "value"),
        ("${EMPTY:-default}", "default"),
        ("${EMPTY-default}", ""),
        ("${NONE:-default}", "default"),
        ("${NONE-default}", "default"),
        ("${NONE:-}", ""),
        ("${NONE:-a:b-c?d+e}", "a:b-c?d+e"),
        ("${SET:?error}", "value"),
        ("${EMPTY?error}", ""),
        ("${SET:+alternative}", "alternative"),
        ("${EMPTY:+alternative}", ""),
        ("${EMPTY+alternative}", "alternative"),
        ("${NONE+alternative}", ""),
        ("${NONE:-${OTHER}}", "other"),
        ("${NONE:-${EMPTY:-$SET}/x}", "value/x"),
        ("${SET:+${OTHER:+both}}", "both"),
        ("${SET:-${NONE:?is not asked for}}", "value"),
        ("{plain}", "{plain}"),
    ],
)
def test_each_form_gives_what_the_specification_says(text: str, value: str) -> None:
    assert value_of(text) == (value, [])


def test_a_variable_without_value_is_empty_and_reported() -> None:
    assert value_of("a${NONE}b$NOTHING") == ("ab", ["NONE", "NOTHING"])
    # What is not taken is not missed.
    assert value_of("${SET:-$NONE}") == ("value", [])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("${NONE:?say it}", "needs a value for NONE: say it; write NONE=VALUE into .env"),
        ("${EMPTY:?}", "needs a value for EMPTY; write"),
        ("${NONE?${OTHER} needs it}", "needs a value for NONE: other needs it"),
        ("$", "begins no variable; write $$"),
        ("cost: $5", "begins no variable; write $$"),
        ("${}", "begins no variable"),
        ("${SET", "unknown form"),
        ("${SET:-x", "without its closing brace"),
        ("${SET!x}", "an unknown form of a variable; write ${SET}"),
        ("${A-" * 30 + "}" * 30, "nested deeper than 20"),
    ],
)
def test_what_is_no_variable_is_refused_with_the_remedy(text: str, message: str) -> None:
    with pytest.raises(QuantityError, match=re.escape(message)):
        value_of(text)


names = st.sampled_from(["SET", "EMPTY", "OTHER", "NONE", "_x9"])
words = st.text(alphabet=st.characters(exclude_characters="${}", codec="utf-8"), max_size=5)
templates = st.recursive(
    st.one_of(words, names.map(lambda name: f"${{{name}}}"), st.just("$$")),
    lambda inner: (
        st.builds(
            lambda name, colon, sign, other: f"${{{name}{colon}{sign}{other}}}",
            names,
            st.sampled_from(["", ":"]),
            st.sampled_from("-+"),
            inner,
        )
        | st.builds(lambda one, other: one + other, inner, inner)
    ),
    max_leaves=8,
)


@given(templates)
def test_every_template_without_demands_has_a_value(text: str) -> None:
    value, unset = value_of(text)
    assert "${" not in value.replace("$", "", 1) or "$$" in text
    assert set(unset) <= {"NONE", "_x9"}


@given(st.text())
def test_text_with_doubled_dollar_signs_is_itself(text: str) -> None:
    assert value_of(text.replace("$", "$$")) == (text, [])


@given(st.text(alphabet="${}:-?+ABCSET'\"\n# =", max_size=30))
def test_any_text_has_a_value_or_is_refused(text: str) -> None:
    with contextlib.suppress(QuantityError):
        value_of(text)


# --- .env --------------------------------------------------------------------------------------------------


def variables(text: str) -> dict[str, str | None]:
    return read_variables(text.encode(), VALUES, lambda name: None)


def test_a_file_of_variables_is_read_as_the_specification_says() -> None:
    text = r"""
# comment
A=plain value   # comment
B=with#hash
C: colon
export D=exported
E='${SET} literal # and
two lines'
F="${SET}\n\"quoted\" \$SET" # comment
G=${A}/${SET}
H=
I
J = spaced
"""
    assert variables(text) == {
        "A": "plain value",
        "B": "with#hash",
        "C": "colon",
        "D": "exported",
        "E": "${SET} literal # and\ntwo lines",
        "F": 'value\n"quoted" $SET',
        "G": "plain value/value",
        "H": "",
        "I": None,
        "J": "spaced",
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("A=1\nno variable", 'line 2: "no variable" has no =; write NAME=VALUE'),
        ("=1", "line 1: "),
        ("A='open", "line 1: A has a value without its closing '"),
        ('A="x" y', 'line 1: A has text after its closing "'),
        ("A=${NONE:?needed}", "line 1: needs a value for NONE: needed"),
    ],
)
def test_a_line_that_is_no_variable_is_refused_with_its_number(text: str, message: str) -> None:
    with pytest.raises(LineError, match=re.escape(message)):
        variables(text)


@given(st.dictionaries(st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True), st.text(), max_size=4))
def test_single_quotes_keep_any_text(expected: dict[str, str]) -> None:
    kept = {name: re.sub(r"['\r]", "", text) for name, text in expected.items()}
    assert variables("\n".join(f"{name}='{text}'" for name, text in kept.items())) == kept


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(content: bytes) -> None:
    with contextlib.suppress(LineError):
        read_variables(content, VALUES, lambda name: None)
