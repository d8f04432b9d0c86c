"""What `select` takes beyond the library: 10⁶ rows of 64, against the same calls of the classes.

    python python/examples/overhead.py
"""

import time

import numpy as np
import partition_dpp as pdpp

rng = np.random.default_rng(0)
rows, labels = rng.normal(size=(1_000_000, 64)).astype(np.float32), rng.integers(3, size=1_000_000)
seconds = {"select": [], "classes": []}
for turn in range(9):
    started = time.perf_counter()
    chosen = pdpp.select(rows, labels=labels, quota=[5, 5, 5], n_samples=10, seed=turn, engine="cpu")
    seconds["select"].append(time.perf_counter() - started)
    # The library's part, one call after the other.
    started = time.perf_counter()
    features = pdpp.Features(rows).with_unit_rows()
    model = pdpp.PartitionDpp(features, pdpp.Partition(labels), [5, 5, 5])
    samples = model.sampler(engine="cpu").sample(10, seed=turn)
    seconds["classes"].append(time.perf_counter() - started)
    assert [sample.tolist() for sample in samples] == [sample.tolist() for sample in chosen.samples]
select, classes = (np.median(seconds[name]) for name in ("select", "classes"))
print(f"select {select:.3f} s, the same calls {classes:.3f} s: {100 * (select / classes - 1):+.1f} %")
small = rows[:200]
started = time.perf_counter()
for turn in range(200):
    pdpp.select(small, k=5, seed=turn, engine="cpu")
print(f"{(time.perf_counter() - started) / 200 * 1e6:.0f} microseconds for 5 of 200")
