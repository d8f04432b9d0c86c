"""Objects that travel between processes."""

import copy
import multiprocessing
import pickle

import numpy as np
import pandas as pd
import partition_dpp as pdpp
import pytest
from partition_dpp import streams


def again(thing):
    return pickle.loads(pickle.dumps(thing))


def features(rows):
    plain = pdpp.Features(rows)
    labels = np.array(["cat", "dog", "owl"] * 20)
    return [
        plain,
        pdpp.Features(plain),
        pdpp.Features(rows.astype(np.float16)).with_unit_rows(),
        plain.with_scores(np.arange(60.0) / 60.0, 0.7),
        plain.with_unit_rows().with_log_quality(np.cos(np.arange(60.0))),
        plain.rbf(1.5, 20),
        plain.represent(labels, 2.0, exclude=[3]),
    ]


def test_features_come_back_with_every_bit(rows):
    for known in features(rows):
        for found in (again(known), copy.copy(known), copy.deepcopy(known)):
            assert (found.kernel_error, found.has_scores) == (known.kernel_error, known.has_scores)
            assert found.log_det([0, 5, 9]) == known.log_det([0, 5, 9])


def laws(rows, labels):
    given = {"ridge": 0.1, "scores": np.arange(60.0), "diversity": 0.9, "include": [1], "exclude": [2]}
    quota = {"cat": 1, "dog": (1, 2), "owl": (None, 1)}
    partition = pdpp.Partition(labels)
    return [
        pdpp.PartitionDpp(rows, labels, quota, 3),
        pdpp.PartitionDpp(pdpp.Features(rows), partition, pdpp.Quota(partition, "equal", 3), **given),
        pdpp.KDpp(rows, 4, **given),
        pdpp.KDpp(pdpp.Features(rows).with_unit_rows(), 4),
        pdpp.Dpp(rows, include=[1]),
    ]


def test_laws_samplers_and_probabilities_come_back(rows, labels):
    for law in laws(rows, labels):
        assert repr(again(law)) == repr(law)
        sampler, inference = law.sampler(), law.inference(engine="cpu")
        expected = [sample.tolist() for sample in sampler.sample(3, seed=2)]
        assert [sample.tolist() for sample in again(sampler).sample(3, seed=2)] == expected
        assert [sample.tolist() for sample in again(law).sampler().sample(3, seed=2)] == expected
        assert again(inference).log_probability(expected[0]) == inference.log_probability(expected[0])
    estimated = laws(rows, labels)[0].sampler("estimated", law_error=0.1)
    assert again(estimated).law_error == estimated.law_error


def test_problems_and_solutions_come_back(rows, labels):
    problems = [
        pdpp.KernelModel(rows, labels, [1, 1, 1], bandwidth=2.0, exclude=[0]),
        pdpp.KernelModel(rows, k=3, similarity="dot", ridge=0.1),
        pdpp.Design(rows, k=8, include=[4]),
    ]
    for problem in problems:
        solution = problem.solve("local-search")
        for found in (again(solution), copy.deepcopy(solution), again(problem).solve("local-search")):
            assert repr(found) == repr(solution) and found.termination == solution.termination
    best = pdpp.KernelModel(rows, k=3).solve().indices
    assert not set(again(pdpp.KernelModel(rows, k=3, exclude=best[:1])).solve().indices) & set(best[:1])
    certified = pdpp.KDpp(rows, 3).solve(certify=True)
    assert (again(certified).gap, again(certified).engine) == (certified.gap, certified.engine)
    quota = pdpp.Quota(pdpp.Partition(labels), {"cat": 1, "owl": (0, 2)}, 2)
    assert repr(again(quota)) == repr(quota) and again(pdpp.Partition([3, 1])).labels == [1, 3]


def test_labels_come_back_in_their_order():
    sizes = pd.Categorical(["small", "large"] * 30, ["small", "large"], ordered=True)
    for partition in (pdpp.Partition(sizes), again(pdpp.Partition(sizes))):
        assert partition.labels == ["large", "small"]
        with pytest.raises(ValueError, match="dictionary by label"):
            pdpp.Quota(partition, [1, 2])


def draw(sampler):
    return sampler.sample(1, seed=5)[0].tolist()


def test_another_process_maps_the_same_file(tmp_path, rows):
    np.save(tmp_path / "rows.npy", rows.astype(np.float32))
    sampler = pdpp.KDpp(pdpp.Features.open_npy(tmp_path / "rows.npy").with_unit_rows(), 3).sampler()
    assert len(pickle.dumps(sampler)) < 2000, "the file is named, not copied"
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(draw, (sampler,)) == draw(sampler)


def test_batches_come_back(rows, labels):
    batch = streams.Batch(7, pdpp.Features(rows).with_unit_rows(), labels)
    grams = streams.Grams.of_batch(batch)
    maps = streams.Representation.of_parts(grams)
    for known in (batch, maps.batch(batch), streams.Batch.empty(3)):
        found = again(known)
        assert (found.number, len(found)) == (known.number, len(known))
        assert streams.Grams.of_batch(found).to_bytes() == streams.Grams.of_batch(known).to_bytes()
    plan = streams.Plan(grams, {"cat": 1, "dog": 1})
    found = streams.Marginals(grams, {"cat": 1, "dog": 1})
    assert again(found).of_batch(batch).tolist() == found.of_batch(batch).tolist()
    core_set = streams.CoreSet.of_batch(batch, 3)
    assert again(core_set).to_bytes() == core_set.to_bytes()
    image = streams.Grams.of_batch(maps.batch(batch))
    assert streams.Grams.of_batch(again(maps).batch(batch)).to_bytes() == image.to_bytes()
    with pytest.raises(TypeError, match="pickle the plan"):
        pickle.dumps(streams.StreamSampler(plan, 1))


def test_kernels_come_back(rows):
    kernel = pdpp.Features.of_kernel(rows @ rows.T)
    found = again(kernel)
    assert found.kernel_error == kernel.kernel_error and found.log_det([0, 5]) == kernel.log_det([0, 5])


def test_what_core_sets_hold_says_what_to_pickle(rows):
    union = streams.CoreSet.union([streams.CoreSet.of_batch(streams.Batch(1, rows), 4)])
    with pytest.raises(ValueError, match="pickle the core-sets"):
        pickle.dumps(union.features)
