"""Which machine has which part of the network: written in the testbed, or chosen. Pure.

Machines are cut like domains (docs/decisions/0022-domains.md): along links with enough constant delay. A
packet that crosses is held at its destination until it is due, so the network between the machines must be
faster than the link.
"""

from crosswind.plan.placement.bonds import bonds_of
from crosswind.plan.placement.choose import chosen
from crosswind.plan.placement.parts import MachineCores
from crosswind.plan.placement.placement import CutLink, Placement, ShortLink, place, placement_of

__all__ = [
    "CutLink",
    "MachineCores",
    "Placement",
    "ShortLink",
    "bonds_of",
    "chosen",
    "place",
    "placement_of",
]
