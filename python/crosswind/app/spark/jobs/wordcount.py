"""WordCount: how often each word of a text occurs.

Words are counted where they are read, before the shuffle, so little data cross the network. With the input on
every node (`storage: local`) there is almost no traffic.

Source: HiBench 7, micro/wordcount (ScalaWordCount, whose reduceByKey also combines before the shuffle).
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from .job import Job, check
from .outcome import Checked
from .random_text import LINE_END, WORDS_IN_A_LINE, write_lines
from .size import Records
from .sorted_text import read_lines


class WordCount(Job[Records]):
    """Size: `records` (lines), and `partitions` of the input."""

    def make_input(self) -> None:
        write_lines(self.spark, self.size.records, self.size.partitions, self.seed, self.input)

    def run(self) -> None:
        self._words().groupBy("word").count().write.csv(self.output, sep="\t")

    def validate(self) -> Checked:
        """Check the sum of counts, each weighted with the CRC-32 of its word."""
        counted = self.spark.read.csv(self.output, sep="\t", schema="word string, count bigint")
        found = counted.agg(f.sum("count"), f.sum(f.crc32("word") * f.col("count")), f.count("word")).first()
        given = self._words().agg(f.count("word"), f.sum(f.crc32("word"))).first()
        expected = self.size.records * WORDS_IN_A_LINE
        check(given[0] == expected, f"the input has {given[0]} words of {expected}")
        check(found[0] == given[0], f"{found[0]} words are counted of {given[0]}")
        check(found[1] == given[1], f"checksum {found[1]:x} is not {given[1]:x}")
        return {"words": found[0], "different_words": found[2], "checksum": f"{found[1]:x}"}

    def _words(self) -> DataFrame:
        lines = read_lines(self.spark, self.input, LINE_END)
        return lines.select(f.explode(f.split("value", " ")).alias("word"))
