"""Sets that cover all items."""

import itertools

import numpy as np
import partition_dpp as pdpp
import pytest


@pytest.fixture
def data():
    rng = np.random.default_rng(37)
    return rng.normal(size=(18, 3)), np.arange(18) % 3


def covered(kernel, groups, items):
    near = np.where(groups[:, None] == groups[items], kernel[:, items], 0)
    return np.maximum(near, 0).max(axis=1).sum()


def best(kernel, groups, labels, scores, diversity):
    """The largest objective of one item of each label and one more of the first."""
    def worth(items):
        items = list(items)
        return (1 - diversity) * scores[items].sum() + diversity * covered(kernel, groups, items)

    parts = [np.flatnonzero(labels == label) for label in range(3)]
    sets = itertools.product(itertools.combinations(parts[0], 2), parts[1], parts[2])
    return max(worth([*first, second, third]) for first, second, third in sets)


@pytest.mark.parametrize("coverage", ["parts", "all"])
@pytest.mark.parametrize("similarity", ["cosine", "rbf"])
def test_select_covers_items(data, coverage, similarity):
    rows, labels = data
    if similarity == "cosine":
        units = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        kernel = units @ units.T
    else:
        squares = ((rows[:, None] - rows) ** 2).sum(axis=2)
        kernel = np.exp(-squares / 2 / (pdpp.Features(rows).median_distance() / 3) ** 2)
    groups = labels if coverage == "parts" else np.zeros(18, int)
    law = {"labels": labels, "quota": [2, 1, 1], "method": "map", "solver": "coverage", "similarity": similarity}
    for options, scores, diversity in [({}, np.zeros(18), 1.0), ({"diversity": 0.7}, np.linspace(0, 1, 18), 0.7)]:
        if options:
            options = {**options, "scores": scores}
        found = pdpp.select(rows, coverage=coverage, **law, **options)
        assert found.coverage == pytest.approx(covered(kernel, groups, found.indices))
        worth = (1 - diversity) * scores[found.indices].sum() + diversity * found.coverage
        most = best(kernel, groups, labels, scores, diversity)
        # Parts by themselves are easy; where they cover each other, swaps of one item may end before the best set.
        assert (1.0 if coverage == "parts" else 0.9) * most - 1e-9 <= worth <= most + 1e-9
        assert found.guarantee == pytest.approx(1 - np.exp(-1) if coverage == "parts" else 0.5)
        chosen = kernel[:, found.indices]
        along = np.einsum("ij,jk,ik->i", chosen, np.linalg.inv(chosen[found.indices]), chosen) if similarity == "rbf" else None
        if along is not None:
            assert found.explained == pytest.approx(along.mean())
            assert found.explained_by_part == pytest.approx({l: along[labels == l].mean() for l in range(3)})


def test_labels_count_without_a_quota(data):
    rows, labels = data
    law = {"k": 4, "method": "map", "solver": "coverage"}
    by_part, of_all = pdpp.select(rows, labels=labels, **law), pdpp.select(rows, **law)
    units = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    assert by_part.coverage == pytest.approx(covered(units @ units.T, labels, by_part.indices))
    assert of_all.coverage > by_part.coverage
    assert of_all.coverage == pytest.approx(pdpp.select(rows, labels=labels, coverage="all", **law).coverage)
    assert of_all.log_det == -np.inf and len(of_all) == 4


def test_wrong_options_are_refused(data):
    rows, labels = data
    for options, words in [
        ({"k": 3, "solver": "greedy", "coverage": "all"}, 'solver "coverage"'),
        ({"k": 3, "coverage": "some"}, '"parts" nor "all"'),
        ({"k": 3, "coverage": "parts"}, "needs labels"),
        ({"k": 3, "represent": "all"}, "of determinants"),
        ({"k": 3, "ridge": 0.1}, "of determinants"),
        ({"k": 3, "engine": "gpu"}, "on the CPU"),
        ({}, "needs k, a quota or scores"),
    ]:
        with pytest.raises(ValueError, match=words):
            pdpp.select(rows, method="map", **{"solver": "coverage", **options})
    with pytest.raises(ValueError, match="KernelModel"):
        pdpp.KDpp(rows, 2).solve("coverage")
