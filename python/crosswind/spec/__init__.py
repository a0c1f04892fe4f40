"""The experiment file: read it, refuse it with everything that is wrong, or resolve it to SI integers.

experiment = load_experiment("experiment.yaml")     # or SpecErrors, each with file, line and column
resolved = resolve(experiment)                      # resolved.json
fabric = fabric_of(resolved, "none", seed=trial.seed)
"""

from crosswind.spec.condition import Condition
from crosswind.spec.experiment import Experiment
from crosswind.spec.fabric import (
    condition_for_agent,
    condition_of,
    count_of,
    disk_nodes,
    domains_of,
    fabric_of,
    limits_of,
    neighbours,
    real_interference,
    with_disks,
)
from crosswind.spec.load import (
    find_experiment,
    load_catalogue_condition,
    load_condition_file,
    load_experiment,
)
from crosswind.spec.problems import Problem, SpecErrors
from crosswind.spec.resolve import resolve
from crosswind.spec.resolved import (
    AnyResolved,
    FabricCondition,
    FabricSpec,
    Resolved,
    ResolvedCondition,
    ResolvedInterference,
)
from crosswind.spec.setup import Setup, carried_out, load_setup

__all__ = [
    "AnyResolved",
    "Condition",
    "Experiment",
    "FabricCondition",
    "FabricSpec",
    "Problem",
    "Resolved",
    "ResolvedCondition",
    "ResolvedInterference",
    "Setup",
    "SpecErrors",
    "carried_out",
    "condition_for_agent",
    "condition_of",
    "count_of",
    "disk_nodes",
    "domains_of",
    "fabric_of",
    "find_experiment",
    "limits_of",
    "load_catalogue_condition",
    "load_condition_file",
    "load_experiment",
    "load_setup",
    "neighbours",
    "real_interference",
    "resolve",
    "with_disks",
]
