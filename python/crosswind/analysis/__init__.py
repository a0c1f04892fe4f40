"""Analyse samples from a file or from a run, over trials; this needs no emulation."""

from crosswind.analysis.analysis import Analysis, Question, analyse
from crosswind.analysis.columns import BadSamples
from crosswind.analysis.each import OF_SHARES, Each, own_quantile
from crosswind.analysis.osmef.published_shares import PublishedShares, published_shares
from crosswind.analysis.run_samples import run_samples
from crosswind.analysis.samples import Samples, read_samples

__all__ = [
    "OF_SHARES",
    "Analysis",
    "BadSamples",
    "Each",
    "PublishedShares",
    "Question",
    "Samples",
    "analyse",
    "own_quantile",
    "published_shares",
    "read_samples",
    "run_samples",
]
