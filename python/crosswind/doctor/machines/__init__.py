"""Machines that ssh reaches: what each is, what it lacks for an experiment, and the network between them."""

from crosswind.doctor.machines.check import Needs, findings_of, needs_of
from crosswind.doctor.machines.ethernet import ethernet_findings, met_over_ethernet
from crosswind.doctor.machines.facts import PeerPath, RemoteFacts, facts_from, script_for
from crosswind.doctor.machines.look import LookedAt, look_at_machines
from crosswind.doctor.machines.text import print_machines

__all__ = [
    "LookedAt",
    "Needs",
    "PeerPath",
    "RemoteFacts",
    "ethernet_findings",
    "facts_from",
    "findings_of",
    "look_at_machines",
    "met_over_ethernet",
    "needs_of",
    "print_machines",
    "script_for",
]
