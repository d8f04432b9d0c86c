"""The interface of scikit-learn and imbalanced-learn."""

import contextlib
import inspect
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
import sklearn

# Before the class is made: adds fit_resample to the methods that metadata is routed to.
with contextlib.suppress(ImportError):
    import imblearn  # noqa: F401
from partition_dpp import select
from partition_dpp.sklearn import SubsetSelector
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import estimator_checks_generator

# Checks have rows of zeros, which have no cosine.
CHECKS = list(estimator_checks_generator(SubsetSelector(k=1, similarity="dot", random_state=0)))
SAMPLER_CHECKS = [
    "check_samplers_fit_resample",
    "check_samplers_sampling_strategy_fit_resample",
    "check_samplers_pandas",
    "check_samplers_list",
    "check_samplers_multiclass_ova",
    "check_samplers_preserve_dtype",
    "check_samplers_2d_target",
    "check_sampler_get_feature_names_out",
    "check_sampler_get_feature_names_out_pandas",
    "check_dataframe_column_names_consistency",
]


@pytest.fixture
def selector():
    return SubsetSelector(k=6, quota="equal", random_state=3)


@pytest.fixture
def pipeline(selector):
    steps = pytest.importorskip("imblearn.pipeline")
    return steps.Pipeline([("select", selector), ("classify", LogisticRegression())])


@pytest.mark.parametrize("estimator, check", CHECKS, ids=[check.func.__name__ for _, check in CHECKS])
def test_estimator_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("name", SAMPLER_CHECKS)
def test_sampler_checks(name):
    """Of the checks of imbalanced-learn those that are not about one majority class, sparse rows, text or NaN."""
    checks = pytest.importorskip("imblearn.utils.estimator_checks")
    getattr(checks, name)("SubsetSelector", SubsetSelector(k=2, random_state=0))


def test_options_are_those_of_select():
    options = dict(inspect.signature(select).parameters)
    own = dict(inspect.signature(SubsetSelector).parameters)
    for name in ("embeddings", "labels", "scores", "n_samples", "progress"):
        del options[name]
    assert list(own) == ["random_state" if name == "seed" else name for name in options]
    assert all(option.default == own[name].default for name, option in options.items() if name != "seed")


def test_options_reach_select(rows, labels, monkeypatch):
    asked = {}
    monkeypatch.setattr("partition_dpp.sklearn.select", lambda _, **given: asked.update(given) or select(rows, k=2))
    options = {name: object() for name in inspect.signature(SubsetSelector).parameters if name != "random_state"}
    scores = np.ones(60)
    SubsetSelector(**options).fit(rows, labels, scores=scores)
    assert asked.pop("labels") is labels and asked.pop("scores") is scores and asked.pop("seed") >= 0
    assert asked == options


def test_similarities_are_of_pairs(rows):
    gram = rows @ rows.T
    selector = SubsetSelector(k=3, similarity="precomputed", random_state=0)
    assert get_tags(selector).input_tags.pairwise and not get_tags(SubsetSelector()).input_tags.pairwise
    assert selector.fit(gram).indices_.size == 3 and selector.selection_.kernel_error < 1e-12


def test_selects_rows(rows, labels, selector):
    few, few_labels = selector.fit_resample(rows, labels)
    assert few.shape == (6, 6) and sorted(few_labels) == ["cat", "cat", "dog", "dog", "owl", "owl"]
    mask = selector.get_support()
    assert mask.sum() == 6 and np.flatnonzero(mask).tolist() == selector.get_support(indices=True).tolist()
    seed = np.random.RandomState(3).randint(2**31)
    expected = select(rows, k=6, labels=labels, quota="equal", seed=seed)
    assert selector.indices_.tolist() == expected.tolist() and selector.selection_.log_det == expected.log_det
    assert SubsetSelector(quota=[1, 1, 2]).fit(rows, labels).selection_.counts == {"cat": 1, "dog": 1, "owl": 2}
    again = clone(selector).fit(rows, labels)
    assert again.indices_.tolist() == selector.indices_.tolist()


def test_tables_keep_their_type(rows, labels, selector):
    indices = selector.fit(rows, labels).indices_
    frame, series = pd.DataFrame(rows, columns=list("abcdef")), pd.Series(labels)
    few, few_labels = selector.fit_resample(frame, series)
    assert few.equals(frame.iloc[indices]) and few_labels.equals(series.iloc[indices])
    frame, series = pl.from_pandas(frame), pl.Series("kind", labels)
    few, few_labels = selector.fit_resample(frame, series)
    assert few.equals(frame[indices]) and few_labels.equals(series[indices])
    few, few_labels = selector.fit_resample(rows.tolist(), labels.tolist())
    assert few == rows[indices].tolist() and few_labels == labels[indices].tolist()


def test_labels_are_used_where_they_count(rows, labels, selector):
    targets = np.linspace(0, 1, len(rows))
    free = SubsetSelector(k=4, represent="all", method="map")
    few, few_targets = free.fit_resample(rows, targets)
    assert few_targets.tolist() == targets[free.indices_].tolist() and free.selection_.parts is None
    assert free.fit_resample(rows, None)[1] is None
    of_parts = free.set_params(represent="parts").fit(rows, labels)
    expected = select(rows, k=4, labels=labels, represent="parts", method="map")
    assert of_parts.indices_.tolist() == expected.tolist()
    covering = SubsetSelector(k=3, coverage="parts", solver="coverage", method="map")
    for estimator in (selector, of_parts, covering):
        with pytest.raises(ValueError, match="need y"):
            estimator.fit(rows)


def test_refuses_in_the_words_of_scikit_learn(rows, labels, selector):
    with pytest.raises(TypeError, match="dense data is required"):
        selector.fit(scipy.sparse.csr_array(rows), labels)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        SubsetSelector(k=2).fit_resample(rows, labels[:50])


def test_random_states(rows):
    draws = SubsetSelector(k=6, random_state=np.random.RandomState(0))
    assert draws.fit(rows).indices_.tolist() != draws.fit(rows).indices_.tolist()
    assert SubsetSelector(k=6).fit(rows).indices_.size == 6


def test_pickles_and_shows(rows, labels, selector):
    loaded = pickle.loads(pickle.dumps(selector.fit(rows, labels)))
    assert loaded.indices_.tolist() == selector.indices_.tolist()
    assert loaded.selection_.counts == selector.selection_.counts
    assert repr(loaded) == "SubsetSelector(k=6, quota='equal', random_state=3)"
    assert "SubsetSelector" in loaded._repr_html_()


def test_pipelines(rows, labels, pipeline):
    assert pipeline.fit(rows, labels).predict(rows).shape == (60,)
    assert cross_val_score(pipeline, rows, labels, error_score="raise").shape == (5,)
    search = GridSearchCV(pipeline, {"select__k": [3, 6]}, error_score="raise").fit(rows, labels)
    assert search.best_estimator_["select"].indices_.size == search.best_params_["select__k"]


def test_scores_go_through_a_pipeline(rows, labels, pipeline):
    scores = np.where(np.arange(60) < 6, 1e3, 0.0)
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline["select"].set_fit_request(scores=True).set_fit_resample_request(scores=True)
        pipeline.fit(rows, labels, scores=scores)
        cross_val_score(pipeline, rows, labels, params={"scores": scores}, error_score="raise")
    assert pipeline["select"].indices_.tolist() == [0, 1, 2, 3, 4, 5]
