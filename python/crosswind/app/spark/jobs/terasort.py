"""TeraSort: 100-byte records with random 10-byte keys, sorted by key over the whole cluster.

A record has the layout of `gensort -a`: key, row number in 32 hexadecimal digits, filler, and the end of a
line. Keys are drawn from the row number and the seed, so the input does not depend on the number of
executors.

Source: sortbenchmark.org, gensort and valsort; HiBench 7, micro/terasort.
"""

from pyspark.sql import Column
from pyspark.sql import functions as f

from .job import Job, check
from .outcome import Checked
from .size import Records
from .sorted_text import check_sorted, count_lines, read_lines, sort_lines

LINE_END = "\r\n"
KEY_BYTES = 10
# 10 key + 2 + 32 row + 2 + 52 filler + 2 end of line = 100.
RECORD = "concat({key}, '  ', lpad(hex(id), 32, '0'), '  ', rpad('', 52, hex(xxhash64(id, {seed}, 1))))"
# 60 random bits as ten characters.
KEY = "substring(base64(unhex(lpad(hex(xxhash64(id, {seed})), 16, '0'))), 1, 10)"


class TeraSort(Job[Records]):
    """Size: `records`, and `partitions` of the input and of the output."""

    def make_input(self) -> None:
        seed = f"{self.seed}L"
        record = RECORD.format(key=KEY.format(seed=seed), seed=seed)
        rows = self.spark.range(0, self.size.records, 1, self.size.partitions)
        rows.select(f.expr(record)).write.option("lineSep", LINE_END).text(self.input)

    def run(self) -> None:
        lines = read_lines(self.spark, self.input, LINE_END)
        sort_lines(lines, _key(), self.size.partitions, self.output, LINE_END)

    def validate(self) -> Checked:
        given = count_lines(read_lines(self.spark, self.input, LINE_END))
        check(given.count == self.size.records, f"the input has {given.count} records")
        check_sorted(self.spark, self.output, _key(), LINE_END, given)
        return {"records": given.count, "checksum": f"{given.checksum:x}"}


def _key() -> Column:
    return f.substring("value", 1, KEY_BYTES)
