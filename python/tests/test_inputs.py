"""What rows, labels and scores may be, and what is refused."""

import enum
import types
from collections import deque

import numpy as np
import pandas as pd
import partition_dpp as pdpp
import polars as pl
import pyarrow as pa
import pytest
from partition_dpp import distributed, streams


def chosen(rows, **more):
    return pdpp.select(rows, k=4, seed=1, engine="cpu", **more).indices.tolist()


def lists(array, kind="fixed"):
    flat = pa.array(np.ascontiguousarray(array).ravel())
    if kind == "fixed":
        return pa.FixedSizeListArray.from_arrays(flat, array.shape[1])
    return pa.ListArray.from_arrays(pa.array(np.arange(0, array.size + 1, array.shape[1]), pa.int32()), flat)


def test_rows_come_from_anything(rows):
    expected = chosen(rows)
    wide = np.zeros((120, 12))
    wide[::2, ::2] = rows
    memory = np.zeros(rows.nbytes + 1, dtype=np.uint8)[1:].view(np.uint8)
    unaligned = np.frombuffer(memory, dtype=np.uint8)[: rows.nbytes].view(np.float64).reshape(rows.shape)
    unaligned[...] = rows
    readonly = rows.copy()
    readonly.flags.writeable = False
    for other in [
        rows.tolist(),
        np.asfortranarray(rows),
        wide[::2, ::2],
        rows[::-1][::-1],
        rows[::-1, ::-1][::-1, ::-1],
        rows.astype(">f8"),
        unaligned,
        readonly,
        memoryview(rows),
        rows.astype(np.longdouble),
        lists(rows),
        lists(rows, "list"),
        pa.chunked_array([lists(rows[:20]), lists(rows[20:])]),
        pa.table({"embedding": lists(rows)}),
        pa.table({str(j): rows[:, j] for j in range(6)}),
        pa.record_batch({str(j): rows[:, j] for j in range(6)}),
        pd.DataFrame(rows),
        pl.DataFrame(rows),
        pl.Series("embedding", rows.tolist(), dtype=pl.Array(pl.Float64, 6)),
        pdpp.Features(rows),
    ]:
        assert chosen(other) == expected, type(other)
    reversed_rows = chosen(rows[::-1])
    assert reversed_rows == chosen(rows[::-1].copy())


def test_small_types_are_their_values():
    rng = np.random.default_rng(2)
    whole = rng.integers(-100, 100, size=(50, 5))
    expected = chosen(whole.astype(np.float64))
    for dtype in [np.int8, np.int16, np.int32, np.int64, np.float16, np.float32, ">i4", ">f4", ">f2"]:
        assert chosen(whole.astype(dtype)) == expected, dtype
    halves = rng.normal(size=(50, 5)).astype(np.float16)
    assert chosen(halves) == chosen(halves.astype(np.float64)) == chosen(lists(halves))


def test_nothing_is_copied(tmp_path):
    """The features read what is written to the array afterwards, which nobody should do."""
    unit = np.eye(4)
    for array in [unit.copy(), unit.astype(np.float32), unit.astype(np.float16)]:
        features = pdpp.Features(array)
        array[1] *= 2
        assert features.log_det([1]) == pytest.approx(np.log(4.0))
    values = np.eye(4).ravel()
    features = pdpp.Features(pa.FixedSizeListArray.from_arrays(pa.array(values), 4))
    values[5] = 2.0
    assert features.log_det([1]) == pytest.approx(np.log(4.0))
    path = tmp_path / "rows.npy"
    np.save(path, np.arange(12.0).reshape(4, 3) ** 2)
    mapped = np.load(path, mmap_mode="r")
    assert chosen_small(mapped) == chosen_small(pdpp.Features.open_npy(path)) == chosen_small(np.load(path))


def chosen_small(rows):
    return pdpp.select(rows, k=2, seed=3, similarity="dot").indices.tolist()


def test_labels_come_from_anything(rows, labels):
    names = labels.tolist()
    expected = pdpp.select(rows, labels=labels, quota=[1, 1, 2]).indices.tolist()
    for other in [
        names,
        np.array(names, dtype=object),
        labels.astype(">U3"),
        np.array(["cat", "x", "dog", "x", "owl", "x"] * 20)[::2],
        pa.array(names),
        pa.array(names).dictionary_encode(),
        pa.chunked_array([pa.array(names[:7]), pa.array(names[7:])]),
        pd.Series(names),
        pd.Categorical(names),
        pd.Series(names, dtype="category"),
        pl.Series(names),
        pl.Series(names, dtype=pl.Categorical),
        pdpp.Partition(names),
    ]:
        assert pdpp.select(rows, labels=other, quota=[1, 1, 2]).indices.tolist() == expected, type(other)
    assert pdpp.Partition([10, 9, -1, 10]).names == ["-1", "9", "10"]
    assert pdpp.Partition([10.0, 9.0]).names == ["9", "10"]
    assert pdpp.Partition([np.int64(10), 9, np.uint8(1)]).names == ["1", "9", "10"]
    assert pdpp.Partition(np.array([10, 9], dtype=object)).names == ["9", "10"]
    assert pdpp.Partition(["é", "z", ""]).names == ["", "z", "é"]
    assert pdpp.Partition(pl.Series([3, 1, 2], dtype=pl.UInt8)).names == ["1", "2", "3"]


def test_lists_of_quotas_are_refused_for_labels_in_an_order_of_their_own(rows):
    names = ["small", "large", "medium"] * 20
    sizes = pd.CategoricalDtype(["small", "medium", "large"], ordered=True)
    arrow = pa.DictionaryArray.from_arrays(pa.array([0, 2, 1] * 20), pa.array(sizes.categories), ordered=True)
    ordered = [pd.Categorical(names, dtype=sizes), pd.Series(names, dtype=sizes), arrow, pa.chunked_array([arrow]),
               pl.Series(names, dtype=pl.Enum(list(sizes.categories))),
               pd.Series(pd.arrays.ArrowExtensionArray(arrow))]
    ordered += [pd.DataFrame({"size": ordered[1]}), pa.table({"size": arrow}), pl.DataFrame({"size": ordered[4]})]
    named = {"small": 1, "medium": 2, "large": 3}
    expected = pdpp.select(rows, labels=names, quota=named).indices.tolist()
    for labels in ordered:
        assert pdpp.select(rows, labels=labels, quota=named).indices.tolist() == expected, type(labels)
        for quota in ([1, 2, 3], (1, 2, 3), np.array([1, 2, 3]), range(1, 4), deque([1, 2, 3])):
            for refused in (lambda: pdpp.select(rows, labels=labels, quota=quota),
                            lambda: pdpp.PartitionDpp(rows, labels, quota),
                            lambda: pdpp.Quota(pdpp.Partition(labels), quota)):
                with pytest.raises(ValueError, match='have the order .*"small", "medium", "large".*dictionary by label'):
                    refused()
    # Their order is that of the list where it is the usual one.
    usual = pd.Categorical(names, ["large", "medium", "none", "small"], ordered=True)
    assert pdpp.select(rows, labels=usual, quota=[3, 2, 1]).indices.tolist() == expected


def test_scores_come_from_anything(rows):
    scores = np.linspace(0, 3, 60)
    expected = chosen(rows, scores=scores)
    for other in [scores.tolist(), scores[::-1][::-1], scores.astype(">f8"), pa.array(scores), pd.Series(scores),
                  pl.Series(scores), pa.chunked_array([pa.array(scores[:9]), pa.array(scores[9:])])]:
        assert chosen(rows, scores=other) == expected, type(other)


NAN = np.ones((4, 3))
NAN[2, 1] = np.nan
REFUSED = [
    (dict(embeddings=NAN), "row 2.*column 1"),
    (dict(embeddings=np.zeros((0, 3))), "empty"),
    (dict(embeddings=np.zeros((3, 0))), "empty"),
    (dict(embeddings=np.ones(5)), "1 dimension"),
    (dict(embeddings=np.ones((2, 2, 2))), "3 dimensions"),
    (dict(embeddings=[[1.0, 2.0], [3.0]]), "features"),
    (dict(embeddings=np.array([[1, "a"]], dtype=object)), "dtype object"),
    (dict(embeddings=np.array([["a", "b"]])), "dtype"),
    (dict(embeddings=np.ones((3, 3), dtype=complex)), "complex"),
    (dict(embeddings=np.zeros((3, 3), dtype="datetime64[s]")), "datetime64"),
    (dict(embeddings=np.ma.masked_array(np.ones((3, 3)), mask=np.eye(3))), "masked"),
    (dict(embeddings=None), "dtype object|dimension"),
    (dict(embeddings=pa.array(["a", "b"])), "Utf8"),
    (dict(embeddings=pa.array([[1.0, 2.0], None])), "row 1"),
    (dict(embeddings=pa.array([[1.0, 2.0], [1.0]])), "row 1"),
    (dict(embeddings=np.eye(3), k=4), "4"),
    (dict(embeddings=np.eye(3)[:, :2] + 1, k=3), '(?s)at most 2.*ridge.*"rbf"'),
    (dict(embeddings=np.eye(3), k=2, similarity="manhattan"), "manhattan"),
    (dict(embeddings=np.eye(3), k=2, method="best"), "best"),
    (dict(embeddings=np.eye(3), k=2, engine="tpu"), "tpu"),
    (dict(embeddings=np.eye(3), k=2, seed=-1), "seed -1"),
    (dict(embeddings=np.eye(3), k=2, seed=1.5), "seed 1.5"),
    (dict(embeddings=np.eye(3), k=2, n_samples=0), "n_samples is 0"),
    (dict(embeddings=np.eye(3), k=2, n_samples=1.5), "n_samples is 1.5"),
    (dict(embeddings=np.eye(3), k=-1), "k is -1"),
    (dict(embeddings=np.eye(3), k=2**70), "k is 1180591620717411303424"),
    (dict(embeddings=np.eye(3), k=True), "k is True"),
    (dict(embeddings=np.eye(3), k=2, seed=float("inf")), "seed inf"),
    (dict(embeddings=np.eye(3), k=2, scores=[1, 2, 3], diversity=0, method="map", certify=True), "top scores"),
    (dict(embeddings=np.eye(3), k=2, ridge=0.1, method="map", engine="gpu"), "on the CPU"),
    (dict(embeddings=np.eye(3), k=2, bandwidth=1.0), "rbf"),
    (dict(embeddings=np.eye(3), k=2, diversity=0.5), "scores"),
    (dict(embeddings=np.eye(3), k=2, scores=[1.0, 2.0]), "2"),
    (dict(embeddings=np.eye(3), k=2, scores=[1.0, np.nan, 2.0]), "item 1"),
    (dict(embeddings=np.eye(3), k=2, scores=["a", "b", "c"]), "dtype"),
    (dict(embeddings=np.eye(3), k=2, scores=[1, 2, 3], diversity=2), "2"),
    (dict(embeddings=np.eye(3), k=2, scores=[1, 2, 3], diversity=0), "top scores"),
    (dict(embeddings=np.eye(3), k=2, include=[0], exclude=[0]), "0"),
    (dict(embeddings=np.eye(3), k=2, include=[7]), "7"),
    (dict(embeddings=np.eye(3), k=2, include=[-1]), "-1"),
    (dict(embeddings=np.eye(3), k=2, include=[0.5]), "float64"),
    (dict(embeddings=np.eye(3), quota=[1, 1]), "labels"),
    (dict(embeddings=np.eye(3), labels=["a", "b"], quota=[1, 1]), "2 labels for 3 items"),
    (dict(embeddings=np.eye(3), labels=["a", None, "b"], quota=[1, 1]), "item 1 is None"),
    (dict(embeddings=np.eye(3), labels=[0.5, 1, 2], quota=[1, 1]), "item 0 is 0.5"),
    (dict(embeddings=np.eye(3), labels=[b"a", b"b", b"c"], quota=[1, 1, 1]), "bytes"),
    (dict(embeddings=np.eye(3), labels=pa.array(["a", None, "b"]), quota=[1, 1]), "row 1|item 1"),
    (dict(embeddings=np.eye(3), labels=list("aab"), quota={"c": 1}), "c"),
    (dict(embeddings=np.eye(3), labels=list("aab"), quota={"a": 3}), "3"),
    (dict(embeddings=np.eye(3), labels=list("aab"), quota={"a": -1}), "-1"),
    (dict(embeddings=np.eye(3), labels=list("aab"), quota={"a": True}), "True"),
    (dict(embeddings=np.eye(3), labels=list("aab"), quota={"a": (2, 1)}), "2"),
    (dict(embeddings=np.eye(3), labels=list("aab"), quota={"a": range(2, 2)}), "range"),
    (dict(embeddings=np.eye(3), labels=list("aab"), quota=[1]), "1"),
    (dict(embeddings=np.eye(3), labels=list("aab"), quota="fair", k=2), "fair"),
    (dict(embeddings=np.eye(3), labels=list("aab"), quota="equal"), "needs k"),
    (dict(embeddings=np.eye(3), labels=list("aab"), quota=[1, 1], k=3), "2 items"),
    (dict(embeddings=np.eye(3), labels=list("aab"), quota=7), "dictionary"),
    (dict(embeddings=np.zeros((3, 3)), k=1), "row 0|item 0"),
    (dict(embeddings=np.eye(3), k=2, time_limit=1), "map"),
    (dict(embeddings=np.eye(3), k=2, method="map", time_limit=-1), "-1"),
    (dict(embeddings=np.eye(3), k=2, method="map", solver="magic"), "magic"),
    (dict(embeddings=np.eye(3), k=2, method="map", solver="softmax"), "softmax"),
    (dict(embeddings=np.eye(3), k=2, ridge=-1.0), "-1"),
    (dict(embeddings=np.eye(3), labels=list("aab"), quota={"a": range(0, 2**63)}), r"quota entry range\(0, 92.*write"),
    (dict(embeddings=np.eye(3), labels=list("aab"), quota={"a": range(-(2**70), 2)}), "quota entry range.*write"),
    (dict(embeddings=np.eye(3), labels=list("aab"), quota={"a": "2"}), "quota entry '2': write"),
    (dict(embeddings=np.eye(3), labels=list("aab"), quota={"a": ()}), r"quota entry \(\): write"),
    (dict(embeddings=np.eye(3), labels=list("aab"), quota={"a": (True, 2)}), r"quota entry \(True, 2\): write"),
    (dict(embeddings=np.eye(3), labels=list("aab"), quota={"a": np.arange(90)}), r"quota entry array\(\[ 0.*\.\.\.: write"),
    (dict(embeddings=np.eye(3), labels=list("aab"), quota={"a": 10**5000}), "quota entry int: write"),
    (dict(embeddings=np.eye(3), k=10**5000), "k is int"),
    (dict(embeddings=np.eye(3), k=2, seed=10**5000), "seed int"),
    (dict(embeddings=np.eye(3), k=2, scores=[1, 2, 3], diversity="x"), "diversity is 'x'; it must be a number"),
    (dict(embeddings=np.eye(3), k=2, scores=[1, 2, 3], diversity=[0.5]), r"diversity is \[0.5\]; it must be a number"),
    (dict(embeddings=np.eye(3), k=2, scores=[1, 2, 3], diversity=10**400), "diversity is 1000"),
    (dict(embeddings=np.eye(3), k=2, similarity="rbf", bandwidth="2"), "bandwidth is '2'; it must be a number"),
    (dict(embeddings=np.eye(3), k=2, similarity="rbf", landmarks="2"), "'2' is not a whole number"),
    (dict(embeddings=np.eye(3), k=2, ridge=True), "ridge is True; it must be a number"),
    (dict(embeddings=np.eye(3), k=2, ridge=1j), "ridge is 1j; it must be a number"),
    (dict(embeddings=np.eye(3), labels=list("aab"), quota=[1, 1], method="estimated", law_error="x"), "law_error is 'x'"),
    (dict(embeddings=np.eye(3), k=2, method="map", time_limit="1"), "time_limit is '1'; it must be a number"),
    (dict(embeddings=np.eye(3), k=2, method="map", certify="yes"), "certify is 'yes'; it must be True or False"),
    (dict(embeddings=np.eye(3), k=2, method="map", solver=3), 'solver "3" is none of'),
    (dict(embeddings=np.eye(3), k=2, engine=None), 'engine "None" is none of'),
    (dict(embeddings=np.eye(3), k=2, include=[2**64 - 1]), "18446744073709551615"),
    (dict(embeddings=np.eye(3), k=2, exclude=np.array([2**63], np.uint64)), "9223372036854775808"),
]


@pytest.mark.parametrize("arguments, words", REFUSED, ids=[words for _, words in REFUSED])
def test_bad_input_gets_one_sentence(arguments, words):
    with pytest.raises(ValueError, match=words) as caught:
        pdpp.select(**arguments)
    _, *ways_out = str(caught.value).split("\n")
    assert all(way.startswith("  ") for way in ways_out)


def test_missing_files_are_os_errors():
    with pytest.raises(OSError, match="nowhere.npy"):
        pdpp.Features.open_npy("nowhere.npy")


def test_an_index_of_pandas_is_no_feature(rows):
    frame = pd.DataFrame(rows)
    for other in [frame[frame[0] > -9], frame.sample(frac=1, random_state=1), frame.rename_axis("name"),
                  frame.set_index(pd.MultiIndex.from_product([range(6), range(10)])), frame.set_axis(list("ab" * 30))]:
        assert pdpp.Features(other).dims == 6
        assert chosen(other) == chosen(other.to_numpy())


def test_labels_keep_their_types(rows):
    class Kind(str, enum.Enum):
        CAT = "cat"
        DOG = "dog"

    assert pdpp.Partition([Kind.CAT, Kind.DOG, "cat"]).names == ["cat", "dog"]
    assert pdpp.Partition([True, "a", False]).names == ["a", "false", "true"]
    assert pdpp.Partition([2**63 + 5, 1, 10]).names == ["1", "10", str(2**63 + 5)]
    assert pdpp.Partition(pd.Series([1.0, 10.0, 9.0])).names == ["1", "9", "10"]
    chosen = pdpp.select(rows, labels=pd.Series([0.0, 1.0] * 30), quota={0.0: 1, 1.0: 2})
    assert chosen.counts == {0: 1, 1: 2}
    with pytest.raises(ValueError, match="item 1 is nan"):
        pdpp.Partition(["cat", float("nan"), "dog"])
    assert pdpp.select(rows, k=3, labels=["a"] * 60).counts == {"a": 3}
    with pytest.raises(ValueError, match="2 labels for 60 items"):
        pdpp.select(rows, k=3, labels=["a", "b"])


def test_quotas_are_named_by_any_mapping(rows, labels):
    for quota in [pd.Series({"dog": 3, "cat": 1}), types.MappingProxyType({"dog": 3, "cat": 1}),
                  {"dog": [3, 3], "cat": np.int32(1)}]:
        assert pdpp.select(rows, labels=labels, quota=quota).counts == {"cat": 1, "dog": 3}
    with pytest.raises(ValueError, match="dictionary"):
        pdpp.select(rows, labels=labels, quota={3, 1, 2})


def test_arrow_data_is_taken_once():
    class Twice:
        def __init__(self):
            self.pair = lists(np.eye(3)).__arrow_c_array__()

        def __arrow_c_array__(self, requested_schema=None):
            return self.pair

    twice = Twice()
    assert pdpp.Features(twice).dims == 3
    with pytest.raises(ValueError, match="taken already"):
        pdpp.Features(twice)
    mask = pa.array([False, True, False])
    hidden = pa.StructArray.from_arrays([lists(np.eye(3))], ["e"], mask=mask)
    with pytest.raises(ValueError, match="row 1"):
        pdpp.Features(hidden)


def test_scores_beside_which_rows_are_lost_are_refused(rows):
    scores = np.zeros(60)
    for far in (-1e30, np.finfo(float).min, 1.77e18):
        scores[7] = far
        for arguments in ({}, {"method": "map"}, {"ridge": 0.1}, {"similarity": "rbf"}):
            with pytest.raises(ValueError, match="score of item 7 .*subtract a common number"):
                pdpp.select(rows, k=3, scores=scores, **arguments)
    assert 7 in pdpp.select(rows, k=3, scores=scores, diversity=0, method="map")


def test_scores_are_not_dropped(rows):
    scored = pdpp.Features(rows).with_unit_rows().with_scores(np.arange(60.0))
    assert scored.has_scores and not pdpp.Features(rows).has_scores
    for similarity in ("cosine", "rbf"):
        with pytest.raises(ValueError, match="have scores"):
            pdpp.select(scored, k=3, similarity=similarity)
        with pytest.raises(ValueError, match="have scores"):
            pdpp.select(scored, k=3, similarity=similarity, method="map")
    batch = streams.Batch(0, scored)
    union = streams.CoreSet.union([streams.CoreSet.of_batch(batch, 3)]).features
    with pytest.raises(ValueError, match="core-sets"):
        pdpp.select(union, k=3)
    chosen = pdpp.select(scored, k=3, similarity="dot", seed=1)
    assert chosen.tolist() == pdpp.select(rows, k=3, scores=np.arange(60.0), seed=1).tolist()


def test_numbers_are_whole_and_not_negative(rows):
    model = pdpp.KDpp(rows, 2)
    sampler = model.sampler()
    for refused in [lambda: pdpp.KDpp(rows, -1), lambda: pdpp.KDpp(rows, 2.0), lambda: sampler.sample(-1),
                    lambda: sampler.sample(1, seed=None), lambda: pdpp.Partition(["a"]).part_of(-1),
                    lambda: pdpp.Features(rows).rbf(landmarks=3.0), lambda: sampler.sample(True), lambda: sampler.sample(1, seed=2**64), lambda: streams.Batch.empty(-1),
                    lambda: pdpp.Quota(pdpp.Partition(["a", "b"]), [1, 1], k=-1)]:
        with pytest.raises(ValueError, match="is not a whole number from 0 to"):
            refused()


def test_numbers_are_numbers(rows):
    features, model, scores = pdpp.Features(rows), pdpp.KDpp(rows, 2), np.zeros(60)
    labels = np.arange(60) % 2
    batch = streams.Batch(0, rows, labels)
    sums = streams.Grams.of_batch(batch)
    plan = streams.Plan(sums, {0: 1})
    columns = lambda **more: distributed.Columns("embedding", score="score", **more)
    catalogue = distributed.Distributed(distributed.in_process([pa.table({"e": lists(rows), "l": labels})]),
                                        distributed.Columns("e", label="l"))
    for wrong in ("x", "2", [1.0, 2.0], 10**400, object(), True, None, np.zeros(2)):
        calls = [
            lambda: columns(diversity=wrong),
            lambda: columns(keep=wrong),
            lambda: pdpp.Quota(pdpp.Partition(labels), {0: wrong, 1: (0, 2**64)}),
            lambda: catalogue.best(quota={0: wrong, 1: ()}),
            lambda: catalogue.sample(quota={0: range(0, 2**63), 1: wrong}),
            lambda: catalogue.sample(k=1, n_samples=wrong),
            lambda: catalogue.sample(k=[wrong]),
            lambda: plan.split(wrong, 1, 1),
            lambda: plan.split([wrong], 1, 1),
            lambda: streams.Batch(wrong, rows) if wrong is not True else pdpp.Partition(wrong),
            lambda: model.sampler(wrong),
            lambda: model.solve(wrong),
            lambda: model.sampler(engine=wrong),
            lambda: pdpp.KernelModel(rows, k=2, similarity=[wrong]),
        ]
        if wrong is not None:
            calls += [
                lambda: features.with_scores(scores, wrong),
                lambda: features.rbf(wrong),
                lambda: pdpp.KDpp(rows, 2, ridge=wrong),
                lambda: pdpp.Dpp(rows, scores=scores, diversity=wrong),
                lambda: pdpp.PartitionDpp(rows, labels, [1, 1], ridge=wrong),
                lambda: pdpp.KernelModel(rows, k=2, bandwidth=wrong),
                lambda: pdpp.KernelModel(rows, k=2).solve(time_limit=wrong),
                lambda: model.solve(time_limit=wrong),
                lambda: model.sampler("estimated", law_error=wrong),
                lambda: streams.StreamSampler(plan, 1, wrong),
                lambda: catalogue.best(k=2, time_limit=wrong),
            ]
        for place, call in enumerate(calls):
            with pytest.raises(ValueError) as caught:
                call()
            assert str(caught.value) and "\n" not in str(caught.value), (wrong, place)
    assert pdpp.KDpp(rows, 2, ridge=np.float32(0.5)) and pdpp.KDpp(rows, 2, ridge=1)


def test_labels_of_several_types_do_not_merge():
    for labels in ([1, "1"], ["true", True], np.array(["2", 2], dtype=object)):
        with pytest.raises(ValueError, match="are text in some rows"):
            pdpp.Partition(labels)
    assert pdpp.Partition([2, True, "a"]).names == ["2", "a", "true"]


def test_parts_are_in_the_order_of_the_items(rows):
    labels = list("abc") * 20
    assert pdpp.PartitionDpp(rows, labels, [1, 1, 1]).parts_of([5, 0]) == ["c", "a"]


def test_tables_of_pandas_may_have_columns_of_several_types():
    table = pd.DataFrame({"a": [1, 2, 3], "b": [True, False, True], "c": [0.5, 1.5, -1.0]})
    wide = table.astype({"a": "Int64", "b": "boolean", "c": "Float32"})
    expected = pdpp.Features(table.to_numpy(np.float64)).log_det([0, 2])
    for other in (table, table[["a", "b", "c"]].astype({"a": "int8"}), wide, wide.astype({"c": "float16"})):
        assert pdpp.Features(other).log_det([0, 2]) == pytest.approx(expected), other.dtypes
    whole = table[["a", "b"]]
    assert pdpp.Features(whole).log_det([0, 1]) == pytest.approx(pdpp.Features(whole.to_numpy(float)).log_det([0, 1]))
    lists = pd.DataFrame({"embedding": [[1.0, 0.0], [0.0, 2.0]]})
    assert pdpp.Features(lists).log_det([0, 1]) == pytest.approx(np.log(4))
    wide.loc[1, "a"] = pd.NA
    with pytest.raises(ValueError, match="row 1, column 0"):
        pdpp.Features(wide)
    with pytest.raises(ValueError, match="numbers"):
        pdpp.Features(pd.DataFrame({"a": [1, 2], "b": ["1", "2"]}))
