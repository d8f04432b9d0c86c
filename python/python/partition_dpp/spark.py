"""Batches of Spark, for `partition_dpp.distributed`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa

from .distributed import ANSWER, Function, Run


def over(frame: Any) -> Run:
    """The Arrow batches of a `pyspark.sql.DataFrame`: `spark.sql.execution.arrow.maxRecordsPerBatch` rows each."""

    def run(function: Function, columns: list[str]) -> Iterator[pa.Table]:
        def on_partition(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                yield from function(batch).to_batches()

        answers = frame.select(*columns).mapInArrow(on_partition, "batch long, payload binary").persist()
        try:
            # All partitions at once; read one by one they would be computed one by one.
            answers.count()
            for row in answers.toLocalIterator():
                yield pa.Table.from_pydict({"batch": [row["batch"]], "payload": [bytes(row["payload"])]}, ANSWER)
        finally:
            answers.unpersist()

    return run
