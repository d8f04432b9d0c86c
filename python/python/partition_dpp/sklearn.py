"""A selector with the interface of scikit-learn and imbalanced-learn."""

from __future__ import annotations

from typing import Any, Literal, Self, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin
from sklearn.utils import _safe_indexing, check_consistent_length, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from ._select import select
from ._selection import Selection
from ._types import CountEntry, Engine, Items, Scores, Similarity, Solver

Table = TypeVar("Table", bound=ArrayLike)
Target = TypeVar("Target", bound=ArrayLike | None)


class SubsetSelector(OneToOneFeatureMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Selects rows that are as different as possible, under quotas per class.

    In a pipeline of imbalanced-learn, the next steps are fitted to the selected rows, and predict all rows. Without a
    pipeline, ``X[selector.fit(X).indices_]`` are the selected rows. Scores go through a pipeline by metadata routing:
    import imbalanced-learn before this module, then ``set_fit_request(scores=True)`` and
    ``set_fit_resample_request(scores=True)`` ask for them.

    Parameters
    ----------
    random_state : int, numpy.random.RandomState or None
        Where the seed of the sample comes from.
    others
        As in `partition_dpp.select`. The labels are `y`, which `quota`, ``represent="parts"`` and ``coverage="parts"``
        need and others ignore.

    Attributes
    ----------
    indices_ : the selected rows, ascending.
    selection_ : the whole `partition_dpp.Selection`.
    n_features_in_ : number of features.
    feature_names_in_ : names of the features, if X has names.

    Examples
    --------
    >>> import numpy as np
    >>> from partition_dpp.sklearn import SubsetSelector
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(100, 5)), np.repeat([0, 1], 50)
    >>> selector = SubsetSelector(k=4, quota="equal", random_state=0)
    >>> X_few, y_few = selector.fit_resample(X, y)
    >>> X_few.shape, np.bincount(y_few).tolist()
    ((4, 5), [2, 2])
    """

    indices_: NDArray[np.int64]
    selection_: Selection
    n_features_in_: int

    def __init__(
        self,
        k: int | None = None,
        *,
        quota: CountEntry | None = None,
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
        random_state: int | np.random.RandomState | None = None,
        engine: Engine = "auto",
    ) -> None:
        self.k = k
        self.quota = quota
        self.diversity = diversity
        self.similarity = similarity
        self.bandwidth = bandwidth
        self.landmarks = landmarks
        self.ridge = ridge
        self.represent = represent
        self.representation = representation
        self.include = include
        self.exclude = exclude
        self.method = method
        self.law_error = law_error
        self.solver = solver
        self.coverage = coverage
        self.certify = certify
        self.time_limit = time_limit
        self.random_state = random_state
        self.engine = engine

    def fit(self, X: ArrayLike, y: ArrayLike | None = None, *, scores: Scores | None = None) -> Self:
        """Selects rows of X; y holds their labels, scores how good they are."""
        floats = [np.float64, np.float32, np.float16]
        rows = cast(NDArray[Any], validate_data(self, X, dtype=floats))  # pyright: ignore[reportArgumentType]
        check_consistent_length(rows, y)
        by_label = self.quota is not None or "parts" in (self.represent, self.coverage)
        if by_label and y is None:
            raise ValueError('quota, represent="parts" and coverage="parts" need y, the label of each row')
        options = self.get_params(deep=False)
        seed = check_random_state(options.pop("random_state")).randint(2**31)
        self.selection_ = select(rows, labels=y if by_label else None, scores=scores, seed=seed, **options)
        self.indices_ = self.selection_.indices
        self._items = len(rows)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # X is the similarities of pairs: its columns are items, too.
        tags.input_tags.pairwise = self.similarity == "precomputed"
        return tags

    def get_support(self, indices: bool = False) -> NDArray[Any]:
        """Which rows are selected: a mask over the rows, or their numbers."""
        check_is_fitted(self)
        if indices:
            return self.indices_
        mask = np.zeros(self._items, dtype=bool)
        mask[self.indices_] = True
        return mask

    def fit_resample(self, X: Table, y: Target, *, scores: Scores | None = None) -> tuple[Table, Target]:
        """The selected rows of X and their y, which may be None, in the types that they came in."""
        self.fit(X, y, scores=scores)
        return _rows(X, self.indices_), _rows(y, self.indices_)


def _rows(table: Target, indices: NDArray[np.int64]) -> Target:
    """Some rows of an array, a list or a table of pandas or polars, in its own type; None of None."""
    return table if table is None else cast(Target, _safe_indexing(table, indices))
