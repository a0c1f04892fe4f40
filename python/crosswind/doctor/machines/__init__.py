"""Machines that ssh reaches: what each is, what it lacks for an experiment, and the network between them."""

from crosswind.doctor.machines.check import Needs, findings_of, needs_of
from crosswind.doctor.machines.facts import PeerPath, RemoteFacts, facts_from, script_for
from crosswind.doctor.machines.look import LookedAt, look_at_machines
from crosswind.doctor.machines.text import print_machines

__all__ = [
    "LookedAt",
    "Needs",
    "PeerPath",
    "RemoteFacts",
    "facts_from",
    "findings_of",
    "look_at_machines",
    "needs_of",
    "print_machines",
    "script_for",
]
