"""What several checks need of a document, and where their problems are."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import lru_cache

from pydantic import JsonValue, ValidationError

from crosswind import catalog
from crosswind.spec import applications
from crosswind.spec.base import ReadingContext, SpecModel
from crosswind.spec.catalogue_condition import read_catalogue_condition
from crosswind.spec.declared import NO_APPLICATION, Tested
from crosswind.spec.document import Document, Path
from crosswind.spec.draft import items, only_key, sound, sound_field, value_at
from crosswind.spec.experiment import Experiment
from crosswind.spec.problems import Problem
from crosswind.spec.setting import Setting
from crosswind.spec.topology import AnyTopology, Star, form_of
from crosswind.spec.topology.common import Uplink
from crosswind.spec.translate import describe


@lru_cache(maxsize=1)
def setting_of(document: Document) -> Setting:
    """Return the setting of this file's conditions."""
    raw = value_at(document.data, "topology")
    form, topology = form_of(raw), sound_topology(document)
    network = None if topology is None or any(topology.findings(raw)) else topology.network()
    uplink = value_at(raw, "uplink")
    hosts = sound_field(Star, "hosts", raw) if form is Star else None
    return Setting(
        hosts=hosts if network is None else list(network.hosts),
        nodes=sound_field(form, "nodes", raw),
        mtu_bytes=sound_field(form, "mtu_bytes", raw),
        scale=sound_field(Experiment, "scale", document.data) or 1.0,
        network=network,
        uplink_bps=sound_field(Uplink, "rate_bps", uplink) if form is Star else None,
        uplink_unlimited=form is Star and value_at(uplink, "rate") == "unlimited",
        tested=_tested(document, sound_field(form, "nodes", raw)),
    )


# A topology can name a file of many links, and most rules look at it.
@lru_cache(maxsize=1)
def sound_topology(document: Document) -> AnyTopology | None:
    """Return the topology with the files that it names, None where it has an error."""
    raw = value_at(document.data, "topology")
    try:
        return form_of(raw).model_validate(
            raw, context=ReadingContext(document.named_file, document.files_below)
        )
    except ValidationError:
        return None


def _tested(document: Document, nodes: Collection[str] | None) -> Tested:
    """Return what conditions need to know of the application; nothing where it has errors."""
    parameters = parameters_of(document)
    if parameters is None:
        return NO_APPLICATION
    ((_, name), _) = items(document.data, "application")[0]
    return applications.tested(str(name), parameters, nodes or ())


def parameters_of(document: Document) -> SpecModel | None:
    """Return the application's parameters; None where they or the application have errors."""
    for (_, name), raw in items(document.data, "application")[:1]:
        if name in applications.names():
            return sound(applications.parameters_of(str(name)).model_validate, raw)
    return None


def named_conditions(document: Document) -> Iterator[tuple[str, JsonValue]]:
    """Yield the conditions of the file, and those that it names from the catalogue, as plain values."""
    for _, entry in items(document.data, "conditions"):
        if isinstance(entry, str) and entry in catalog.condition_names():
            yield entry, catalogue_condition(entry)
        elif (name := only_key(entry)) is not None:
            yield name, value_at(entry, name)


def catalogue_condition(name: str) -> JsonValue:
    """Return a condition of the catalogue as plain values."""
    ((_, condition),) = items(read_catalogue_condition(name).data)
    return condition


def problem_at(document: Document, path: Path, message: str, *, at_key: bool = False) -> Problem:
    """Return a problem at a place, in the words of the file."""
    return document.problem(path, describe(path, message), at_key=at_key)
