"""Spark with two threads on this machine."""

import pyarrow.parquet as pq
import pytest
from partition_dpp.distributed import Columns, Distributed
from partition_dpp.spark import over

pyspark = pytest.importorskip("pyspark")
COLUMNS = Columns("embedding", label="label", similarity="dot", keep=("item",))


@pytest.fixture(scope="module")
def session():
    builder = pyspark.sql.SparkSession.builder.master("local[2]").appName("partition-dpp")
    session = builder.config("spark.ui.enabled", False).config("spark.driver.host", "127.0.0.1").getOrCreate()
    yield session
    session.stop()


def items(drawn):
    rows = drawn.table().select(["sample", "item"]).to_pylist()
    return [sorted(row["item"] for row in rows if row["sample"] == i) for i in range(len(drawn.samples))]


def test_samples_meet_the_quota(session, small):
    frame = session.read.parquet(str(small))
    catalogue = Distributed(over(frame), COLUMNS)
    drawn = catalogue.sample(quota={"a": 2, "b": (1, 2), "c": 2}, k=5, n_samples=5, seed=1)
    assert all(sorted(parts) == ["a", "a", "b", "c", "c"] for parts in drawn.parts)
    assert items(drawn) == items(Distributed(over(frame), COLUMNS).sample(
        quota={"a": 2, "b": (1, 2), "c": 2}, k=5, n_samples=5, seed=1))
    labels = {row["item"]: row["label"] for path in small.glob("*.parquet") for row in
              pq.read_table(path, columns=["item", "label"]).to_pylist()}
    for parts, chosen in zip(drawn.parts, items(drawn)):
        assert sorted(parts) == sorted(labels[item] for item in chosen)
