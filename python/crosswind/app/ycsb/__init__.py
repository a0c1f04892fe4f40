"""The Yahoo! Cloud Serving Benchmark against a replicated store.

Source: Cooper et al., "Benchmarking cloud serving systems with YCSB", SoCC 2010: the core workloads A to F.
"""

from crosswind.app.ycsb.application import Ycsb, YcsbParameters

__all__ = ["Ycsb", "YcsbParameters"]
