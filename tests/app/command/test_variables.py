"""What braces in a command mean, and what they do not."""

import pytest

from crosswind.app.command.variables import filled, variable_findings

NODES = ["db0", "client"]


def fill(text: str) -> str:
    return filled(text, lambda name, of: f"<{name}:{of}>" if of is not None else f"<{name}>")


def findings(text: str, *, has_duration: bool = True) -> list[str]:
    return list(variable_findings(text, NODES, has_duration=has_duration))


def test_variables_are_replaced_wherever_they_stand() -> None:
    assert fill("http://{address:db0}:80/{seed}") == "http://<address:db0>:80/<seed>"


@pytest.mark.parametrize(
    "text",
    ["%{json}", "${HOME}", "awk '{print $1}'", '{"a": 1}', "x{1,3}", "{}", "{0}", "mkdir {a,b}", "{ cd x; }"],
)
def test_braces_of_other_languages_are_left_alone(text: str) -> None:
    assert fill(text) == text
    assert findings(text) == []


def test_doubled_braces_are_the_text_itself() -> None:
    assert fill("{{seed}} and {seed}") == "{seed} and <seed>"
    assert findings("{{nothing}}") == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{adress:db0}", 'has "{adress:db0}", which is not a variable; did you mean "address"?'),
        ("{address:db1}", 'no node has that name; did you mean "db0"?'),
        ("{address}", "no node has that name; nodes are db0, client"),
        ("{seed:1}", "write {seed}"),
        ("{print}", "variables are {address:NODE}, {seed}, {folder}, {duration}; {{print}} is plain text"),
    ],
)
def test_an_unknown_variable_is_an_error_with_the_remedy(text: str, message: str) -> None:
    (found,) = findings(text)
    assert message in found


def test_a_duration_that_is_not_declared_cannot_be_used() -> None:
    assert findings("{duration}") == []
    assert "add it" in findings("{duration}", has_duration=False)[0]
