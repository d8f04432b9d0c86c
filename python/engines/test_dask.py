"""Dask with threads on this machine."""

import pytest
from partition_dpp.dask import over
from partition_dpp.distributed import Columns, Distributed

dataframes = pytest.importorskip("dask.dataframe")


def test_samples_meet_the_quota(small):
    frame = dataframes.read_parquet(small, engine="pyarrow", split_row_groups=False, dtype_backend="pyarrow")
    columns = Columns("embedding", label="label", similarity="dot", keep=("item",))
    drawn = Distributed(over(frame), columns).sample(quota={"a": 1, "c": 2}, n_samples=5, seed=1)
    assert all(sorted(parts) == ["a", "c", "c"] for parts in drawn.parts)
    assert drawn.table().num_rows == 15
