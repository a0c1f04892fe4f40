"""memcached under the request mix of Facebook's ETC pool.

Source: Atikoglu et al., "Workload analysis of a large-scale key-value store", SIGMETRICS 2012.
"""

from crosswind.app.memcached.application import Memcached, MemcachedParameters

__all__ = ["Memcached", "MemcachedParameters"]
