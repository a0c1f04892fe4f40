"""Ask the validation of sorted text about outputs that are right and wrong; one line for each answer.

    PYTHONPATH=.../crosswind/app/spark python spark_validation.py FOLDER

Runs in the Python that has pyspark.
"""

import sys
from pathlib import Path
from zlib import crc32

from pyspark.sql import SparkSession
from pyspark.sql import functions as f

from jobs.job import NotValid
from jobs.sorted_text import LinesDigest, check_sorted

OUTPUTS = {
    "sorted": ("abb", "def"),
    "two lines swapped": ("bab", "def"),
    "a line lost": ("abb", "de"),
    "a line changed": ("abb", "deg"),
    "files swapped": ("def", "abb"),
}


def main() -> None:
    spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    expected = LinesDigest(6, sum(crc32(line.encode()) for line in "abbdef"))
    for name, files in OUTPUTS.items():
        folder = Path(sys.argv[1]) / name.replace(" ", "-")
        folder.mkdir()
        for number, lines in enumerate(files):
            (folder / f"part-{number:05}").write_text("".join(f"{line}\n" for line in lines))
        try:
            check_sorted(spark, f"file://{folder}", f.col("value"), "\n", expected)
        except NotValid as reason:
            print(f"{name}: {reason}", flush=True)
        else:
            print(f"{name}: valid", flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
