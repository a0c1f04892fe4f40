"""Network calculus and queueing theory: arrival and service curves, buckets, the M/D/1 queue."""

from crosswind.curves.arrival_curve import Excess, arrival_curve_excess, window_excesses
from crosswind.curves.bucket_history import BucketHistory
from crosswind.curves.mdone import MD1
from crosswind.curves.service_curve import service_curve_lateness_ns

__all__ = [
    "MD1",
    "BucketHistory",
    "Excess",
    "arrival_curve_excess",
    "service_curve_lateness_ns",
    "window_excesses",
]
