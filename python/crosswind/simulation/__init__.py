"""Run networks in virtual time, without nodes: recordings, offered packets, or an experiment's trials.

The program `crosswind-simulate` does the work. This package runs it and reads its answers
(docs/reference/contracts.md, section 7).
"""

from crosswind.simulation.capture import is_capture
from crosswind.simulation.recording import is_recording, setup_of_recording
from crosswind.simulation.trials import SimulatedTrial, simulate_trials
from crosswind.simulation.virtual import Offer, flows_of_capture, offer, read_offer, replay

__all__ = [
    "Offer",
    "SimulatedTrial",
    "flows_of_capture",
    "is_capture",
    "is_recording",
    "offer",
    "read_offer",
    "replay",
    "setup_of_recording",
    "simulate_trials",
]
