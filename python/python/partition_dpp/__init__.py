"""Small, diverse, representative subsets under quotas, drawn from determinantal point processes (DPPs).

`select` is the way in; the classes mirror the Rust library.

>>> import numpy as np, partition_dpp as pdpp
>>> rng = np.random.default_rng(0)
>>> embeddings = rng.normal(size=(300, 8)).astype(np.float32)
>>> labels = np.repeat(["cat", "dog", "owl"], 100)
>>> chosen = pdpp.select(embeddings, labels=labels, quota={"cat": 2, "dog": (1, 2), "owl": 1}, seed=1)
>>> len(chosen), chosen.counts["cat"], chosen.exactness
(5, 2, 'exact')
"""

from ._native import (
    Design,
    Dpp,
    Features,
    Inference,
    KDpp,
    KernelModel,
    Model,
    Partition,
    PartitionDpp,
    Quota,
    Sampler,
    Solution,
    __version__,
)
from ._select import select
from ._selection import Selection

__all__ = [
    "Design",
    "Dpp",
    "Features",
    "Inference",
    "KDpp",
    "KernelModel",
    "Model",
    "Partition",
    "PartitionDpp",
    "Quota",
    "Sampler",
    "Selection",
    "Solution",
    "__version__",
    "select",
]
