"""What a selection says of what it chose."""

import numpy as np
import partition_dpp as pdpp
import pytest

SCORES = np.cos(np.arange(60.0))


def log_det(kernel, items):
    return np.linalg.slogdet(kernel[np.ix_(items, items)])[1]


def greedily(kernel, items):
    """The items, each the one that adds most to those before it."""
    ranking, left = [], list(items)
    while left:
        ranking.append(max(left, key=lambda item: round(log_det(kernel, ranking + [item]), 9)))
        left.remove(ranking[-1])
    return ranking


def kernels(rows):
    """The kernel of options of `select`."""
    squares = ((rows[:, None] - rows[None]) ** 2).sum(axis=2)
    unit = rows / np.linalg.norm(rows, axis=1)[:, None]
    yield {"similarity": "dot"}, rows @ rows.T
    yield {"similarity": "cosine", "ridge": 0.1}, unit @ unit.T + 0.1 * np.eye(60)
    yield {"similarity": "rbf", "bandwidth": 2.0}, np.exp(-squares / 8)
    yield {"similarity": "rbf", "bandwidth": 2.0, "method": "map"}, np.exp(-squares / 8)
    yield {"similarity": "dot", "method": "map", "solver": "greedy"}, rows @ rows.T


def test_items_are_ranked_by_what_they_add(rows, labels):
    quota = {"cat": 2, "dog": 1, "owl": 2}
    for options, kernel in kernels(rows):
        for scores, diversity in [(None, None), (SCORES, 0.3)]:
            found = pdpp.select(rows, labels=labels, quota=quota, scores=scores, diversity=diversity, **options)
            chances = np.ones(60) if scores is None else np.exp(SCORES * 0.7 / 0.3)
            weighted = kernel * np.sqrt(np.outer(chances, chances))
            assert found.ranking.tolist() == greedily(weighted, found.indices)
            steps = [log_det(weighted, found.ranking[: size + 1]) for size in range(5)]
            assert np.allclose(found.gains.cumsum(), steps, atol=1e-8)
            assert np.isclose(found.log_det, steps[-1], atol=1e-8)
            assert np.isclose(found.plain_log_det, log_det(kernel, found.indices), atol=1e-8)
            assert found.score is None if scores is None else np.isclose(found.score, SCORES[found.indices].sum())


def test_top_scores_are_ranked_by_score(rows):
    for similarity in ("dot", "rbf"):
        tops = pdpp.select(rows, k=5, scores=SCORES, diversity=0, method="map", similarity=similarity)
        assert tops.ranking.tolist() == np.argsort(-SCORES)[:5].tolist()
        assert tops.gains.tolist() == SCORES[tops.ranking].tolist() and np.isclose(tops.score, tops.gains.sum())
        assert tops.plain_log_det == tops.log_det
    assert pdpp.select(rows, k=2, solver="coverage", method="map").ranking is None


def test_every_sample_has_its_log_det(rows, labels):
    drawn = pdpp.select(rows, labels=labels, quota=[1, 1, 1], similarity="dot", n_samples=20)
    assert np.allclose(drawn.log_dets, [log_det(rows @ rows.T, sample) for sample in drawn.samples])
    assert drawn.log_det == drawn.log_dets[0] and len(set(drawn.log_dets)) > 1
    with pytest.warns(RuntimeWarning):
        estimated = pdpp.select(rows, labels=labels, quota=[1, 1, 1], method="estimated", n_samples=3)
    assert len(estimated.log_dets) == 3


def test_the_empty_set_has_no_ranking(rows):
    nothing = pdpp.select(rows * 1e-9, similarity="dot", method="map", solver="greedy")
    assert nothing.tolist() == [] and nothing.ranking.tolist() == [] and nothing.gains.sum() == nothing.log_det == 0


def test_precomputed_similarities_select_as_rows_do(rows, labels):
    gram = rows @ rows.T
    options = {"labels": labels, "quota": [2, 1, 1], "scores": SCORES}
    for method in ("sample", "map"):
        by_rows = pdpp.select(rows, similarity="dot", method=method, **options)
        by_pairs = pdpp.select(gram, similarity="precomputed", method=method, **options)
        assert by_pairs.tolist() == by_rows.tolist() and np.isclose(by_pairs.log_det, by_rows.log_det)
        assert np.isclose(by_pairs.explained, by_rows.explained) and by_pairs.kernel_error < 1e-12
        assert by_pairs.ranking.tolist() == by_rows.ranking.tolist()
    for more in ({"represent": "parts"}, {"represent": "all"}, {"method": "map", "solver": "coverage"}):
        by_rows = pdpp.select(rows, similarity="dot", **options, **more)
        by_pairs = pdpp.select(gram, similarity="precomputed", **options, **more)
        assert by_pairs.tolist() == by_rows.tolist() and np.isclose(by_pairs.log_det, by_rows.log_det), more
    assert pdpp.select(gram, similarity="precomputed", k=20, ridge="auto").exactness == "exact"
    single = pdpp.select(gram.astype(np.float32), similarity="precomputed", k=4)
    assert 1e-12 < single.kernel_error < 1e-5 and "approximate" in repr(single)


@pytest.mark.parametrize("kernel, sentence", [
    (np.ones((3, 2)), "3×2.*square"),
    (np.ones(3), "1 dimension;.*pair of items"),
    (np.array([[1.0, 0.5], [0.4, 1.0]]), "0.5|symmetric"),
    (np.array([[1.0, 2.0], [2.0, 1.0]]), "semidefinite"),
    (np.array([[1.0, np.nan], [np.nan, 1.0]]), "NaN|nan"),
    (pdpp.Features(np.eye(3)), "not Features"),
])
def test_what_is_no_kernel_is_refused(kernel, sentence):
    with pytest.raises(ValueError, match=sentence):
        pdpp.select(kernel, similarity="precomputed", k=1)


def test_a_kernel_of_low_rank_names_the_ridge(rows):
    with pytest.raises(ValueError, match="ridge=.* allows larger sets") as refusal:
        pdpp.select(rows @ rows.T, similarity="precomputed", k=20)
    assert "rbf" not in str(refusal.value)
