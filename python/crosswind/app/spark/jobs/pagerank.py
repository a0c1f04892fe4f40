"""PageRank: the rank of every page in a graph of links, after a number of rounds.

A round joins links with ranks and adds up the rank that each page gets from others. The sums are shuffled;
the links stay in the cache of their executors.

Source: HiBench 7, websearch/pagerank (SparkPageRank: rank = 0.15 + 0.85 * sum).
"""

from pyspark.sql import functions as f

from .job import Job, check
from .outcome import Checked
from .size import Pages

LINKS = 8
# Every page links to the next one, so that every page has an outgoing and an incoming link. Its other links
# prefer pages with low numbers, as links on the web prefer few pages.
_TARGETS = (
    "transform(sequence(1, {links}), i -> if(i = 1, pmod(id + 1, {pages}), "
    "cast({pages} * power(pmod(xxhash64(id, i, {seed}L), 1000003) / 1000003D, 3) as bigint)))"
)
# Sums of doubles in another order differ in the last digits.
RANK_TOLERANCE = 1e-9


class PageRank(Job[Pages]):
    """Size: `records` (pages), `iterations`, and `partitions`."""

    def make_input(self) -> None:
        pages = self.size.records
        targets = f.expr(_TARGETS.format(links=LINKS, pages=pages, seed=self.seed))
        rows = self.spark.range(0, pages, 1, self.size.partitions)
        rows.select(f.col("id").alias("page"), targets.alias("targets")).write.parquet(self.input)

    def run(self) -> None:
        links = self.spark.read.parquet(self.input).repartition(self.size.partitions, "page").cache()
        ranks = links.select("page", f.lit(1.0).alias("rank"))
        for _ in range(self.size.iterations):
            # A merge join, because a broadcast join fails if the ranks do not fit into memory.
            given = links.join(ranks.hint("merge"), "page").select(
                f.explode("targets").alias("page"), (f.col("rank") / f.size("targets")).alias("share")
            )
            ranks = given.groupBy("page").agg((0.15 + 0.85 * f.sum("share")).alias("rank"))
        ranks.write.parquet(self.output)
        links.unpersist(blocking=True)

    def validate(self) -> Checked:
        """Check that the ranks add up to the number of pages: a round only moves rank between pages."""
        pages = self.size.records
        count, total, least = (
            self.spark.read.parquet(self.output).agg(f.count("page"), f.sum("rank"), f.min("rank")).first()
        )
        check(count == pages, f"{count} pages of {pages} have a rank")
        check(abs(total - pages) <= RANK_TOLERANCE * pages, f"the ranks of {pages} pages add up to {total}")
        check(least >= 0.15, f"a rank is {least}, below what every page has")
        return {"pages": count, "ranks": total}
