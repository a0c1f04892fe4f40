"""Synchronous training of a small neural network on several workers, which exchange bursts of gradients.

Source: Zilberman et al., "NRG", which trained TensorFlow on MNIST; README.md lists the differences.
"""

from crosswind.app.training.application import Training
from crosswind.app.training.parameters import TrainingParameters

__all__ = ["Training", "TrainingParameters"]
