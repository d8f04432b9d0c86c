"""What `select` chooses."""

import copy
import itertools
import pickle
import warnings
from collections import Counter

import numpy as np
import partition_dpp as pdpp
import pytest


def test_quotas_are_met_in_every_form(rows, labels):
    def counts(quota, k=None, **more):
        return pdpp.select(rows, labels=labels, quota=quota, k=k, **more).counts

    assert counts({"cat": 2, "owl": 1}) == {"cat": 2, "owl": 1}
    assert counts([1, 2, 0]) == {"cat": 1, "dog": 2}
    assert counts("equal", 6) == {"cat": 2, "dog": 2, "owl": 2}
    assert counts("proportional", 3) == {"cat": 1, "dog": 1, "owl": 1}
    for seed in range(20):
        found = counts({"cat": (1, 2), "dog": range(0, 2), "owl": (None, None)}, 4, seed=seed)
        assert sum(found.values()) == 4 and 1 <= found["cat"] <= 2 and found.get("dog", 0) <= 1
    assert counts({np.str_("cat"): np.int64(2)}) == {"cat": 2}
    numbered = pdpp.select(rows, labels=np.arange(60) % 3, quota={0: 1, np.int32(2): 2})
    assert numbered.counts == {0: 1, 2: 2}
    flags = pdpp.select(rows, labels=np.arange(60) % 2 == 0, quota={True: 1, False: 2})
    assert flags.counts == {True: 1, False: 2}


def test_samples_have_the_law():
    """χ² of 20 000 samples against enumeration, with scores, an included and an excluded item."""
    rng = np.random.default_rng(3)
    rows, labels, scores = rng.normal(size=(9, 4)), [0, 0, 0, 0, 1, 1, 1, 1, 1], rng.normal(size=9)
    weighted = rows * np.exp(scores * 0.6 / 0.8)[:, None]
    sets = [s for s in itertools.combinations(range(9), 3) if sum(labels[i] for i in s) == 2 and 5 in s and 0 not in s]
    weights = np.array([np.linalg.det(weighted[list(s)] @ weighted[list(s)].T) for s in sets])

    def p_value(**law):
        drawn = pdpp.select(rows, labels=labels, quota=[1, 2], similarity="dot", include=[5], exclude=[0],
                            n_samples=20_000, seed=5, **law).samples
        counts = Counter(tuple(sample.tolist()) for sample in drawn)
        assert set(counts) <= set(sets)
        expected = weights / weights.sum() * len(drawn)
        chi2 = sum((counts[s] - e) ** 2 / e for s, e in zip(sets, expected))
        return chi2, len(sets) - 1

    def is_plausible(chi2, degrees):
        return abs(chi2 - degrees) < 5 * np.sqrt(2 * degrees)

    assert is_plausible(*p_value(scores=scores, diversity=0.4))
    # The check notices another diversity.
    assert not is_plausible(*p_value(scores=scores, diversity=0.5))


def test_a_seed_is_a_promise(rows, labels):
    def draw(**more):
        return [s.tolist() for s in pdpp.select(rows, labels=labels, quota=[2, 1, 1], n_samples=5, **more).samples]

    assert draw(seed=3) == draw(seed=3) != draw(seed=4)
    assert draw(seed=np.random.default_rng(1)) == draw(seed=np.random.default_rng(1))
    assert draw(seed=None) != draw(seed=None)
    model = pdpp.PartitionDpp(pdpp.Features(rows).with_unit_rows(), labels, [2, 1, 1])
    sampler = model.sampler(engine="cpu")
    assert [s.tolist() for s in sampler.sample(5, seed=3)] == draw(seed=3)
    assert [s.tolist() for s in sampler.sample(2, seed=3, first=3)] == draw(seed=3)[3:]


def test_subsets_are_pinned(rows, labels):
    """A change of these is value-breaking."""
    drawn = pdpp.select(rows, labels=labels, quota=[1, 1, 1], n_samples=3, seed=42, engine="cpu").samples
    assert [sample.tolist() for sample in drawn] == [[20, 28, 42], [9, 14, 16], [12, 20, 34]]


def test_determinants_are_those_of_the_rows(rows, labels):
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    chosen = pdpp.select(rows, labels=labels, quota=[2, 1, 0])
    own = unit[chosen.indices]
    assert chosen.log_det == pytest.approx(np.linalg.slogdet(own @ own.T)[1], abs=1e-12)
    scores = np.linspace(0, 1, 60)
    ridge = pdpp.select(rows, k=9, ridge=0.5, scores=scores, diversity=0.5, similarity="dot")
    weights = np.exp(scores[ridge.indices] / 2)
    own = (rows[ridge.indices] @ rows[ridge.indices].T + 0.5 * np.eye(9)) * np.outer(weights, weights)
    assert len(ridge) == 9 and ridge.log_det == pytest.approx(np.linalg.slogdet(own)[1], abs=1e-9)


def test_best_sets(rows, labels):
    best = pdpp.select(rows, labels=labels, quota=[1, 1, 1], method="map", certify=True)
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    parts = [np.flatnonzero(labels == part) for part in ("cat", "dog", "owl")]
    top = max(np.linalg.slogdet(unit[list(s)] @ unit[list(s)].T)[1] for s in itertools.product(*parts))
    exact = pdpp.select(rows, labels=labels, quota=[1, 1, 1], method="map", solver="exact")
    assert exact.log_det == pytest.approx(top, abs=1e-12) and exact.upper_bound == pytest.approx(top, abs=1e-8)
    assert exact.exactness == "optimal" and exact.seed is None
    assert best.exactness == "heuristic" and best.log_det <= top + 1e-12 <= best.upper_bound + 2e-12
    scores = np.arange(60.0)
    tops = pdpp.select(rows, labels=labels, quota=[1, 1, 1], scores=scores, diversity=0, method="map")
    assert tops.indices.tolist() == [57, 58, 59]
    near = pdpp.select(rows, labels=labels, quota=[1, 1, 1], scores=scores, diversity=0, method="map",
                       similarity="rbf", bandwidth=2.0)
    squares = ((rows[57:, None] - rows[None, 57:]) ** 2).sum(axis=2)
    assert near.tolist() == [57, 58, 59]
    assert near.log_det == pytest.approx(np.linalg.slogdet(np.exp(-squares / 8))[1], abs=1e-9)
    drawn = pdpp.select(rows, k=4, seed=np.random.default_rng(3))
    assert pdpp.select(rows, k=4, seed=drawn.seed).tolist() == drawn.tolist()
    gaussian = pdpp.select(rows, k=20, similarity="rbf", method="map")
    assert len(gaussian) == 20 and gaussian.kernel_error is None


def test_gaussian_samples_state_their_error(rows):
    drawn = pdpp.select(rows, k=10, similarity="rbf", landmarks=30)
    assert len(drawn) == 10 and 0 < drawn.kernel_error < 1
    exact = pdpp.select(rows, k=10, similarity="rbf", landmarks=60)
    assert 0 < exact.kernel_error < 1e-12
    assert "for the approximate kernel (relative error" in repr(drawn)
    assert "approximate" not in repr(exact)


def test_estimates_warn():
    rng = np.random.default_rng(0)
    rows, labels = rng.normal(size=(2000, 40)), np.arange(2000) % 30
    with pytest.warns(RuntimeWarning, match="estimated .* total variation"):
        drawn = pdpp.select(rows, labels=labels, quota=[1] * 30, method="estimated", law_error=0.02)
    assert drawn.exactness == "estimated" and drawn.law_error <= 0.02
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert pdpp.select(rows, k=3).exactness == "exact"


def test_inference(rows, labels):
    model = pdpp.PartitionDpp(rows, labels, {"cat": 1, "dog": 1})
    inference = model.inference(engine="cpu")
    sets = list(itertools.product(np.flatnonzero(labels == "cat"), np.flatnonzero(labels == "dog")))
    weights = np.array([np.linalg.det(rows[list(s)] @ rows[list(s)].T) for s in sets])
    assert inference.log_z == pytest.approx(np.log(weights.sum()), abs=1e-11)
    marginals, error = inference.inclusion_probabilities()
    expected = np.zeros(60)
    for s, w in zip(sets, weights / weights.sum()):
        expected[list(s)] += w
    assert error < 1e-9 and np.allclose(marginals, expected, atol=1e-11)
    assert inference.log_probability(sets[5]) == pytest.approx(np.log(weights[5] / weights.sum()), abs=1e-10)
    assert inference.log_probability([0, 3]) == -np.inf


def test_a_selection_is_an_array(rows):
    chosen = pdpp.select(rows, k=3)
    assert rows[chosen].shape == (3, 6) and list(chosen) == np.asarray(chosen).tolist()
    assert chosen.parts is None and chosen.counts == {} and chosen.indices.dtype == np.int64


def test_parts_are_those_of_the_first_sample(rows, labels):
    chosen = pdpp.select(rows, k=4, labels=labels, similarity="dot", n_samples=9, seed=2)
    assert chosen.indices.tolist() == chosen.samples[0].tolist() != chosen.samples[-1].tolist()
    assert chosen.parts == labels[chosen.indices].tolist() != chosen.parts[::-1]
    assert chosen.explained == pytest.approx(pdpp.Features(rows).explained(chosen.indices)[0])


def test_counts_are_in_the_order_of_the_labels(rows):
    for kinds, expected in [(["b", "a", 10, 9], [9, 10, "a", "b"]), ([10, 9, 2, 1], [1, 2, 9, 10])]:
        labels = [kind for kind in kinds for _ in range(15)]
        counts = pdpp.select(rows, labels=labels, quota=dict.fromkeys(kinds, 1)).counts
        assert list(counts) == expected and set(counts.values()) == {1}


def test_results_are_copied_pickled_and_shown(rows, labels):
    chosen = pdpp.select(rows, labels=labels, quota="equal", k=6, n_samples=2)
    for again in (pickle.loads(pickle.dumps(chosen)), copy.deepcopy(chosen), copy.copy(chosen)):
        assert repr(again) == repr(chosen) and repr(vars(again)) == repr(vars(chosen))
        assert [sample.tolist() for sample in again.samples] == [sample.tolist() for sample in chosen.samples]
    page = chosen._repr_html_()
    assert page.count("<tr>") == 7 and "<td>owl</td>" in page and "2 samples" in page
    assert "label" not in pdpp.select(rows, k=2)._repr_html_()
    assert "&lt;b&gt;" in pdpp.select(rows, labels=["<b>"] * len(rows), quota=[2])._repr_html_()
