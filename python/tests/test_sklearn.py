"""The interface of scikit-learn."""

import numpy as np
import pandas as pd
import pytest
from partition_dpp.sklearn import SubsetSelector
from sklearn.base import clone
from sklearn.utils.estimator_checks import estimator_checks_generator


CHECKS = list(estimator_checks_generator(SubsetSelector(k=1, similarity="dot", random_state=0)))


@pytest.mark.parametrize("estimator, check", CHECKS, ids=[check.func.__name__ for _, check in CHECKS])
def test_estimator_checks(estimator, check):
    check(estimator)


def test_selects_rows(rows, labels):
    selector = SubsetSelector(k=6, quota="equal", random_state=3)
    few, few_labels = selector.fit_resample(rows, labels)
    assert few.shape == (6, 6) and sorted(few_labels) == ["cat", "cat", "dog", "dog", "owl", "owl"]
    mask = selector.get_support()
    assert mask.sum() == 6 and np.flatnonzero(mask).tolist() == selector.get_support(indices=True).tolist()
    again = clone(selector).fit(rows, labels)
    assert again.indices_.tolist() == selector.indices_.tolist()
    frame = pd.DataFrame(rows, columns=list("abcdef"))
    assert clone(selector).fit_transform(frame, labels).equals(frame.iloc[again.indices_])
    with pytest.raises(ValueError, match="needs y"):
        selector.fit(rows)
