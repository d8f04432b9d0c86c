"""Batches of Ray Data, for `partition_dpp.distributed`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from .distributed import Function, Run


def over(dataset: Any) -> Run:
    """The blocks of a `ray.data.Dataset`, as they are read. A task that fails is run again, with the same answer."""

    def run(function: Function, columns: list[str]) -> Iterable[pa.Table]:
        own = dataset.select_columns(columns)
        # Sums are added in this order.
        own.context.execution_options.preserve_order = True
        answers = own.map_batches(function, batch_format="pyarrow", batch_size=None, zero_copy_batch=True)
        tables: Iterable[pa.Table] = answers.iter_batches(batch_size=None, batch_format="pyarrow")
        return tables

    return run
