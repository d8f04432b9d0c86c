"""A selector with the interface of scikit-learn."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from ._select import select


class SubsetSelector(BaseEstimator):
    """Selects rows that are as different as possible, under quotas per class.

    Parameters are some of those of `partition_dpp.select`; `random_state` is an integer, a `numpy.random.RandomState` or None. With a
    `quota`, `y` holds the labels.

    Attributes
    ----------
    indices_ : the selected rows, ascending.
    selection_ : the whole `partition_dpp.Selection`.
    n_features_in_ : number of features.

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

    def __init__(
        self,
        k=None,
        *,
        quota=None,
        similarity="cosine",
        diversity=None,
        bandwidth=None,
        ridge=None,
        represent=None,
        method="sample",
        random_state=None,
    ):
        self.k = k
        self.quota = quota
        self.similarity = similarity
        self.diversity = diversity
        self.bandwidth = bandwidth
        self.ridge = ridge
        self.represent = represent
        self.method = method
        self.random_state = random_state

    def fit(self, X, y=None, *, scores=None):
        """Selects rows of X; y holds their labels if there is a quota, scores how good they are."""
        X = validate_data(self, X, dtype=[np.float64, np.float32, np.float16], ensure_min_samples=1)
        if self.quota is not None and y is None:
            raise ValueError("a quota needs y, the label of each row")
        seed = check_random_state(self.random_state).randint(2**31)
        self.selection_ = select(
            X,
            k=self.k,
            labels=y if self.quota is not None else None,
            quota=self.quota,
            scores=scores,
            diversity=self.diversity,
            similarity=self.similarity,
            bandwidth=self.bandwidth,
            ridge=self.ridge,
            represent=self.represent,
            method=self.method,
            seed=seed,
        )
        self.indices_ = self.selection_.indices
        self._items = X.shape[0]
        return self

    def get_support(self, indices=False):
        """Which rows are selected: a mask over the rows, or their numbers."""
        check_is_fitted(self)
        if indices:
            return self.indices_
        mask = np.zeros(self._items, dtype=bool)
        mask[self.indices_] = True
        return mask

    def fit_transform(self, X, y=None, *, scores=None):
        """The selected rows."""
        self.fit(X, y, scores=scores)
        return _rows(X, self.indices_)

    def fit_resample(self, X, y, *, scores=None):
        """The selected rows and their labels, as samplers of imbalanced-learn return them."""
        self.fit(X, y, scores=scores)
        return _rows(X, self.indices_), _rows(y, self.indices_)


def _rows(table, indices):
    """Rows of an array, or of a table of pandas or polars as it is."""
    if hasattr(table, "iloc"):
        return table.iloc[indices]
    if isinstance(table, list):
        table = np.asarray(table)
    return table[indices]
