"""Ray Data with worker processes on this machine."""

import os
import signal
import threading
import time

import numpy as np
import pyarrow.parquet as pq
import pytest
from partition_dpp.distributed import Columns, Distributed, in_process
from partition_dpp.ray import over

ray = pytest.importorskip("ray")
COLUMNS = Columns("embedding", label="label", similarity="dot", keep=("item",))
QUOTA = {"a": 2, "b": 2, "c": 2}


@pytest.fixture(scope="module")
def cluster():
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=300 << 20)
    ray.data.DataContext.get_current().enable_progress_bars = False
    yield
    ray.shutdown()


def catalogue(folder):
    return Distributed(over(ray.data.read_parquet(str(folder), override_num_blocks=6)), COLUMNS)


def items(drawn):
    rows = drawn.table().select(["sample", "item"]).to_pylist()
    return [sorted(row["item"] for row in rows if row["sample"] == i) for i in range(len(drawn.samples))]


def test_samples_are_those_of_the_same_batches(cluster, small):
    files = [pq.read_table(path) for path in sorted(small.glob("*.parquet"))]
    drawn = Distributed(over(ray.data.from_arrow(files)), COLUMNS).sample(quota=QUOTA, n_samples=5, seed=1)
    local = Distributed(in_process(files), COLUMNS).sample(quota=QUOTA, n_samples=5, seed=1)
    assert items(drawn) == items(local)
    assert all(sorted(parts) == ["a", "a", "b", "b", "c", "c"] for parts in drawn.parts)
    assert drawn.table().column_names == ["sample", "embedding", "label", "item"]


def workers():
    """Processes that run tasks of Ray."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/cmdline", "rb") as file:
                    line = file.read()
            except OSError:
                continue
            if int(name) != os.getpid() and line.startswith(b"ray::") and b"Map" in line:
                found.append(int(name))
    return found


def test_a_worker_killed_in_the_middle_changes_nothing(cluster, small):
    expected = items(catalogue(small).sample(quota=QUOTA, n_samples=5, seed=2))
    killed, done = [], threading.Event()

    def kill():
        while not done.wait(0.05) and len(killed) < 2:
            for worker in workers()[:1]:
                try:
                    os.kill(worker, signal.SIGKILL)
                    killed.append(worker)
                    time.sleep(0.5)
                except ProcessLookupError:
                    pass

    thread = threading.Thread(target=kill)
    thread.start()
    found = items(catalogue(small).sample(quota=QUOTA, n_samples=5, seed=2))
    done.set()
    thread.join()
    assert killed, "nothing was killed"
    assert found == expected


def test_marginals_are_those_of_one_machine(cluster, small):
    """How often an item is drawn, by halves of the items, against exact inclusion probabilities."""
    import partition_dpp as pdpp
    import pyarrow as pa

    count = 400
    table = pa.concat_tables([pq.read_table(path) for path in sorted(small.glob("*.parquet"))])
    inference = pdpp.PartitionDpp(table["embedding"], table["label"], QUOTA).inference(engine="cpu")
    marginals, _ = inference.inclusion_probabilities()
    drawn = catalogue(small).sample(quota=QUOTA, n_samples=count, seed=3)
    found = np.bincount(np.concatenate(items(drawn)), minlength=table.num_rows)
    # Sixteen groups of items, by their probability: many likely ones against many unlikely ones.
    order = np.argsort(marginals)
    for group in np.array_split(order, 16):
        expected = marginals[group].sum() * count
        # Items repel each other, so counts vary less than Poisson's.
        assert abs(found[group].sum() - expected) < 5 * np.sqrt(expected) + 1
