"""Synchronous training of a small neural network on several workers: bursts of gradients, all to all.

Source: Zilberman et al., "NRG", trained TensorFlow on MNIST so; README.md says what differs.
"""

from crosswind.app.training.application import Training
from crosswind.app.training.parameters import TrainingParameters

__all__ = ["Training", "TrainingParameters"]
