"""Which domains a run asks the agent for, and that its provenance says so."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from crosswind import catalog
from crosswind.app.find import application_of
from crosswind.plan import planned
from crosswind.runner import Steering, machine, trial
from crosswind.runner.budgets import Budgets
from crosswind.runner.preflight import Checked
from crosswind.spec import FabricSpec, Resolved, load_experiment, resolve
from crosswind.stream import Event, Stream
from crosswind.testbed import FabricFiles, ThisMachine, WorkFolder, testbed


class Asked(Exception):
    """A fabric was asked for."""


def resolved(domains: str | int | list[list[str]]) -> Resolved:
    found = resolve(load_experiment(catalog.experiment_file("rpc-quick")))
    return found.model_copy(update={"topology": found.topology.model_copy(update={"domains": domains})})


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], object]], FabricSpec]:
    """Return the fabric that something asks for on a machine where `auto` is 4."""

    def refuse(_: object, spec: FabricSpec, *__: object) -> None:
        raise Asked(spec)

    for module in (trial, machine):
        monkeypatch.setattr(module, "auto_domains_here", lambda _: 4)
    monkeypatch.setattr(testbed, "Agent", nullcontext)
    monkeypatch.setattr(testbed, "RunningFabric", refuse)

    def spec_of(act: Callable[[], object]) -> FabricSpec:
        with pytest.raises(Asked) as caught:
            act()
        spec: FabricSpec = caught.value.args[0]
        return spec

    return spec_of


@pytest.mark.parametrize(
    ("declared", "given"), [("auto", 4), (1, None), (2, 2), ([["switch", "h0"], ["h1"]],) * 2]
)
def test_a_trial_has_the_domains_that_are_declared_or_that_the_machine_can_spare(
    asked: Any, tmp_path: Path, declared: Any, given: Any
) -> None:
    found = resolved(declared)
    application, first = application_of(found), planned(found)[0]
    with WorkFolder() as work:

        def run() -> object:
            return trial.run_trial(
                found,
                first,
                application,
                ThisMachine(),
                work=work,
                logs=tmp_path,
                files=FabricFiles(),
                named={},
                budgets=Budgets.of(found, tmp_path),
                on_step=lambda _: None,
                stream=Stream[Event](),
                steering=Steering(Stream[Event]()),
            )

        assert asked(run).domains == given


def test_data_are_prepared_in_one_domain(asked: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = resolved([["switch", "h0"], ["h1"]])
    application = application_of(found)
    monkeypatch.setattr(type(application), "is_prepared", lambda *_: False)
    with WorkFolder() as work:

        def prepare() -> object:
            return trial.prepare_application(found, application, work=work, logs=tmp_path, named={})

        assert asked(prepare).domains is None


@pytest.mark.parametrize(("declared", "kept"), [("auto", 4), (1, 1), (2, 2), ([["switch"], ["h1"]],) * 2])
def test_provenance_says_which_domains_were_asked_for(
    asked: Any, tmp_path: Path, declared: Any, kept: Any
) -> None:
    found = resolved(declared)
    checked = Checked(rootless=False)
    assert machine.machine_now(found, application_of(found), checked, tmp_path).domains == kept
