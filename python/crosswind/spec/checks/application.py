"""Rules of the application, and between it and the nodes."""

from __future__ import annotations

from collections.abc import Iterator

from crosswind.spec import applications
from crosswind.spec.base import SpecModel, keys_of
from crosswind.spec.checks.document import problem_at, setting_of
from crosswind.spec.document import Document
from crosswind.spec.draft import items, sound_field, value_at
from crosswind.spec.experiment import Experiment
from crosswind.spec.node_limits import NodeLimits
from crosswind.spec.problems import Problem
from crosswind.spec.quantities import shown
from crosswind.spec.topology import form_of
from crosswind.spec.trials import Trials
from crosswind.text.nearest import did_you_mean


def application_problems(document: Document) -> Iterator[Problem]:
    """Yield that the application is none, is one of two, or lacks a node."""
    known = applications.names()
    names = [str(path[-1]) for path, _ in items(document.data, "application")]
    meant = next((name for name in names if name in known), None)
    for path, _ in items(document.data, "application"):
        name = str(path[-1])
        if meant is not None and name != meant:
            message = f"application: {_not_beside(name, meant)}"
            yield document.problem(path, message, at_key=True)
            continue
        if name not in known:
            remedy = did_you_mean(name, known) or f"choose one of {', '.join(known)}"
            message = f"{shown(name)} is not an application; {remedy} (`crosswind apps` lists them)"
            yield document.problem(path, f"application: {message}", at_key=True)
            continue
        nodes = setting_of(document).nodes
        for role in [] if nodes is None else applications.roles_missing(name, nodes):
            message = f'{name} needs a node "{role}"; place it on a host, such as {role}: h0'
            yield document.problem(("topology", "nodes"), f"topology.nodes: {message}", at_key=True)


def _not_beside(name: str, application: str) -> str:
    """Return what is wrong with a key beside the application."""
    if name in applications.names():
        return f"{name} is a second application beside {application}; an experiment has one: remove one"
    if name in keys_of(Experiment):
        place = "to the left margin"
    else:
        place = f"below {'trials' if name in keys_of(Trials) else application}"
    return f"{shown(name)} is beside {application}, where only one application is expected; move it {place}"


def misfit_problems(document: Document, parameters: SpecModel) -> Iterator[Problem]:
    """Yield where the application's parameters, read as a whole, do not fit the topology."""
    raw = value_at(document.data, "topology")
    nodes = sound_field(form_of(raw), "nodes", raw)
    named = items(document.data, "application")
    if nodes is None or len(named) != 1:
        return
    for path, _ in named:
        name = str(path[-1])
        for inner, message in applications.misfits(name, parameters, nodes):
            yield problem_at(document, (*path, *inner), message)
        for node, own in applications.node_limits(name, parameters).items():
            placed = nodes[node].limits if node in nodes else NodeLimits()
            for key, text in placed.contradictions(own):
                place = ("topology", "nodes", node, key)
                written = shown(value_at(document.data, *place))
                message = f"{written} contradicts the {text} of {name}'s own files; remove one"
                yield problem_at(document, place, message)
