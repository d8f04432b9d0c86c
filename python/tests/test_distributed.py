"""Samples of rows in batches: the law of all rows at once."""

import itertools
import pickle
from collections import Counter
from dataclasses import replace

import numpy as np
import partition_dpp as pdpp
import pyarrow as pa
import pytest
from partition_dpp import distributed, streams
from partition_dpp.distributed import Columns, Distributed, in_process

RNG = np.random.default_rng(11)
ROWS, LABELS, SCORES = RNG.normal(size=(12, 4)), np.array([0, 1, 1] * 4), RNG.normal(size=12)
COLUMNS = Columns("embedding", label="label", score="score", similarity="dot", diversity=0.6, keep=("item",))


def table(first, last, dtype=np.float64):
    flat = pa.array(ROWS[first:last].astype(dtype).ravel())
    return pa.table({
        "item": range(first, last),
        "embedding": pa.FixedSizeListArray.from_arrays(flat, 4),
        "label": LABELS[first:last],
        "score": SCORES[first:last],
    })


def shards(*ends):
    return [table(first, last) for first, last in itertools.pairwise((0, *ends, 12))]


def chi2(samples, sets, weights):
    counts = Counter(samples)
    assert set(counts) <= set(sets)
    expected = weights / weights.sum() * len(samples)
    return sum((counts[s] - e) ** 2 / e for s, e in zip(sets, expected)), len(sets) - 1


def items(drawn):
    found = drawn.table().select(["sample", "item"]).to_pylist()
    sets = [[] for _ in drawn.samples]
    for row in found:
        sets[row["sample"]].append(row["item"])
    return [tuple(sorted(own)) for own in sets]


@pytest.mark.parametrize("ends", [(), (5, 9), (1, 3, 5, 6, 9, 11)])
def test_samples_have_the_law_of_all_rows(ends, monkeypatch):
    # Small requests, so that proposals run out of trials.
    monkeypatch.setattr(distributed, "LARGEST_REQUEST", 20_000)
    weighted = ROWS * np.exp(SCORES * 0.4 / 1.2)[:, None]
    sets = [s for s in itertools.combinations(range(12), 3) if sum(LABELS[list(s)]) == 2]
    weights = np.array([np.linalg.det(weighted[list(s)] @ weighted[list(s)].T) for s in sets])
    catalogue = Distributed(in_process(shards(*ends)), COLUMNS)
    found, degrees = chi2(items(catalogue.sample(quota={0: 1, 1: 2}, n_samples=6000, seed=3)), sets, weights)
    assert abs(found - degrees) < 5 * np.sqrt(2 * degrees)
    # Another law is noticed.
    other = np.array([np.linalg.det(ROWS[list(s)] @ ROWS[list(s)].T) for s in sets])
    assert chi2(items(catalogue.sample(quota={0: 1, 1: 2}, n_samples=6000, seed=3)), sets, other)[0] > 10 * degrees


@pytest.mark.parametrize("represent", ["parts", "all"])
def test_samples_stand_for_the_rest_of_all_rows(represent):
    labels = LABELS if represent == "parts" else np.zeros(12, int)
    mapped = np.empty_like(ROWS)
    for label in np.unique(labels):
        own = ROWS[labels == label]
        image = own @ own.T @ own
        # For an exponent of 2, b = G a.
        mapped[labels == label] = image * np.sqrt((own**2).sum() / (image**2).sum())
    weighted = mapped * np.exp(SCORES * 0.4 / 1.2)[:, None]
    sets = [s for s in itertools.combinations(range(12), 3) if sum(LABELS[list(s)]) in (1, 2)]
    weights = np.array([np.linalg.det(weighted[list(s)] @ weighted[list(s)].T) for s in sets])
    columns = replace(COLUMNS, represent=represent, representation=2.0)
    catalogue = Distributed(in_process(shards(2, 5, 9)), columns)
    law = {"quota": {0: (1, 2), 1: (1, 2)}, "k": 3}
    drawn = items(catalogue.sample(**law, n_samples=6000, seed=3))
    found, degrees = chi2(drawn, sets, weights)
    assert abs(found - degrees) < 5 * np.sqrt(2 * degrees)
    # Another law is noticed.
    plain = items(Distributed(in_process(shards(2, 5, 9)), COLUMNS).sample(**law, n_samples=6000, seed=3))
    assert chi2(plain, sets, weights)[0] > 10 * degrees
    model = pdpp.PartitionDpp(mapped, LABELS, {0: (1, 2), 1: (1, 2)}, 3, scores=SCORES, diversity=0.6)
    expected, _ = model.inference().inclusion_probabilities()
    marginals = np.concatenate([own for _, own in catalogue.marginals(**law)])
    assert np.abs(marginals - expected).max() < 1e-9
    best = catalogue.best(**law)
    assert best.log_det == pytest.approx(model.solve().log_det, abs=1e-9)
    assert pickle.loads(pickle.dumps(catalogue._rows())).columns == columns
    for wrong in ({"represent": "some"}, {"represent": "all", "representation": -1.0}, {"representation": 2.0}):
        with pytest.raises(ValueError, match="represent"):
            replace(COLUMNS, **wrong)


def test_batches_and_seeds_decide_samples():
    def draw(tables, seed):
        return items(Distributed(in_process(tables), COLUMNS).sample(quota={0: 1, 1: 1}, n_samples=5, seed=seed))

    assert draw(shards(4, 8), 1) == draw(shards(4, 8), 1) != draw(shards(4, 8), 2)
    # The same rows in other chunks, as an engine may hand them over.
    chunked = [pa.concat_tables([part.slice(0, 1), part.slice(1)]) for part in shards(4, 8)]
    assert draw(chunked, 1) == draw(shards(4, 8), 1)
    empty = [*shards(4, 8), table(0, 0)]
    assert draw(empty, 1) == draw(shards(4, 8), 1)


def test_batches_are_told_apart_by_every_row():
    other = table(0, 12).set_column(3, "score", pa.array(np.where(np.arange(12) == 7, 9.0, SCORES)))
    assert COLUMNS.number(other) != COLUMNS.number(table(0, 12))
    schema = table(0, 12).schema.with_metadata({"made": "elsewhere"})
    element = pa.list_(pa.field("element", pa.float64(), nullable=False), 4)
    renamed = table(0, 12).set_column(1, "embedding", table(0, 12)["embedding"].cast(element))
    assert COLUMNS.number(renamed) == COLUMNS.number(table(0, 12))
    again = pa.concat_tables([table(0, 5), table(5, 12)]).select(["label", "item", "embedding", "score"])
    assert COLUMNS.number(again) == COLUMNS.number(table(0, 12).cast(schema)) == COLUMNS.number(table(0, 12))


def test_columns_need_not_be_of_one_type():
    first, second = shards(5)
    first = first.append_column("note", pa.nulls(5))
    second = second.append_column("note", pa.array(["x"] * 7))
    columns = Columns("embedding", similarity="dot", keep=("note",))
    drawn = Distributed(in_process([first, second]), columns).sample(k=4, n_samples=3)
    assert set(drawn.table()["note"].to_pylist()) <= {None, "x"}
    short = pa.table({"embedding": pa.FixedSizeListArray.from_arrays(pa.array(np.full(8, 1e-9)), 4)})
    empty = Distributed(in_process([short]), Columns("embedding", similarity="dot")).sample(n_samples=2)
    assert empty.table().num_rows == 0


def test_laws_without_labels():
    unlabelled = Distributed(in_process(shards(5)), Columns("embedding", keep=("item",)))
    assert [len(own) for own in items(unlabelled.sample(k=3, n_samples=4))] == [3] * 4
    assert len(items(unlabelled.sample(n_samples=50))) == 50
    found = np.concatenate([own for _, own in unlabelled.marginals(k=3)])
    expected, _ = pdpp.KDpp(pdpp.Features(ROWS).with_unit_rows(), 3).inference(engine="cpu").inclusion_probabilities()
    assert np.allclose(found, expected, atol=1e-10)


def test_what_is_wrong_is_said():
    catalogue = Distributed(in_process(shards(5)), COLUMNS)
    with pytest.raises(ValueError, match="7"):
        catalogue.sample(quota={7: 1})
    with pytest.raises(ValueError, match="Int64"):
        Distributed(in_process(shards(5)), Columns("label")).sample(k=1)
    with pytest.raises(ValueError, match="no column vector, or several; there are item, embedding"):
        Columns("vector").batch(table(0, 3))
    with pytest.raises(ValueError, match="no column item, or several"):
        COLUMNS.number(table(0, 3).append_column("item", pa.array(range(3))))
    with pytest.raises(ValueError, match="manhattan"):
        Columns("embedding", similarity="manhattan")
    with pytest.raises(ValueError, match="same rows"):
        Distributed(in_process([table(0, 12), table(0, 12)]), COLUMNS).sample(quota={0: 1})
    with pytest.raises(ValueError, match="dictionary"):
        catalogue.sample(quota="equal", k=2)
    with pytest.raises(ValueError, match="dictionary"):
        catalogue.best(quota="proportional", k=2)
    with pytest.raises(ValueError, match="same rows"):
        list(Distributed(in_process([table(0, 12), table(0, 12)]), COLUMNS).marginals(k=1))
    with pytest.raises(ValueError, match="no column vector, or several; there are item"):
        Distributed(in_process(shards(5)), Columns("vector")).sample(k=1)
    with pytest.raises(ValueError, match="diversity is 7"):
        Columns("embedding", score="score", diversity=7)
    with pytest.raises(ValueError, match="tuple of names"):
        Columns("embedding", keep="url")
    with pytest.raises(ValueError, match="column sample"):
        Columns("embedding", keep=("sample",))
    with pytest.raises(ValueError, match="k is -1"):
        catalogue.best(k=-1)
    assert catalogue.best(quota={0: [1, 2], 1: 1}).samples[0][0].size == 3
    assert len(Distributed(in_process(table(0, 12)), COLUMNS).sample(quota={0: 1}).parts) == 1
    with pytest.raises(ValueError, match="n_samples is 0"):
        catalogue.sample(k=1, n_samples=0)
    with pytest.raises(ValueError):
        streams.Plan.from_bytes(b"nothing of ours")

    changing = iter([shards(5), shards(5), shards(6)])
    run = lambda function, columns: (function(own.select(columns)) for own in next(changing))
    with pytest.raises(ValueError):
        Distributed(run, COLUMNS).sample(quota={0: 1}, seed=5)


@pytest.mark.parametrize("condition", [3e7, 1e8, 1e9, np.inf])
def test_directions_lost_to_rounding_are_found_by_a_second_pass(condition):
    turn = np.linalg.qr(RNG.normal(size=(4, 4)))[0]
    flat = np.random.default_rng(5).normal(size=(300, 4)) / [1, 1e3, 1e6, condition] @ turn.T
    column = pa.FixedSizeListArray.from_arrays(pa.array(flat.ravel()), 4)
    table = pa.table({"embedding": column, "label": np.arange(300) % 2})
    columns = Columns("embedding", label="label", similarity="dot")
    catalogue = Distributed(in_process([table.slice(0, 90), table.slice(90)]), columns)
    with pytest.raises(ValueError) as lost:
        streams.Plan(catalogue.grams(), k=4)
    assert lost.value.wants_frame
    if condition < np.inf:
        assert [len(own) for own in catalogue.sample(quota={0: 2, 1: 2}, n_samples=3).parts] == [4] * 3
        found = np.concatenate([own for _, own in catalogue.marginals(k=4)])
        assert found.sum() == pytest.approx(4, abs=1e-4)
    else:
        # What the second pass makes up is noise, and the first has said so.
        with pytest.raises(ValueError, match="rank"):
            catalogue.sample(k=4)
    with pytest.raises(ValueError, match="5") as too_many:
        catalogue.sample(k=5)
    assert not too_many.value.wants_frame


def test_what_fails_in_the_second_pass_is_said():
    flat = np.random.default_rng(5).normal(size=(300, 4)) / [1, 1e3, 1e6, 1e9]
    column = pa.FixedSizeListArray.from_arrays(pa.array((flat @ np.linalg.qr(np.ones((4, 4)) + np.eye(4))[0]).ravel()), 4)
    passes = iter([True, False])

    def run(function, columns):
        if not next(passes):
            raise ValueError("row 7 has no value")
        yield function(pa.table({"embedding": column}))

    with pytest.raises(ValueError, match="row 7 has no value"):
        Distributed(run, Columns("embedding", similarity="dot")).sample(k=4)


def test_what_travels_can_be_pickled():
    batch = COLUMNS.batch(table(0, 12))
    sums = streams.Grams.of_batch(batch)
    plan = streams.Plan(sums, {0: 1})
    for object in [sums, plan, plan.trials(batch, 5, 1), sums.frame()]:
        assert pickle.loads(pickle.dumps(object)).to_bytes() == object.to_bytes()
    assert pickle.loads(pickle.dumps(distributed.trials)) is distributed.trials
    assert sums.parts == {"0": 4, "1": 8} and sums.rows == 12


@pytest.mark.parametrize("ends", [(), (5,), (1, 3, 5, 6, 9, 11)])
def test_marginals_and_best_sets_are_those_of_all_rows(ends):
    catalogue = Distributed(in_process(shards(*ends)), COLUMNS)
    weighted = pdpp.Features(ROWS).with_scores(SCORES, 0.6)
    model = pdpp.PartitionDpp(weighted, LABELS, [1, 2])
    expected, _ = model.inference(engine="cpu").inclusion_probabilities()
    found = np.concatenate([own for _, own in catalogue.marginals(quota={0: 1, 1: 2})])
    assert np.allclose(found, expected, atol=1e-10) and not np.allclose(found, expected[::-1], atol=1e-3)
    best = catalogue.best(quota={0: 1, 1: 2})
    assert best.log_det == pytest.approx(model.solve("exact").log_det, abs=0.1)
    assert sorted(best.parts[0]) == ["0", "1", "1"] and best.table().num_rows == 3
    assert catalogue.best(k=3).table().num_rows == 3


def test_nearly_dependent_rows_take_another_pass():
    passes = []
    rows = np.linspace(1, 2, 40)[:, None] + 1e-6 * np.random.default_rng(1).normal(size=(40, 3))
    flat = pa.FixedSizeListArray.from_arrays(pa.array(rows.ravel()), 3)
    tables = [pa.table({"embedding": flat}).slice(0, 25), pa.table({"embedding": flat}).slice(25)]

    def run(function, columns):
        passes.append(function.func.__name__)
        return in_process(tables)(function, columns)

    drawn = Distributed(run, Columns("embedding", similarity="dot")).sample(k=3, n_samples=3)
    assert passes.count("grams") == 2 and drawn.law_error < 1e-4


def test_the_best_set_keeps_rows_whose_weights_underflow():
    eye = pa.FixedSizeListArray.from_arrays(pa.array((np.eye(6, 3) + 0.1).ravel()), 3)
    scores = pa.array([0.0, 0.0, -1500.0, 1.0, 2.0, -3000.0])
    rows = pa.table({"embedding": eye, "score": scores, "label": ["a"] * 6})
    columns = Columns("embedding", label="label", score="score", similarity="dot")
    for tables in (rows, [rows.slice(0, 3)], [rows.slice(0, 3), rows.slice(3)]):
        for arguments in ({"k": 3}, {"quota": {"a": 3}}, {"quota": {"a": (0, 3)}, "k": 3}):
            assert len(Distributed(in_process(tables), columns).best(**arguments).parts[0]) == 3


def test_labels_of_several_types_do_not_merge():
    embedding = table(0, 6)["embedding"]
    texts, numbers = (pa.table({"embedding": embedding, "label": kind}) for kind in (["0", "1"] * 3, [0, 1] * 3))
    catalogue = Distributed(in_process([texts, numbers]), Columns("embedding", label="label"))
    for refused in (lambda: catalogue.sample(quota={"0": 1}), lambda: catalogue.best(k=1),
                    lambda: list(catalogue.marginals(k=1))):
        with pytest.raises(ValueError, match='the labels "0" are text in some batches and not in others'):
            refused()
    rng = np.random.default_rng(0)
    batch = lambda number, labels: streams.Batch(number, rng.normal(size=(2, 3)), labels)
    kinds = [(["0", "1"], [0, 1]), (np.array(["0", "1"]), np.array([0, 1])), (pa.array(["0", "1"]), pa.array([0, 1])),
             (["true", "a"], [True, "a"]), (pdpp.Partition(["0", "1"]), pdpp.Partition([0, 1])),
             (pa.array(["0", "1"]).dictionary_encode(), np.array([0.0, 1.0]))]
    for one, other in kinds:
        sums = [streams.Grams.of_batch(batch(number, labels)) for number, labels in enumerate((one, other))]
        sums[1] = pickle.loads(pickle.dumps(sums[1]))
        cores = [streams.CoreSet.of_batch(batch(number, labels), 1) for number, labels in enumerate((one, other))]
        for refused in (lambda: sums[0].merge(sums[1]), lambda: streams.CoreSet.union(cores)):
            with pytest.raises(ValueError, match="are text in some batches"):
                refused()
    for texts in (["0", "1"], np.array(["0", "x"], dtype=object), pa.array(["0"] * 2).dictionary_encode()):
        merged = streams.Grams.of_batch(batch(0, texts)).merge(streams.Grams.of_batch(batch(1, np.array(["0", "1"]))))
        assert merged.rows == 4


def test_batches_of_one_number_are_refused_together():
    one, other = COLUMNS.batch(table(0, 6)), COLUMNS.batch(table(0, 6))
    sums = streams.Grams.of_batch(one)
    plan = streams.Plan(sums, {0: 1})
    union = [streams.CoreSet.of_batch(batch, 1) for batch in (one, other)]
    for refused in (lambda: sums.merge(streams.Grams.of_batch(other)), lambda: streams.CoreSet.union(union),
                    lambda: streams.Trials.concatenate([plan.trials(batch, 3, 1) for batch in (one, other)])):
        with pytest.raises(ValueError, match="several batches have the number"):
            refused()


def test_numbers_alone_take_no_memory():
    batch = COLUMNS.batch(table(0, 12))
    plan = streams.Plan(streams.Grams.of_batch(batch), {0: 1})
    for count in (2**32, 2**40, 2**64 - 1):
        for refused in (lambda: plan.trials(batch, count, 1), lambda: plan.split([plan.rank], count, 1)):
            with pytest.raises(ValueError, match=f"{count} trials are more than .*fewer at a time"):
                refused()
        _, (wanted, _) = streams.StreamSampler(plan, 1, count).step()
        assert wanted < 2**32
        assert len(streams.CoreSet.union([streams.CoreSet.of_batch(batch, count)]).features) <= 12
    for refused in (lambda: pdpp.KDpp(ROWS, 2**40), lambda: pdpp.Features(ROWS).rbf(landmarks=2**40),
                    lambda: pdpp.Quota(pdpp.Partition(LABELS), [2**63, 1]),
                    lambda: streams.Plan(streams.Grams.of_batch(batch), k=2**40)):
        with pytest.raises(ValueError):
            refused()
