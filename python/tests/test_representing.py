"""Sets that stand for the rest."""

import numpy as np
import partition_dpp as pdpp
import pytest


def power(rows, rho):
    """The map of some rows, by the definition."""
    gram = rows.T @ rows
    values, vectors = np.linalg.eigh(gram)
    root = vectors * np.maximum(values, 0) ** (rho / 2) @ vectors.T
    mapped = rows @ root
    return root * np.sqrt((rows**2).sum() / (mapped**2).sum())


def by_hand(rows, labels, rho=1.0):
    mapped = np.empty_like(rows)
    for label in np.unique(labels):
        mapped[labels == label] = rows[labels == label] @ power(rows[labels == label], rho)
    return mapped


@pytest.fixture
def data():
    rng = np.random.default_rng(36)
    return rng.normal(size=(40, 5)) * [3, 2, 1, 1, 0.5], np.arange(40) % 3


def test_rows_are_mapped_by_part_and_all_together(data):
    rows, labels = data
    features = pdpp.Features(rows)
    for rho in (1.0, 2.0, 0.5):
        for mapped, expected in [
            (features.represent(labels, rho), by_hand(rows, labels, rho)),
            (features.represent(rho=rho), rows @ power(rows, rho)),
        ]:
            law, same = pdpp.KDpp(mapped, 3), pdpp.KDpp(expected, 3)
            found, _ = law.inference().inclusion_probabilities()
            expected, _ = same.inference().inclusion_probabilities()
            assert np.abs(found - expected).max() < 1e-10
    left = features.represent(labels, exclude=[0, 3])
    own = (labels == 0) & ~np.isin(np.arange(40), [0, 3])
    wanted = rows[6] @ power(rows[own], 1.0)
    assert left.log_det([6]) == pytest.approx(np.log(wanted @ wanted))


def test_select_maps_similar_rows_and_weighs_them_after(data):
    rows, labels = data
    scores = np.linspace(-1, 1, 40)
    units = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    law = {"labels": labels, "quota": [2, 1, 1], "scores": scores, "diversity": 0.4}
    for represent, mapped in [("parts", by_hand(units, labels)), ("all", units @ power(units, 1.0))]:
        for method in ("map", "sample"):
            found = pdpp.select(rows, represent=represent, method=method, **law)
            expected = pdpp.select(mapped, similarity="dot", method=method, **law)
            assert found.tolist() == expected.tolist()
            assert found.log_det == pytest.approx(expected.log_det, abs=1e-9)
    plain = pdpp.select(rows, represent="parts", representation=0, **law)
    assert plain.tolist() == pdpp.select(rows, **law).tolist()


def test_selections_say_what_they_explain(data):
    rows, labels = data
    units = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    for options in ({}, {"represent": "parts"}, {"method": "map"}, {"method": "map", "represent": "all"}):
        chosen = pdpp.select(rows, labels=labels, quota=[1, 1, 1], **options)
        basis = np.linalg.qr(units[chosen.indices].T)[0]
        along = ((units @ basis) ** 2).sum(axis=1)
        assert chosen.explained == pytest.approx(along.mean())
        for part in range(3):
            assert chosen.explained_by_part[part] == pytest.approx(along[labels == part].mean())
    assert pdpp.select(rows, k=3).explained_by_part is None
    rbf = pdpp.select(rows, k=3, similarity="rbf", method="map")
    assert 0 < rbf.explained < 1
    assert 0 < pdpp.select(rows, k=3, similarity="rbf", method="map", represent="all").explained < 1


def test_a_cluster_is_represented_before_outliers():
    rng = np.random.default_rng(1)
    clusters = np.repeat(np.eye(3), 30, axis=0) + rng.normal(scale=0.05, size=(90, 3))
    rows = np.vstack([clusters, 3 * rng.normal(size=(5, 3))])
    options = {"k": 3, "similarity": "rbf", "method": "map"}
    assert (pdpp.select(rows, **options).indices >= 90).any()
    typical = pdpp.select(rows, represent="all", **options)
    assert sorted(typical.indices // 30) == [0, 1, 2]


def test_the_bandwidth_is_a_third_of_the_median(data):
    rows, labels = data
    options = {"labels": labels, "quota": [2, 2, 2], "similarity": "rbf", "represent": "parts", "method": "map"}
    third = pdpp.Features(rows).median_distance() / 3
    assert pdpp.select(rows, **options).log_det == pdpp.select(rows, bandwidth=third, **options).log_det
    assert pdpp.select(rows, **options).log_det != pdpp.select(rows, bandwidth=2 * third, **options).log_det


@pytest.mark.parametrize("method", ["sample", "map"])
def test_an_automatic_ridge_is_a_hundredth(data, method):
    rows, _ = data
    for similarity, ridge in [("cosine", 0.01), ("rbf", 0.01), ("dot", 0.1)]:
        own = {"k": 9, "similarity": similarity, "method": method}
        found, expected = pdpp.select(rows, ridge="auto", **own), pdpp.select(rows, ridge=ridge, **own)
        assert found.tolist() == expected.tolist() and found.log_det == expected.log_det


@pytest.mark.parametrize("similarity", ["cosine", "rbf"])
def test_ridges_are_added_to_the_mapped_kernel(data, similarity):
    rows, labels = data
    features = pdpp.Features(rows)
    if similarity == "cosine":
        alike = features.with_unit_rows()
    else:
        alike = features.rbf(features.median_distance() / 3)
    mapped = alike.represent(labels)
    expected = pdpp.KernelModel(mapped, k=7, similarity="dot", ridge=0.1).solve("greedy")
    options = {"k": 7, "labels": labels, "represent": "parts", "ridge": 0.1, "similarity": similarity}
    found = pdpp.select(rows, method="map", solver="greedy", **options)
    assert found.tolist() == expected.indices.tolist() and found.log_det == pytest.approx(expected.log_det)
    assert len(pdpp.select(rows, **options)) == 7


def test_refusals(data):
    rows, labels = data
    for wrong, words in [
        ({"represent": "some"}, "neither"),
        ({"representation": 2}, "represent"),
        ({"represent": "all", "representation": -1}, "representation"),
        ({"represent": "all", "representation": "much"}, "representation"),
    ]:
        with pytest.raises(ValueError, match=words):
            pdpp.select(rows, k=2, **wrong)
    scored = pdpp.Features(rows).with_scores(np.zeros(40))
    with pytest.raises(ValueError, match="scores"):
        scored.represent(labels)
