"""What anybody's samples say, over trials; needs neither a machine nor a results folder."""

from crosswind.analysis.analysis import Analysis, Question, analyse
from crosswind.analysis.samples import BadSamples, Samples, read_samples

__all__ = ["Analysis", "BadSamples", "Question", "Samples", "analyse", "read_samples"]
