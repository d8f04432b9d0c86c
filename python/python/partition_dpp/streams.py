"""Samples of rows that lie elsewhere, step by step: what the classes of `partition_dpp::stream` do.

`partition_dpp.distributed` does it all, on Ray, Spark or Dask. Here are the parts, for other engines: sums over batches,
a plan on the driver, independent draws of rows (trials) from batches, and exact samples from the stream of trials. All
but `StreamSampler` can be pickled.

>>> import numpy as np
>>> from partition_dpp import Features
>>> from partition_dpp.streams import Batch, Grams, Plan, StreamSampler, Trials
>>> rng = np.random.default_rng(0)
>>> batches = [Batch(number, rng.normal(size=(100, 4)), rng.integers(2, size=100)) for number in range(3)]
>>> grams = Grams()
>>> for batch in batches:  # a map and a reduction
...     grams = grams.merge(Grams.of_batch(batch))
>>> plan = Plan(grams, {0: 1, 1: 2})
>>> totals = [plan.total_leverage(batch) for batch in batches]  # a map
>>> sampler, samples = StreamSampler(plan, seed=1), []
>>> while len(samples) < 5:
...     sample, request = sampler.step()
...     if request is None:
...         samples.append(sample)
...         continue
...     count, seed = request  # a map
...     shares = plan.split(totals, count, seed)
...     sampler.feed(Trials.concatenate([plan.trials(*each, seed) for each in zip(batches, shares)]))
>>> [sorted(parts.tolist()) for _, _, parts in samples]
[[0, 1, 1], [0, 1, 1], [0, 1, 1], [0, 1, 1], [0, 1, 1]]
"""

from ._native import (
    Batch,
    CoreSet,
    CoreSetUnion,
    Frame,
    Grams,
    IllConditioned,
    Marginals,
    Plan,
    Representation,
    StreamSampler,
    Trials,
)

__all__ = [
    "Batch",
    "CoreSet",
    "CoreSetUnion",
    "Frame",
    "Grams",
    "IllConditioned",
    "Marginals",
    "Plan",
    "Representation",
    "StreamSampler",
    "Trials",
]
