"""The main entry point: rows in, chosen items out."""

from __future__ import annotations

import secrets
import warnings
from operator import index
from typing import Literal

import numpy as np

from . import _native
from ._progress import reporting
from ._selection import Selection
from ._types import CountEntry, Engine, Items, Labels, Progress, Rows, Scores, Solver


def select(
    embeddings: Rows | _native.Features,
    *,
    k: int | None = None,
    labels: Labels | _native.Partition | None = None,
    quota: CountEntry | _native.Quota | None = None,
    scores: Scores | None = None,
    diversity: float | None = None,
    similarity: Literal["cosine", "dot", "rbf"] = "cosine",
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
        table of numbers (pyarrow, polars, pandas, datasets, DuckDB), a `Features`, or what NumPy makes an array of.
        Contiguous float16, float32 and float64 are not copied, and must not be written to meanwhile.
    k
        Number of items in all. Without `k` and `quota`, sets have any size.
    labels
        The part of each item: text, integers or booleans.
    quota
        How many items of every part: a dictionary by label, or a list in the order of the labels, of numbers, pairs
        ``(low, high)`` with both ends included and None for no limit, or ranges; parts that are not named get none.
        Labels with an order of their own, ordered categories, take a dictionary.
        With `k`, ``"equal"`` shares it out equally, ``"proportional"`` by the parts' sizes.
    scores, diversity
        One number per item, and what diversity counts beside it, from 0 (scores only) to 1 (diversity only); 0.5 if
        there are scores. Sets of large ``(1 - diversity) * sum(scores) + diversity * log_det`` are likely.
    similarity
        ``"cosine"``, ``"dot"``, or ``"rbf"``, the Gaussian kernel exp(-|x - y|² / (2 bandwidth²)).
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
        Items that are in every set, and items that are in none.
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
    {'0': 2, '1': 2, '2': 2, '3': 2}
    >>> best.gap < 0.2
    True

    Two of each label that stand for their part:

    >>> typical = pdpp.select(embeddings, labels=labels, quota=[2, 2, 2, 2], represent="parts", method="map")
    >>> typical.explained > best.explained
    True
    """
    if method not in ("sample", "estimated", "map"):
        raise ValueError(f'the method "{method}" is none of "sample", "estimated" and "map"')
    if similarity not in ("cosine", "dot", "rbf"):
        raise ValueError(f'the similarity "{similarity}" is none of "cosine", "dot" and "rbf"')
    if quota is not None and labels is None:
        raise ValueError("a quota needs labels, the part of each item")
    if similarity != "rbf" and (bandwidth is not None or landmarks is not None):
        raise ValueError('bandwidth and landmarks are for the similarity "rbf"')
    if represent not in (None, "parts", "all"):
        raise ValueError(f'represent is "{represent}", neither "parts" nor "all"')
    representation = _number("representation", representation)
    if representation is not None and represent is None:
        raise ValueError('representation is for represent, what sets stand for: "parts" or "all"')
    if method != "estimated" and law_error is not None:
        raise ValueError('law_error is for the method "estimated"')
    if engine not in ("auto", "cpu", "gpu"):
        raise ValueError(f'the engine "{engine}" is none of "auto", "cpu" and "gpu"')
    k, n_samples, seed = _count("k", k), _count("n_samples", n_samples), _seed(seed)
    diversity = _number("diversity", diversity)
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
        features = _native.Features(embeddings)
        if similarity == "cosine":
            features = features.with_unit_rows()
        law = {"scores": scores, "diversity": diversity, "include": include, "exclude": exclude}
        sets = {"labels": None if labels is None else _native.Partition(labels), "quota": quota, "k": k}
        if labels is not None and len(sets["labels"]) != len(features):
            raise ValueError(f"there are {len(sets['labels'])} labels for {len(features)} items")
        if similarity == "rbf" and (method != "map" or represent is not None) and solver != "coverage":
            if bandwidth is None and represent is not None:
                bandwidth = features.median_distance() / 3
            features = features.rbf(bandwidth, landmarks, progress=report)
            if ridge == "auto":
                ridge = 0.01
            similarity, bandwidth, landmarks = "dot", None, None
        alike = features
        if ridge == "auto":
            ridge = 0.01 if similarity == "rbf" else features.suggested_ridge()
        if represent is not None:
            own = sets["labels"] if represent == "parts" else None
            features = alike.represent(own, 1.0 if representation is None else representation, progress=report)
        if solver == "coverage":
            return _covering(features, sets, law, similarity, bandwidth, landmarks, coverage, time_limit, report)
        if method == "map":
            return _best((alike, features), sets, law, similarity, bandwidth, landmarks, ridge, solver, certify,
                         time_limit, engine, report)
        model = _model(features, sets, law, ridge)
        way = "estimated" if method == "estimated" else "auto"
        samples, off, exactness, used = model._draw(n_samples, seed, way, law_error, engine, report)
    if exactness == "estimated":
        words = f"the samples come from a law that is off by an estimated {off:.1e} in total variation"
        warnings.warn(words, RuntimeWarning, stacklevel=2)
    first = samples[0]
    return Selection(first, samples, model.log_det(first), _parts(sets, first), exactness, off, None, None,
                     features.kernel_error, used, seed, *_explained(alike, sets, first))


def _explained(rows, sets, items):
    """How well items represent all rows, and the rows of every part."""
    labels = sets["labels"]
    total, by_part = rows.explained(items, labels)
    return total, None if labels is None else by_part


def _parts(sets, items):
    """The labels of items; None without labels."""
    labels = sets["labels"]
    return None if labels is None else [labels.part_of(item) for item in items.tolist()]


def _model(features, sets, law, ridge=None):
    if sets["quota"] is not None:
        return _native.PartitionDpp(features, sets["labels"], sets["quota"], sets["k"], ridge=ridge, **law)
    if sets["k"] is not None:
        return _native.KDpp(features, sets["k"], ridge=ridge, **law)
    return _native.Dpp(features, ridge=ridge, **law)


def _best(rows, sets, law, similarity, bandwidth, landmarks, ridge, solver, certify, time_limit, engine, report):
    """The best set: of pairs of items where the kernel has no features, or too many."""
    alike, features = rows
    top = law["scores"] is not None and law["diversity"] == 0
    by_pairs = (solver or "local-search") in ("local-search", "greedy") and not certify and landmarks is None
    pairs = not top and (ridge is not None or (similarity == "rbf" and by_pairs))
    if pairs:
        if not by_pairs:
            raise ValueError('a ridge takes the solvers "local-search" and "greedy", without certify or landmarks')
        if engine == "gpu":
            raise ValueError("a kernel of pairs of items is computed on the CPU: leave out the engine")
        compared = "rbf" if similarity == "rbf" else "dot"
        model = _native.KernelModel(features, **sets, similarity=compared, bandwidth=bandwidth, ridge=ridge, **law)
        found = model.solve(solver or "local-search", time_limit=time_limit, progress=report)
    elif top:
        scores, law = law["scores"], {**law, "scores": None, "diversity": None}
        found = _model(features, sets, law).top_scores(scores)
    else:
        if similarity == "rbf":
            alike = features = features.rbf(bandwidth, landmarks, progress=report)
        model = _model(features, sets, law)
        found = model.solve(solver or "local-search", time_limit=time_limit, certify=certify, engine=engine,
                            progress=report)
    if found.missing:
        asked = len(found.indices) + found.missing
        raise ValueError(f"only {len(found.indices)} of {asked} items were found ({found.termination}): all others "
                         "depend on those chosen")
    log_det = found.log_det
    if top and similarity == "rbf" and len(found.indices):
        # The log det of the only set with these items.
        only = {"k": len(found.indices), "include": found.indices, "bandwidth": bandwidth}
        log_det = _native.KernelModel(features, **only).solve("greedy").log_det
    if similarity != "rbf":
        explained = _explained(alike, sets, found.indices)
    elif pairs:
        explained = model.explained(found.indices)
    else:
        explained = (None, None) if top else _explained(alike, sets, found.indices)
    exactness = "optimal" if found.termination == "optimal" else "heuristic"
    return Selection(found.indices, [found.indices], log_det, _parts(sets, found.indices), exactness, None,
                     found.upper_bound, found.termination, features.kernel_error, found.engine, None, *explained)


def _covering(rows, sets, law, similarity, bandwidth, landmarks, coverage, time_limit, report):
    """A set that covers all items."""
    if similarity == "rbf":
        bandwidth = rows.median_distance() / 3 if bandwidth is None else bandwidth
        if landmarks is not None:
            rows, similarity, bandwidth = rows.rbf(bandwidth, landmarks, progress=report), "dot", None
    compared = "rbf" if similarity == "rbf" else "dot"
    model = _native.KernelModel(rows, **sets, similarity=compared, bandwidth=bandwidth, **law)
    found = model.solve("coverage", coverage=coverage, time_limit=time_limit, progress=report)
    explained = model.explained(found.indices)
    return Selection(found.indices, [found.indices], found.log_det, _parts(sets, found.indices), "heuristic", None,
                     None, found.termination, rows.kernel_error, found.engine, None, *explained, found.coverage,
                     found.guarantee)


def _seed(seed) -> int:
    if seed is None:
        return secrets.randbits(64)
    if isinstance(seed, np.random.Generator):
        return int(seed.integers(2**64, dtype=np.uint64))
    try:
        number = int(seed)
    except (TypeError, ValueError, OverflowError):
        number = -1
    if not 0 <= number < 2**64 or number != seed:
        raise ValueError(f"the seed {_shown(seed)} is neither an integer from 0 to 2**64 - 1 nor a numpy.random.Generator")
    return number


def _number(name: str, number) -> float | None:
    if number is None:
        return None
    try:
        if isinstance(number, (bool, str, bytes, bytearray)):
            raise TypeError
        return float(number)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} is {_shown(number)}; it must be a number") from None


def _shown(value) -> str:
    """A value in one line."""
    try:
        return " ".join(repr(value).split())
    except ValueError:
        # An integer of thousands of digits.
        return type(value).__name__


def _count(name: str, number) -> int | None:
    """A number of items or samples."""
    if number is None and name == "k":
        return None
    try:
        if isinstance(number, bool):
            raise TypeError
        count = index(number)
    except TypeError:
        raise ValueError(f"{name} is {_shown(number)}; it must be a whole number") from None
    if not 0 <= count < 2**32:
        raise ValueError(f"{name} is {_shown(count)}; it must be from 0 to 2**32 - 1")
    return count
