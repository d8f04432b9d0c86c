"""A table in Parquet parts."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest


def write(folder, parts, rows_each, dims=16, seed=5):
    """Rows around three centres, one a class, with other lengths in every part."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(3, dims)).astype(np.float32)
    for part in range(parts):
        labels = rng.integers(3, size=rows_each)
        rows = centres[labels] + rng.normal(size=(rows_each, dims)).astype(np.float32) * (1 + part % 3)
        flat = pa.array(rows.astype(np.float32).ravel())
        table = pa.table({
            "item": pa.array(np.arange(part * rows_each, (part + 1) * rows_each)),
            "embedding": pa.FixedSizeListArray.from_arrays(flat, dims),
            "label": pa.array(np.array(["a", "b", "c"])[labels]),
        })
        pq.write_table(table, folder / f"part-{part:04}.parquet")


@pytest.fixture(scope="session")
def small(tmp_path_factory):
    """30 000 rows in six files."""
    folder = tmp_path_factory.mktemp("small")
    write(folder, 6, 5_000)
    return folder
