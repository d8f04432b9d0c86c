"""Partitions of Dask, for `partition_dpp.distributed`."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pyarrow as pa

from .distributed import Function, Run

#: Partitions whose answers the driver holds at a time.
TOGETHER = 64


def over(frame: Any) -> Run:
    """The partitions of a `dask.dataframe.DataFrame`."""
    # Its types are incomplete.
    dask: Any = import_module("dask")

    def run(function: Function, columns: list[str]) -> Iterator[pa.Table]:
        on_partition = dask.delayed(lambda part: function(pa.Table.from_pandas(part, preserve_index=False)))
        parts = frame[columns].to_delayed()
        for first in range(0, len(parts), TOGETHER):
            yield from dask.compute(*[on_partition(part) for part in parts[first : first + TOGETHER]])

    return run
