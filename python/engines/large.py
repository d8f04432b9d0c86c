"""Ten million rows on Ray, and a million on Spark: time, the driver's memory, and the law.

    python engines/large.py [--engine ray|spark] [--rows N]

Writes the table to a scratch folder, draws exact (5, 5, 5) samples, and compares how often groups of rows are drawn
with their inclusion probabilities on one machine.
"""

import argparse
import pathlib
import resource
import tempfile
import threading
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from conftest import write
from partition_dpp.distributed import Columns, Distributed

DIMS, PARTS = 64, 20
COLUMNS = Columns("embedding", label="label", similarity="dot", keep=("item",))
QUOTA = {"a": 5, "b": 5, "c": 5}


def resident() -> int:
    """Memory of this process alone, in bytes."""
    with open("/proc/self/smaps_rollup") as file:
        fields = dict(line.split(":") for line in file.readlines()[1:])
    return sum(int(fields[name].split()[0]) << 10 for name in ("Private_Clean", "Private_Dirty"))


class Peak:
    """The most private memory of this process while it is watched."""

    def __enter__(self):
        self.most, self.done = 0, threading.Event()
        self.thread = threading.Thread(target=self.watch)
        self.thread.start()
        return self

    def watch(self):
        while not self.done.wait(0.1):
            self.most = max(self.most, resident())

    def __exit__(self, *_):
        self.done.set()
        self.thread.join()


def catalogue(engine, folder):
    if engine == "ray":
        import ray
        from partition_dpp.ray import over

        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=2 << 30)
        ray.data.DataContext.get_current().enable_progress_bars = False
        return Distributed(over(ray.data.read_parquet(str(folder))), COLUMNS)
    from partition_dpp.spark import over
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", False)
    session = builder.config("spark.driver.host", "127.0.0.1").config("spark.driver.memory", "4g").getOrCreate()
    return Distributed(over(session.read.parquet(str(folder))), COLUMNS)


def compare(folder, drawn, rows):
    """Deviations of counts of 20 groups of rows from what one machine expects, in standard errors."""
    import partition_dpp as pdpp

    tables = [pq.read_table(path, columns=["embedding", "label"]) for path in sorted(folder.glob("*.parquet"))]
    table = pa.concat_tables(tables)
    model = pdpp.PartitionDpp(pdpp.Features(table["embedding"]), table["label"], QUOTA)
    marginals, error = model.inference(engine="cpu").inclusion_probabilities()
    found = np.zeros(rows)
    np.add.at(found, drawn.table()["item"].to_numpy(), 1)
    groups = np.array_split(np.argsort(marginals), 20)
    expected = np.array([marginals[group].sum() for group in groups]) * len(drawn.samples)
    counts = np.array([found[group].sum() for group in groups])
    return (counts - expected) / np.sqrt(expected), error


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--engine", default="ray", choices=["ray", "spark"])
    arguments.add_argument("--rows", type=int, default=10_000_000)
    arguments.add_argument("--samples", type=int, default=200)
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        write(folder, PARTS, given.rows // PARTS, DIMS)
        size = sum(path.stat().st_size for path in folder.iterdir())
        print(f"{given.rows} rows of {DIMS}, {size / 1e9:.2f} GB in {PARTS} files")
        source = catalogue(given.engine, folder)
        with Peak() as peak:
            started = time.time()
            plan = source.plan(quota=QUOTA)
            print(f"sums and plan {time.time() - started:.1f} s, {plan.expected_trials:.0f} trials a sample expected")
            started = time.time()
            drawn = source.sample(quota=QUOTA, n_samples=given.samples, seed=1)
            print(f"{given.samples} samples {time.time() - started:.1f} s, {drawn.trials / given.samples:.0f} trials "
                  f"and {drawn.proposals / given.samples:.1f} proposals each, law error {drawn.law_error:.1e}")
        print(f"driver's private memory {peak.most / 1e6:.0f} MB at most; peak resident "
              f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3:.0f} MB with shared pages")
        deviations, error = compare(folder, drawn, given.rows)
        print(f"counts of 20 groups of rows against one machine (error {error:.0e}): deviations "
              f"{deviations.round(1).tolist()} standard errors")


if __name__ == "__main__":
    main()
