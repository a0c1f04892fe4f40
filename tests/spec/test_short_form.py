"""An element may be its one parameter where that is enough; everything behind sees the long form."""

from pathlib import Path
from typing import Any

import pytest

from crosswind.spec import SpecErrors, load_condition_file, load_setup, resolve
from crosswind.spec.base import keys_of
from crosswind.spec.element_kind import KINDS
from crosswind.spec.load import parse_experiment
from crosswind.spec.schema import condition_schema
from crosswind.spec.short_form import SHORT_FORMS

EXPERIMENT = """\
name: x
topology: {{hosts: 2, uplink: {{rate: 1Gbit/s}}, nodes: {{server: h0, client: h1}}}}
scale: {scale}
factors: {{lag: [1ms, 2ms], cap: [1Mbit/s, 1Gbit/s]}}
conditions:
  - c-$lag-$cap:
      host.egress: [{element}, {{delay: $lag}}, {{police: $cap}}]
      at: {{500ms: {{host.egress: [{element}]}}}}
application: {{rpc: {{duration: 1s, request: 1B, response: 1B, connections: 1}}}}
trials: {{repeat: 6}}
"""
LONG = {
    "police": "{rate: 50Mbit/s, burst: 62500B}",  # 50 Mbit/s for 10 ms.
    "pace": "{rate: 50Mbit/s}",
    "mark": "{dscp: 46}",
    "delay": "{time: 20ms}",
    "lose": "{bernoulli: 1%}",
    "duplicate": "{share: 1%}",
    "corrupt": "{share: 1%}",
    "monitor": "{what: [queue-depth]}",
    "queue": "{buffer: 1000packets}",
}


def conditions(element: str, scale: str = "0.5") -> Any:
    content = EXPERIMENT.format(element=f"{{{element}}}", scale=scale).encode()
    return resolve(parse_experiment(content, "x.yaml")).conditions


@pytest.mark.parametrize("word", SHORT_FORMS)
def test_a_short_form_is_resolved_to_the_long_one(word: str) -> None:
    short = conditions(f"{word}: {SHORT_FORMS[word].example}")
    assert short == conditions(f"{word}: {LONG[word]}")
    assert len(short) == 4  # Two levels of each factor.


def test_every_element_that_needs_one_parameter_has_a_short_form() -> None:
    needed = {
        word: [name for name, field in kind.model.model_fields.items() if field.is_required()]
        for word, kind in KINDS.items()
    }
    assert {word for word, names in needed.items() if len(names) == 1} <= set(SHORT_FORMS)
    for word, form in SHORT_FORMS.items():
        assert form.key in keys_of(KINDS[word].model)


@pytest.mark.parametrize(
    ("rate", "burst_bytes"),
    # 10 ms of the rate; ten packets where that is less, and where the rate is unlimited.
    [("1Gbit/s", 1_250_000), ("50Mbit/s", 62_500), ("1Mbit/s", 15_000), ("unlimited", 15_000)],
)
def test_a_policer_of_a_rate_has_a_burst_of_ten_milliseconds(rate: str, burst_bytes: int) -> None:
    (police, *_) = conditions(f"police: {rate}", scale="1")[0].places["host.egress"]
    assert police["police"]["burst_bytes"] == burst_bytes


def test_files_of_conditions_and_networks_have_short_forms_too(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text("c: {link: [{delay: 20ms}]}\n")
    (condition,) = load_condition_file(tmp_path / "c.yaml").values()
    topology = "topology: {hosts: 2, uplink: {rate: 1Gbit/s}, nodes: {a: h0, b: h1}}\n"
    (tmp_path / "n.yaml").write_text(topology + "condition: {c: {link: [{delay: {time: 20ms}}]}}\n")
    setup = load_setup(tmp_path / "n.yaml")
    assert condition == setup.conditions["c"]
    assert setup.condition(str(tmp_path / "c.yaml")) == setup.condition("c")


def test_rules_over_several_keys_see_the_long_form() -> None:
    with pytest.raises(SpecErrors, match=r'burst "15000B" .* is smaller than one packet'):
        conditions("police: 1Mbit/s", scale="0.01")


@pytest.mark.parametrize("word", SHORT_FORMS)
def test_the_schema_has_both_forms_and_refuses_what_the_reader_refuses(word: str) -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="SKIPPED: jsonschema is not installed")
    schema = jsonschema.Draft202012Validator(condition_schema())

    def valid(value: Any) -> bool:
        return bool(schema.is_valid({"x": {"host.egress": [{word: value}]}}))

    example = SHORT_FORMS[word].example
    assert valid(example.strip("[]").split() if example.startswith("[") else example)
    assert valid({"what": ["drops"]} if word == "monitor" else {} if word == "queue" else full(word))
    assert not valid(None)
    assert not valid(True)
    assert not valid("20")


def full(word: str) -> dict[str, str]:
    written = {"rate": "1Mbit/s", "burst": "15kB"} if word == "police" else {}
    return written or {SHORT_FORMS[word].key: SHORT_FORMS[word].example}
