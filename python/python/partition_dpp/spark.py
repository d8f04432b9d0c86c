"""Batches of Spark, for `partition_dpp.distributed`."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from .distributed import ANSWER, Function, Run


def over(frame) -> Run:
    """The Arrow batches of a `pyspark.sql.DataFrame`: `spark.sql.execution.arrow.maxRecordsPerBatch` rows each."""

    def run(function: Function, columns: list[str]) -> Iterator[pa.Table]:
        def on_partition(batches):
            for batch in batches:
                yield from function(batch).to_batches()

        own = frame.select(*columns)
        for row in own.mapInArrow(on_partition, "batch long, payload binary").toLocalIterator():
            yield pa.Table.from_pydict({"batch": [row["batch"]], "payload": [bytes(row["payload"])]}, ANSWER)

    return run
