"""HPC Challenge: seven benchmarks of a cluster in one MPI program, from computation to communication.

Source: Luszczek et al., "Introduction to the HPC Challenge Benchmark Suite", 2005; HPCC 1.5.0.
"""

from crosswind.app.hpcc.application import Hpcc
from crosswind.app.hpcc.parameters import HpccParameters

__all__ = ["Hpcc", "HpccParameters"]
