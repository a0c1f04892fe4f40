"""Known answers: ask the emulation what is known already, and certify how near it came.

A *claim* is one number that was measured, the bound it must keep, and where the bound comes from. It is
`held`, `failed`, or `undecided` when this machine was too busy to say.

Claims are made in two clocks. In *virtual* time the engine alone decides, so its answers are exact and the
bounds are nanoseconds and bytes. *Live*, the same elements treat real packets on this machine, beside a bare
veth pair in the same run.

`virtual` holds the first, `live` the second, a file for each family; `suite` lists the families in the order
in which they are asked.
"""

from crosswind.certify.certificate import Certificate
from crosswind.certify.claim import Claim, Decision

__all__ = ["Certificate", "Claim", "Decision"]
