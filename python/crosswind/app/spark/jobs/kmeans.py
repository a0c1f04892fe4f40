"""K-Means: points around as many centres as there are clusters, clustered with Spark's MLlib.

An iteration sends centres to the tasks and sums back; the points stay in the cache of their executors. That
is little traffic in many rounds.

Source: HiBench 7, ml/kmeans (DenseKMeans, MLlib's k-means||).
"""

from pyspark.ml.clustering import KMeans as Algorithm
from pyspark.ml.functions import array_to_vector
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from .job import Job, check
from .outcome import Checked
from .size import Points

# A uniform number in [0, 1) from a hash, of any arguments and the seed.
_UNIFORM = "(pmod(xxhash64({of}, {seed}L), 1000003) / 1000003D)"
# A centre in [0, 10) in each dimension, and four uniform numbers as noise of mean 0 and variance 1/3.
_POINT = (
    "transform(sequence(1, {dimensions}), i -> 10 * {centre} + "
    "aggregate(sequence(1, 4), 0D, (sum, j) -> sum + {noise}) - 2)"
)
# MLlib computes distances from products of norms, which loses the last digits.
COST_TOLERANCE = 1e-5


class KMeans(Job[Points]):
    """Size: `records` (points), `dimensions`, `clusters`, `iterations` (at most), and `partitions`."""

    def make_input(self) -> None:
        cluster = f"pmod(id, {self.size.clusters})"
        point = _POINT.format(
            dimensions=self.size.dimensions,
            centre=_UNIFORM.format(of=f"{cluster}, i, 0", seed=self.seed),
            noise=_UNIFORM.format(of="id, i, j", seed=self.seed),
        )
        rows = self.spark.range(0, self.size.records, 1, self.size.partitions)
        rows.select(f.expr(point).alias("point")).write.parquet(self.input)

    def run(self) -> None:
        points = self._points().cache()
        algorithm = Algorithm(
            k=self.size.clusters, maxIter=self.size.iterations, tol=0.0, seed=self.seed % (1 << 31)
        )
        self._model = algorithm.fit(points)
        points.unpersist(blocking=True)

    def validate(self) -> Checked:
        """Compute the cost of the model in another way.

        MLlib reports the cost of the centres before its last step, and a step never increases it. A single
        centre in the middle of all points costs more than several.
        """
        summary, centres = self._model.summary, [list(map(float, c)) for c in self._model.clusterCenters()]
        check(
            sum(summary.clusterSizes) == self.size.records,
            f"clusters of {summary.clusterSizes} points are not {self.size.records} points",
        )
        points = self.spark.read.parquet(self.input)
        cost = points.agg(f.sum(f.least(*(_distance(centre) for centre in centres)))).first()[0]
        check(
            cost <= (1 + COST_TOLERANCE) * summary.trainingCost,
            f"the centres cost {cost}, more than the {summary.trainingCost} of those before the last step",
        )
        middle = [sum(x) / len(centres) for x in zip(*centres, strict=True)]
        alone = points.agg(f.sum(_distance(middle))).first()[0]
        check(cost < alone, f"the centres cost {cost}, a single one {alone}")
        return {"points": self.size.records, "iterations": summary.numIter, "cost": cost}

    def _points(self) -> DataFrame:
        return self.spark.read.parquet(self.input).select(array_to_vector("point").alias("features"))


def _distance(centre: list[float]) -> Column:
    """Return the squared distance of the column `point` to a centre."""
    squares = f.zip_with("point", f.array(*map(f.lit, centre)), lambda x, y: (x - y) * (x - y))
    return f.aggregate(squares, f.lit(0.0), lambda total, x: total + x)
