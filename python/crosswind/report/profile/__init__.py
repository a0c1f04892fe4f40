"""The network profile of a run with factors: performance as a surface, and what it says about the network.

`profile_of(summary)` is None for a run without a factor that is a quantity. Everything else comes from its
result: pictures (`profile_figures`), the three answers (`profile_answers`), the tables of the page.

Source: Zilberman, Moore, Cooper et al.: NRG: A Network Perspective on Applications' Performance, section III.
"""

from crosswind.report.profile.answers import profile_answers
from crosswind.report.profile.figures import profile_figures
from crosswind.report.profile.sensitivity import Sensitivity, sensitivity_of
from crosswind.report.profile.surface import Surface, profile_of

__all__ = ["Sensitivity", "Surface", "profile_answers", "profile_figures", "profile_of", "sensitivity_of"]
