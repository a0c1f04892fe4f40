"""Apache Spark as a standalone cluster on the nodes: sorting, counting, clustering, ranking and queries."""

from crosswind.app.spark.application import Spark
from crosswind.app.spark.parameters import SparkParameters

__all__ = ["Spark", "SparkParameters"]
