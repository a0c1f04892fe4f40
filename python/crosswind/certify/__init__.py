"""Check the emulation against known answers, and certify how near its results are.

A *claim* is one measured number, the bound that it must not exceed, and the source of the bound. It is
`held`, `failed`, or `undecided` when this machine was too busy for a conclusion.

Claims are made under two clocks. In *virtual* time the engine runs alone, so its answers are exact and the
bounds are a few nanoseconds or bytes. *Live*, the same elements process real packets on this machine, and are
compared with a bare veth pair in the same run.

`virtual` and `live` have a file for each family of claims, `conformance` one for each source of criteria that
others wrote. `suite` lists the families in the order in which they are measured.
"""

from crosswind.certify.certificate import Certificate
from crosswind.certify.claim import Claim, Decision

__all__ = ["Certificate", "Claim", "Decision"]
