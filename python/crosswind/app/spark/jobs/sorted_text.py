"""Sort files of lines by range, and prove that the result is the sorted input.

Every file is checked where it is read, so the proof sends only one row per file over the network.
"""

from dataclasses import dataclass
from itertools import pairwise

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f

from .job import check

# Larger than any file. As the cost of opening a file, it makes every task read exactly one whole file.
WHOLE_FILES = str(1 << 50)


@dataclass(frozen=True)
class LinesDigest:
    """What identifies a set of lines: their count and the sum of their CRC-32, as in TeraValidate."""

    count: int
    checksum: int


def read_lines(spark: SparkSession, folder: str, separator: str) -> DataFrame:
    """Return the lines of all files of a folder, in a column `value`."""
    return spark.read.option("lineSep", separator).text(folder)


def sort_lines(lines: DataFrame, key: Column, partitions: int, output: str, separator: str) -> None:
    """Write the lines in the order of `key`: each file sorted, and the files by their names."""
    ordered = lines.repartitionByRange(partitions, key).sortWithinPartitions(key)
    ordered.write.option("lineSep", separator).text(output)


def count_lines(lines: DataFrame) -> LinesDigest:
    """Return the count and the checksum of the lines."""
    count, checksum = lines.agg(f.count("value"), f.sum(f.crc32("value"))).first()
    return LinesDigest(count, checksum or 0)


def check_sorted(
    spark: SparkSession, folder: str, key: Column, separator: str, expected: LinesDigest
) -> None:
    """Check that the files of a folder are the expected lines in the order of `key`.

    Each line must be where sorting its file by key and place would put it, and the last key of a file must
    not be above the first key of the next file.

    Raises: NotValid: lines are missing, changed or out of order.
    """
    spark.conf.set("spark.sql.files.maxPartitionBytes", WHOLE_FILES)
    spark.conf.set("spark.sql.files.openCostInBytes", WHOLE_FILES)
    place = f.monotonically_increasing_id()
    lines = read_lines(spark, folder, separator).select(
        f.col("_metadata.file_name").alias("file"),
        key.alias("key"),
        f.crc32("value").alias("crc"),
        place.alias("place"),
    )
    compared = lines.sortWithinPartitions("key", "place").withColumn("sorted_place", place)
    files = (
        compared.groupBy("file")
        .agg(
            f.min("key").alias("first"),
            f.max("key").alias("last"),
            f.count("key").alias("count"),
            f.sum("crc").alias("checksum"),
            f.count_if(f.col("place") != f.col("sorted_place")).alias("out_of_order"),
        )
        .collect()
    )
    files.sort(key=lambda file: file["file"])
    for name in ("spark.sql.files.maxPartitionBytes", "spark.sql.files.openCostInBytes"):
        spark.conf.unset(name)
    found = LinesDigest(sum(file["count"] for file in files), sum(file["checksum"] for file in files))
    check(found.count == expected.count, f"{found.count} lines of {expected.count} are in the output")
    check(found.checksum == expected.checksum, f"checksum {found.checksum:x} is not {expected.checksum:x}")
    for file in files:
        check(file["out_of_order"] == 0, f"{file['out_of_order']} lines of {file['file']} are out of order")
    for before, after in pairwise(files):
        check(
            before["last"] <= after["first"],
            f"{before['file']} ends with {before['last']!r}, above {after['first']!r} of {after['file']}",
        )
