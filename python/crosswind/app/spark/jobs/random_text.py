"""Lines of random words out of a thousand, like those of Hadoop's RandomTextWriter, which HiBench uses."""

from pyspark.sql import SparkSession
from pyspark.sql import functions as f

LINE_END = "\n"
WORDS = 1000
WORDS_IN_A_LINE = 10
_LINE = (
    "concat_ws(' ', transform(sequence(1, {words}), "
    "i -> concat('word', pmod(xxhash64(id, i, {seed}L), {vocabulary}))))"
)


def write_lines(spark: SparkSession, records: int, partitions: int, seed: int, folder: str) -> None:
    """Write lines, each drawn from its number and the seed; the number of executors has no influence."""
    line = _LINE.format(words=WORDS_IN_A_LINE, seed=seed, vocabulary=WORDS)
    spark.range(0, records, 1, partitions).select(f.expr(line)).write.text(folder)
