"""Sort: lines of random text, sorted over the whole cluster.

Source: HiBench 7, micro/sort (ScalaSort).
"""

from pyspark.sql import functions as f

from .job import Job, check
from .outcome import Checked
from .random_text import LINE_END, write_lines
from .size import Records
from .sorted_text import check_sorted, count_lines, read_lines, sort_lines


class Sort(Job[Records]):
    """Size: `records` (lines), and `partitions` of the input and of the output."""

    def make_input(self) -> None:
        write_lines(self.spark, self.size.records, self.size.partitions, self.seed, self.input)

    def run(self) -> None:
        lines = read_lines(self.spark, self.input, LINE_END)
        sort_lines(lines, f.col("value"), self.size.partitions, self.output, LINE_END)

    def validate(self) -> Checked:
        given = count_lines(read_lines(self.spark, self.input, LINE_END))
        check(given.count == self.size.records, f"the input has {given.count} lines")
        check_sorted(self.spark, self.output, f.col("value"), LINE_END, given)
        return {"records": given.count, "checksum": f"{given.checksum:x}"}
