"""The main entry point: rows in, chosen items out."""

from __future__ import annotations

import warnings
from typing import Literal

import numpy as np

from . import _native
from ._arguments import as_count, as_number, as_seed
from ._progress import reporting
from ._question import Law, Question, best, covering
from ._selection import Selection
from ._types import CountEntry, Engine, Items, Labels, Method, Progress, Rows, Scores, Similarity, Solver


def select(
    embeddings: Rows | _native.Features,
    *,
    k: int | None = None,
    labels: Labels | _native.Partition | None = None,
    quota: CountEntry | _native.Quota | None = None,
    scores: Scores | None = None,
    diversity: float | None = None,
    similarity: Similarity = "cosine",
    bandwidth: float | None = None,
    landmarks: int | None = None,
    ridge: float | Literal["auto"] | None = None,
    represent: Literal["parts", "all"] | None = None,
    representation: float | None = None,
    include: Items | None = None,
    exclude: Items | None = None,
    method: Literal["sample", "estimated", "map"] = "sample",
    law_error: float | None = None,
    solver: Solver | None = None,
    coverage: Literal["parts", "all"] | None = None,
    certify: bool = False,
    time_limit: float | None = None,
    n_samples: int = 1,
    seed: int | np.random.Generator | None = 0,
    engine: Engine = "auto",
    progress: bool | Progress | None = None,
) -> Selection:
    """Chooses items whose rows are as different as possible, under quotas, representative, with good scores.

    Samples come from the determinantal point process (DPP) of the similarity: a set has a probability proportional to
    its determinant, the squared volume that its rows span. Sets that meet the quota are drawn exactly, whatever the
    number of items. `method="map"` searches for the most probable set instead.

    Parameters
    ----------
    embeddings
        One row of numbers per item: a NumPy array (memory-mapped ones stay in their file), an Arrow array of lists or a
        table of numbers (pyarrow, polars, pandas, DuckDB), a column of a `datasets.Dataset` with its filters, a `Features`, or what NumPy makes an array of.
        Contiguous float16, float32 and float64 are not copied, and must not be written to meanwhile.
    k
        Number of items in all. Without `k` and `quota`, sets have any size.
    labels
        The part of each item: text, integers or booleans; also a table of one column.
    quota
        How many items of every part: a dictionary by label, or a list in the order of the labels, of numbers, pairs
        ``(low, high)`` with both ends included and None for no limit, or ranges; parts that are not named get none.
        Labels with an order of their own, ordered categories, take a dictionary.
        With `k`, ``"equal"`` shares it out equally, ``"proportional"`` by the parts' sizes.
    scores, diversity
        One number per item, and what diversity counts beside it, from 0 (scores only) to 1 (diversity only); 0.5 if
        there are scores. Sets of large ``(1 - diversity) * sum(scores) + diversity * log_det`` are likely.
    similarity
        ``"cosine"``, ``"dot"``, or ``"rbf"``, the Gaussian kernel exp(-|x - y|² / (2 bandwidth²)); or ``"precomputed"`` if
        `embeddings` is the matrix of the similarities of all pairs of items, symmetric and positive semidefinite. This takes
        time in proportion to the number of items cubed.
    bandwidth, landmarks
        For ``"rbf"``: the length scale, by default about the median distance of items, and a third of that with `represent`;
        and the number of items that all others are compared with, by default 512 at most. Sets have at most as many items.
    ridge
        Added to the similarity of every item with itself, so that sets may have any number of items; ``"auto"`` for a
        power of ten, at most a hundredth of that similarity.
    represent, representation
        ``"parts"`` lets sets stand for the rest of every part, ``"all"`` for all items: an item counts by how much others
        resemble it, so that sets are representative as well as diverse; diversity alone favours outliers. `representation`
        is the exponent of this, 1 by default; 0 leaves diversity alone.
    include, exclude
        Items that are in every set, and items that are in none: their numbers, or a mask with a truth value for each item.
    method
        ``"sample"``; ``"estimated"`` for many parts, where exact draws are out of reach: the law is off by an estimated
        error, at most `law_error` (0.01); or ``"map"``.
    solver, certify, time_limit
        For ``"map"``: ``"local-search"``, ``"greedy"`` or ``"exact"`` (and for sets of any size ``"symmetric-greedy"``
        or ``"softmax"``), or ``"coverage"``; whether to compute a proven bound of all sets; seconds in which local search
        starts again from other sets, or in which other solvers end.
    coverage
        For the solver ``"coverage"``, which looks for a set with an item similar to every other one: ``"parts"`` compares
        items with those of their own label (the default with labels), ``"all"`` with all. The bandwidth of ``"rbf"`` is a
        third of the median distance then, unless it is given.
    n_samples, seed
        Number of samples, and the seed of their random numbers, an integer or a `numpy.random.Generator`; None for one
        from the system. Sample i is the same whatever the number of samples and threads.
    engine
        ``"cpu"``, ``"gpu"``, or ``"auto"``: a GPU where that is predicted to be faster.
    progress
        True for a bar by tqdm if it is installed, or a callable that gets ``(step, steps, seconds)``.

    Raises
    ------
    ValueError
        For input that cannot be used, in one sentence that names the row, item, part or number at fault.

    Warns
    -----
    RuntimeWarning
        If the result is estimated.

    Examples
    --------
    Ten of a thousand, at most four of each label, with good scores:

    >>> import numpy as np, partition_dpp as pdpp
    >>> rng = np.random.default_rng(0)
    >>> embeddings, labels = rng.normal(size=(1000, 16)), rng.integers(4, size=1000)
    >>> chosen = pdpp.select(embeddings, k=10, labels=labels, quota={part: (0, 4) for part in range(4)},
    ...                      scores=rng.random(1000), diversity=0.3)
    >>> len(chosen), max(chosen.counts.values()) <= 4
    (10, True)

    The most diverse eight, two of each label, and how much more diverse others could be:

    >>> best = pdpp.select(embeddings, k=8, labels=labels, quota="equal", method="map", certify=True)
    >>> best.counts
    {0: 2, 1: 2, 2: 2, 3: 2}
    >>> best.gap < 0.2
    True

    Two of each label that stand for their part:

    >>> typical = pdpp.select(embeddings, labels=labels, quota=[2, 2, 2, 2], represent="parts", method="map")
    >>> typical.explained > best.explained
    True
    """
    if method not in ("sample", "estimated", "map"):
        raise ValueError(f'the method "{method}" is none of "sample", "estimated" and "map"')
    if similarity not in ("cosine", "dot", "rbf", "precomputed"):
        raise ValueError(f'the similarity "{similarity}" is none of "cosine", "dot", "rbf" and "precomputed"')
    if quota is not None and labels is None:
        raise ValueError("a quota needs labels, the part of each item")
    if similarity != "rbf" and (bandwidth is not None or landmarks is not None):
        raise ValueError('bandwidth and landmarks are for the similarity "rbf"')
    if represent not in (None, "parts", "all"):
        raise ValueError(f'represent is "{represent}", neither "parts" nor "all"')
    if represent == "parts" and labels is None:
        raise ValueError('represent="parts" needs labels, the part of each item; "all" stands for all items')
    representation = as_number("representation", representation)
    if representation is not None and represent is None:
        raise ValueError('representation is for represent, what sets stand for: "parts" or "all"')
    if method != "estimated" and law_error is not None:
        raise ValueError('law_error is for the method "estimated"')
    if engine not in ("auto", "cpu", "gpu"):
        raise ValueError(f'the engine "{engine}" is none of "auto", "cpu" and "gpu"')
    k = None if k is None else as_count("k", k)
    n_samples, number_of_seed = as_count("n_samples", n_samples), as_seed(seed)
    diversity = as_number("diversity", diversity)
    if diversity is not None and scores is None:
        raise ValueError("diversity needs scores, one number per item")
    if method != "map" and (solver is not None or certify or time_limit is not None):
        raise ValueError('solver, certify and time_limit are for the method "map"')
    if solver == "coverage":
        if represent is not None or ridge is not None or certify:
            raise ValueError('the solver "coverage" takes no represent, ridge or certify: these are of determinants')
        if engine == "gpu":
            raise ValueError("coverage is computed on the CPU: leave out the engine")
        if k is None and quota is None and scores is None:
            raise ValueError("coverage needs k, a quota or scores: otherwise the set of all items covers most")
        if coverage not in (None, "parts", "all"):
            raise ValueError(f'coverage is "{coverage}", neither "parts" nor "all"')
        if coverage == "parts" and labels is None:
            raise ValueError("coverage of parts needs labels, the part of each item")
    elif coverage is not None:
        raise ValueError('coverage, what items cover, is for the solver "coverage"')
    if method == "map" and n_samples != 1:
        raise ValueError('the method "map" finds one set: n_samples is for the others')
    if not n_samples:
        raise ValueError(f"n_samples is {n_samples}; it must be at least 1")
    if diversity == 0 and method != "map":
        raise ValueError('a diversity of 0 leaves nothing to chance: the method "map" finds the top scores')
    if diversity == 0 and (certify or ridge is not None or solver is not None or time_limit is not None):
        raise ValueError("a diversity of 0 asks for the top scores, which take no solver, certify, time_limit or ridge")

    with reporting(progress, n_samples) as report:
        rows = _native.Features.of_kernel(embeddings) if similarity == "precomputed" else _native.Features(embeddings)
        if similarity == "cosine":
            rows = rows.with_unit_rows()
        parts = None if labels is None else _native.Partition(labels)
        if parts is not None and len(parts) != len(rows):
            raise ValueError(f"there are {len(parts)} labels for {len(rows)} items")
        is_rbf = similarity == "rbf"
        if is_rbf and (method != "map" or represent is not None) and solver != "coverage":
            if bandwidth is None and represent is not None:
                bandwidth = rows.median_distance() / 3
            rows = rows.rbf(bandwidth, landmarks, progress=report)
            if ridge == "auto":
                ridge = 0.01
            is_rbf, bandwidth, landmarks = False, None, None
        if ridge == "auto":
            ridge = 0.01 if is_rbf else rows.suggested_ridge()
        features = rows
        if represent is not None:
            own = parts if represent == "parts" else None
            features = rows.represent(own, 1.0 if representation is None else representation, progress=report)
        law: Law = {"scores": scores, "diversity": diversity, "include": include, "exclude": exclude}
        question = Question(rows, features, parts, quota, k, law, "rbf" if is_rbf else "dot", bandwidth, landmarks, ridge,
                            time_limit, report)
        if solver == "coverage":
            return covering(question, coverage)
        if method == "map":
            return best(question, solver, certify, engine)
        model = question.model()
        way: Method = "estimated" if method == "estimated" else "auto"
        samples, log_dets, off, exactness, used = model._draw(n_samples, number_of_seed, way, law_error, engine, report)
    if exactness == "estimated":
        words = f"the samples come from a law that is off by an estimated {off:.1e} in total variation"
        warnings.warn(words, RuntimeWarning, stacklevel=2)
    first = samples[0]
    total, by_part = question.explained(first)
    return question.ranked(Selection(
        first, samples, log_dets, question.parts(first), exactness=exactness, law_error=off,
        kernel_error=features.kernel_error, engine=used, seed=number_of_seed, explained=total, explained_by_part=by_part,
    ))
