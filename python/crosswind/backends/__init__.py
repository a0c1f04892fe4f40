"""What carries packets in the place of the emulator where an experiment says `backend: ovs` or `tc`.

Pure: from a fabric and a condition to the settings of the backend's own parts, and which part decides what.
What a backend cannot carry is refused here, before anything starts. `crosswind.testbed` runs the backends.
"""

from crosswind.backends.refusals import NotCarried, refuse_what_emulators_do
from crosswind.backends.stations import Stations

__all__ = ["NotCarried", "Stations", "refuse_what_emulators_do"]
