"""The network profile of a run with factors: performance as a surface over properties of the network.

`profile_of(summary)` is None for a run without a factor that is a quantity. The three answers
(`profile_answers`), the sensitivity, and the report's pictures and tables come from its result.

Source: Zilberman, Moore, Cooper et al.: NRG: A Network Perspective on Applications' Performance, section III.
"""

from crosswind.analysis.profile.answers import profile_answers
from crosswind.analysis.profile.sensitivity import Sensitivity, sensitivity_of
from crosswind.analysis.profile.surface import Surface, profile_of

__all__ = ["Sensitivity", "Surface", "profile_answers", "profile_of", "sensitivity_of"]
