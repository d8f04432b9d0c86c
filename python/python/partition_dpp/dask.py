"""Partitions of Dask, for `partition_dpp.distributed`."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from .distributed import Function, Run


def over(frame) -> Run:
    """The partitions of a `dask.dataframe.DataFrame`."""
    import dask

    def run(function: Function, columns: list[str]) -> Iterator[pa.Table]:
        on_partition = dask.delayed(lambda part: function(pa.Table.from_pandas(part, preserve_index=False)))
        yield from dask.compute(*[on_partition(part) for part in frame[columns].to_delayed()])

    return run
