"""Masks, tables and columns that other libraries hold."""

import contextlib
import importlib

import numpy as np
import pandas as pd
import partition_dpp as pdpp
import polars as pl
import pyarrow as pa
import pytest


def tables(columns):
    """The columns as a table of every library, in two chunks where there are chunks."""
    whole = pa.table(columns)
    halves = pa.concat_tables([whole.slice(0, 7), whole.slice(7)])
    made = [halves, halves.to_pandas(), pl.from_arrow(halves, rechunk=False)]
    with contextlib.suppress(ImportError):
        made.append(importlib.import_module("duckdb").from_arrow(halves))
    return made


def test_masks_are_items(rows):
    mask = np.zeros(len(rows), dtype=bool)
    mask[[3, 7]] = True
    with_mask = pdpp.select(rows, k=4, include=mask, exclude=~mask & (np.arange(len(rows)) > 30))
    with_numbers = pdpp.select(rows, k=4, include=[3, 7], exclude=range(31, len(rows)))
    assert with_mask.tolist() == with_numbers.tolist()
    assert pdpp.select(rows, k=4, include=pd.Series(mask)).tolist() == pdpp.select(rows, k=4, include=[3, 7]).tolist()
    with pytest.raises(ValueError, match=f"a mask of 2 truth values; there are {len(rows)} items"):
        pdpp.select(rows, k=4, include=[True, False])
    with pytest.raises(ValueError, match="a mask of 0 truth values"):
        pdpp.select(rows, k=4, include=np.array([], dtype=bool))
    with pytest.raises(ValueError, match="a mask of 61 truth values"):
        pdpp.select(rows, k=4, exclude=np.arange(61) > 30)
    for numbers in (mask.astype(np.uint8), mask.astype(int).tolist()):
        with pytest.raises(ValueError, match=r"exclude are 60 zeros and ones.*\.astype\(bool\)"):
            pdpp.select(rows, k=4, exclude=numbers)
    for mixed in ([True, 3], (3, np.int64(7), False), {True, 3}, frozenset({3, False})):
        with pytest.raises(ValueError, match="include have truth values among numbers"):
            pdpp.select(rows, k=4, include=mixed)


def test_items_come_from_anything(rows):
    mask = np.isin(np.arange(60), [3, 7])
    backwards = pd.Series(mask, index=np.arange(60)[::-1])
    include, exclude = (pdpp.select(rows, k=4, **{name: [3, 7]}).tolist() for name in ("include", "exclude"))
    strided = np.stack([mask, ~mask], 1)[:, 0]
    assert pdpp.Partition(strided).names == pdpp.Partition(mask).names
    for items in [mask.tolist(), strided, mask[::-1].copy()[::-1], backwards, backwards.astype("boolean"), backwards.astype("bool[pyarrow]"),
                  pl.Series(mask), pa.array(mask), *tables({"mask": mask})[:3], {3, 7}, pd.Index([3, 7]),
                  pd.RangeIndex(3, 8, 4), pd.Series([3, 7], index=[40, 50]), pl.Series([3, 7]), pa.array([3, 7])]:
        assert pdpp.select(rows, k=4, include=items).tolist() == include, type(items)
        assert pdpp.select(rows, k=4, exclude=items).tolist() == exclude, type(items)
    holed = backwards.astype("boolean").mask(backwards.index == 5)
    for items in (holed, pl.Series([True, None, *mask[2:]]), pd.Series([3, None], dtype="Int64")):
        with pytest.raises(ValueError, match="dtype .*item numbers"):
            pdpp.select(rows, k=4, include=items)


@pytest.mark.parametrize("law", [
    {}, {"k": 3}, {"k": 3, "method": "map"}, {"k": 3, "method": "map", "ridge": 0.1}, {"k": 3, "similarity": "rbf"},
    {"k": 3, "method": "map", "similarity": "rbf"}, {"k": 3, "method": "map", "solver": "coverage"},
    {"k": 3, "method": "map", "scores": np.arange(60.0), "diversity": 0}, {"k": 3, "represent": "all"},
], ids=str)
def test_every_law_includes_and_excludes(rows, law):
    unwanted = pdpp.select(rows, **law).tolist()
    wanted = [item for item in range(60) if item not in unwanted][:2]
    found = pdpp.select(rows, include=wanted, exclude=unwanted, **law).tolist()
    assert unwanted and set(wanted) <= set(found) and not set(unwanted) & set(found)


def test_tables_of_one_column_are_labels_and_scores(rows, labels):
    scores = np.arange(len(rows)) / len(rows)
    expected = pdpp.select(rows, k=3, labels=labels, quota="equal", scores=scores)
    tables = [pd.DataFrame, pl.DataFrame, pa.table]
    for table in tables:
        found = pdpp.select(rows, k=3, labels=table({"label": labels}), quota="equal", scores=table({"score": scores}))
        assert found.tolist() == expected.tolist() and found.parts == expected.parts
    shuffled = pd.DataFrame({"label": labels, "score": scores}).sample(frac=1, random_state=1)
    found = pdpp.select(rows, k=3, labels=shuffled[["label"]], quota="equal", scores=shuffled[["score"]])
    assert found.tolist() == pdpp.select(rows, k=3, labels=shuffled["label"], quota="equal", scores=shuffled["score"]).tolist()
    with pytest.raises(ValueError, match="2 dimensions"):
        pdpp.select(rows, k=3, scores=np.ones((len(rows), 2)))


def test_tables_keep_order_and_types(rows, labels):
    scores = np.sin(np.arange(60))
    embeddings = tables({str(column): rows[:, column] for column in range(6)})
    for kinds in (labels, np.arange(60) % 3, np.arange(60) % 2 == 0):
        expected = pdpp.select(rows, k=3, labels=kinds, quota="proportional", scores=scores)
        columns = tables({"label": kinds}), tables({"score": scores})
        for of_rows, of_labels, of_scores in zip(embeddings, *columns):
            found = pdpp.select(of_rows, k=3, labels=of_labels, quota="proportional", scores=of_scores)
            assert found.tolist() == expected.tolist(), type(of_labels)
            assert repr(found.parts) == repr(kinds[found.indices].tolist()), type(of_labels)


def test_tables_of_several_columns_or_with_gaps_are_refused(rows):
    wide, holed = {"a": np.arange(60), "b": np.arange(60)}, {"a": pa.array([0, None] * 30)}
    for table in [*tables(wide), *tables(holed), *tables({"a": pa.array(["x", None] * 30)})]:
        for options in ({"labels": table}, {"scores": table}):
            with pytest.raises(ValueError):
                pdpp.select(rows, k=3, **options)


def test_rows_of_chunks_are_counted_through():
    chunks = pa.chunked_array([[[1.0, 2.0]] * 5, [[2.0, float("nan")]]])
    with pytest.raises(ValueError, match="row 5"):
        pdpp.Features(chunks)
    with pytest.raises(ValueError, match="0"):
        pdpp.select(np.eye(3), k=2, scores=pa.array([None, 1.0, 2.0]))
    assert len(pdpp.select(np.eye(3), k=2, scores=pa.array([True, False, True]))) == 2


def test_labels_come_back_in_their_own_type(rows):
    for labels in ([1, 10, 9] * 20, np.array([1, 10, 9] * 20, dtype=np.uint8), pa.array([1, 10, 9] * 20)):
        assert pdpp.select(rows, labels=labels, quota=[1, 1, 1]).counts == {1: 1, 9: 1, 10: 1}
        assert pdpp.Partition(labels).labels == [1, 9, 10] and pdpp.Partition(labels).names == ["1", "9", "10"]
    assert pdpp.Partition(["1", "2"]).labels == ["1", "2"]
    assert pdpp.Partition([True, False]).labels == [False, True]
    assert pdpp.Partition(["true", "false"]).labels == ["false", "true"]
    with pytest.raises(ValueError, match="true in some rows and 1 in others"):
        pdpp.Partition([True, 1])


def test_what_has_no_rows_says_how_to_get_them(rows):
    frame = pl.DataFrame(rows)
    with pytest.raises(ValueError, match=r"LazyFrame.*\.collect\(\)"):
        pdpp.select(frame.lazy(), k=2)
    for name in ("labels", "scores", "include"):
        with pytest.raises(ValueError, match=rf"{name[:6]}.* LazyFrame.*\.collect\(\)"):
            pdpp.select(rows, k=2, **{name: frame[:, :1].lazy()})
    sparse = pytest.importorskip("scipy.sparse").csr_matrix(rows)
    with pytest.raises(ValueError, match=r"sparse matrix.*TruncatedSVD.*\.toarray\(\)"):
        pdpp.select(sparse, k=2)
    with pytest.raises(ValueError, match="sparse matrix.*TruncatedSVD"):
        pdpp.select(sparse.tocoo(), k=2)
    for options in ({"embeddings": sparse @ sparse.T, "similarity": "precomputed"},
                    {"embeddings": rows, "scores": sparse[:, :1]}, {"embeddings": rows, "labels": sparse[:, :1]}):
        with pytest.raises(ValueError, match=r"sparse matrix, and must be dense: pass \.toarray\(\)"):
            pdpp.select(k=2, **options)


def test_datasets_with_filters(rows, labels):
    datasets = pytest.importorskip("datasets")
    data = datasets.Dataset.from_dict({"vector": rows.tolist(), "label": labels.tolist()})
    odd = data.filter(lambda row: row["label"] != "dog")
    kept = labels != "dog"
    expected = pdpp.select(rows[kept], labels=labels[kept], quota={"cat": 2, "owl": 1})
    for vectors in (odd["vector"], odd.select_columns("vector"), odd.with_format("numpy")["vector"]):
        found = pdpp.select(vectors, labels=odd["label"], quota={"cat": 2, "owl": 1})
        assert found.tolist() == expected.tolist()
    # The values that a transform makes, not those of the file.
    doubled = data.with_transform(lambda batch: {"vector": [[2 * x for x in row] for row in batch["vector"]]})
    assert pdpp.Features(doubled["vector"]).log_det([0]) == pytest.approx(pdpp.Features(2 * rows).log_det([0]))


def test_relations_of_duckdb(rows, labels):
    duckdb = pytest.importorskip("duckdb")
    held = pa.table({"vector": rows.tolist(), "label": labels, "score": np.arange(len(rows)) / 60.0})
    query = duckdb.sql
    found = pdpp.select(query("select vector from held"), labels=query("select label from held"), quota=[1, 1, 1],
                        scores=query("select score from held"))
    expected = pdpp.select(rows, labels=labels, quota=[1, 1, 1], scores=np.arange(len(rows)) / 60.0)
    assert found.tolist() == expected.tolist()
