"""No second copy of the rows."""

import subprocess
import sys

import pytest

MEASURE = """
import sys, numpy as np, partition_dpp as pdpp

def peak():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) << 10 for line in file if line.startswith("VmHWM"))

items, dims = 300_000, 256
rows = np.random.default_rng(0).random((items, dims), dtype=np.float32)
labels = np.arange(items) % 3
pdpp.select(rows[:100], k=2)
open("/proc/self/clear_refs", "w").write("5")
before = peak()
copied = rows.astype(np.float64) if sys.argv[1] == "copied" else rows
chosen = pdpp.select(copied, labels=labels, quota=[2, 2, 2], n_samples=3, engine="cpu")
print((peak() - before) / rows.nbytes)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_rows_are_not_copied():
    def growth(word):
        found = subprocess.run([sys.executable, "-c", MEASURE, word], check=True, capture_output=True, text=True)
        return float(found.stdout)

    shared, copied = growth("shared"), growth("copied")
    print(f"peak memory grows by {shared:.2f} of the rows, by {copied:.2f} with a copy in float64")
    assert shared < 0.3
    # The check notices a copy.
    assert copied > 1.5
