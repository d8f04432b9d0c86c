"""Random arguments: an answer that keeps its promises, or one sentence."""

import os
import random
import warnings

import numpy as np
import pandas as pd
import partition_dpp as pdpp
import pyarrow as pa

#: Calls; a long run sets more.
CALLS = int(os.environ.get("PDPP_FUZZ", "3000"))
REFUSALS = ValueError


@np.errstate(all="ignore")
def rows(rng):
    items, dims = rng.choice([0, 1, 2, 3, 5, 9, 20]), rng.choice([0, 1, 2, 3, 6])
    values = np.random.default_rng(rng.randrange(2**32)).normal(size=(items, dims))
    values *= 10.0 ** rng.choice([0, 0, 0, -3, 3, 150, -150, -300])
    if values.size and rng.random() < 0.3:
        where = (rng.randrange(items), rng.randrange(dims))
        values[where] = rng.choice([np.nan, np.inf, 0.0, 1e308, 5e-324])
    if items > 1 and rng.random() < 0.3:
        values[rng.randrange(items)] = values[rng.randrange(items)] * rng.choice([0, 1, 1, -2])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return rng.choice([
            lambda: values,
            lambda: values.astype(np.float32),
            lambda: values.astype(np.float16),
            lambda: values.astype(">f8"),
            lambda: values.astype(np.longdouble),
            lambda: np.clip(values, -9, 9).astype(rng.choice([np.int8, np.int64, np.uint16, bool])),
            lambda: values[::-1],
            lambda: values[:, ::-1],
            lambda: np.asfortranarray(values),
            lambda: np.repeat(values, 2, axis=0)[::2],
            lambda: values.tolist(),
            lambda: values.astype(object),
            lambda: values.ravel(),
            lambda: values[None],
            lambda: pd.DataFrame(values),
            lambda: pa.array(values.tolist()),
            lambda: pa.table({str(j): values[:, j] for j in range(dims)}),
            lambda: values.astype(complex),
            lambda: values.astype("U5"),
            lambda: rng.choice([None, 3, "rows", [], [[]], {}, [None], float("nan")]),
        ])()


def labels(rng, items):
    made = [rng.choice(["a", "b", "c"]) for _ in range(max(0, items + rng.choice([0, 0, 0, 0, -1, 1])))]
    return rng.choice([
        lambda: made,
        lambda: np.array(made),
        lambda: np.array(made, dtype=object),
        lambda: pd.Categorical(made),
        lambda: pa.array(made),
        lambda: [ord(label) for label in made],
        lambda: [float(ord(label)) for label in made],
        lambda: [label == "a" for label in made],
        lambda: [None, *made[1:]],
        lambda: rng.choice([None, "aab", 7, [["a"]], [b"x"], [1.5], []]),
    ])()


def count(rng):
    return rng.choice([0, 1, 1, 2, 3, -1, 10**30, True, None, 1.5, "2", (0, 2), (None, 1), (2, 1), (1,), range(0, 2),
                       range(2, 2), range(0, 9, 2), np.int64(1), range(0, 2**63), (), (True, 2), np.array([1, 2]), 10**5000])


def quota(rng):
    return rng.choice([
        lambda: [count(rng) for _ in range(rng.choice([1, 2, 3, 4]))],
        lambda: {rng.choice(["a", "b", "c", "d", 97, True, None]): count(rng) for _ in range(3)},
        lambda: rng.choice(["equal", "proportional", "fair", 3, None, [], {}, object()]),
    ])()


def arguments(rng):
    matrix = rows(rng)
    items = len(matrix) if hasattr(matrix, "__len__") else 3
    may = {
        "k": lambda: rng.choice([0, 1, 2, 3, 5, 100, -1, 2**70, 1.5, "2", True, np.int32(2)]),
        "labels": lambda: labels(rng, items),
        "quota": lambda: quota(rng),
        "scores": lambda: rng.choice([
            lambda: np.linspace(-1, 1, items), lambda: [rng.choice([1e3, -1e300, np.nan, np.inf, 0.5])] * items,
            lambda: ["x"] * items, lambda: [1.0], lambda: None, lambda: [True] * items])(),
        "diversity": lambda: rng.choice([0, 0.5, 1, 1e-9, -1, 2, np.nan, "half", "x", [0.5], True, 10**400]),
        "similarity": lambda: rng.choice(["cosine", "dot", "rbf", "dots", None]),
        "bandwidth": lambda: rng.choice([0.5, 0, -1, np.nan, np.inf, 1e300, "wide", (1,), False]),
        "landmarks": lambda: rng.choice([1, 2, 0, 100, -1, 2**40, "2"]),
        "ridge": lambda: rng.choice([0.5, 1e-9, 0, -1, np.nan, 1e300, "x", 1j, object()]),
        "include": lambda: rng.choice([[0], [0, 0], [99], [-1], [0.5], "a", [True], np.array([], int), [2**64 - 1],
                                       [2**70], range(2**63, 2**63 + 1)]),
        "exclude": lambda: rng.choice([[1], [0], [99], [[0, 1]], None, range(2)]),
        "method": lambda: rng.choice(["sample", "map", "estimated", "best"]),
        "law_error": lambda: rng.choice([0.1, 0, -1, 2, np.nan, "0.1", [1]]),
        "time_limit": lambda: rng.choice([0.01, 0, -1, np.nan, 1e300, "1", True]),
        "solver": lambda: rng.choice(["greedy", "exact", "softmax", "symmetric-greedy", "local-search", "none"]),
        "certify": lambda: rng.choice([True, False, "yes"]),
        "n_samples": lambda: rng.choice([1, 2, 7, 0, -1, 1.5]),
        "seed": lambda: rng.choice([0, 2**64 - 1, 2**64, -1, None, "1", np.random.default_rng(0), np.uint8(3)]),
    }
    usual = ["k", "labels", "quota"]
    chosen = [name for name in may if rng.random() < (0.6 if name in usual else 0.12)]
    return {"embeddings": matrix, "engine": "cpu", **{name: may[name]() for name in chosen}}


def sound(rng):
    """Arguments most of which can be answered."""
    numbers = np.random.default_rng(rng.randrange(2**32))
    items, dims = rng.choice([5, 9, 30]), rng.choice([3, 6, 12])
    values = numbers.normal(size=(items, dims)) * 10.0 ** rng.choice([0, 0, 100, -100])
    matrix = rng.choice([values, values[::-1], np.asfortranarray(values), pa.array(values.tolist()), values.astype(">f8")])
    given = {"embeddings": matrix, "engine": "cpu", "k": rng.choice([1, 2, 3])}
    if rng.random() < 0.6:
        given["labels"] = [rng.choice(["a", "b"]) for _ in range(items)]
        given["quota"] = rng.choice([{"a": (0, 2), "b": (0, None)}, {"a": (None, None), "b": range(0, 3)}, "equal",
                                     "proportional"])
    may = {
        "scores": lambda: numbers.normal(size=items) * rng.choice([1, 30]),
        "similarity": lambda: rng.choice(["cosine", "dot", "rbf"]),
        "ridge": lambda: 0.1,
        "include": lambda: [0],
        "exclude": lambda: [1],
        "method": lambda: rng.choice(["sample", "map"]),
        "seed": lambda: rng.randrange(2**64),
    }
    return {**given, **{name: may[name]() for name in may if rng.random() < 0.3}}


def check(chosen, given):
    items = len(given["embeddings"])
    for sample in chosen.samples:
        assert sample.dtype == np.int64 and len(set(sample.tolist())) == len(sample)
        assert all(0 <= item < items for item in sample.tolist())
        assert sorted(sample.tolist()) == sample.tolist()
    if given.get("quota") is None and given.get("k") is not None:
        assert len(chosen) == int(given["k"])
    assert not np.isnan(chosen.log_det)


def test_random_calls():
    answers = 0
    for number in range(CALLS):
        rng = random.Random(number)
        given = rng.choice([arguments, sound])(rng)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                chosen = pdpp.select(**given)
        except REFUSALS as refusal:
            _, *ways_out = str(refusal).split("\n")
            assert all(way.startswith("  ") for way in ways_out), (number, str(refusal))
            assert str(refusal), number
            continue
        except BaseException as error:
            raise AssertionError(f"call {number}: {given}") from error
        answers += 1
        try:
            check(chosen, given)
        except AssertionError as error:
            raise AssertionError(f"call {number}: {given}") from error
    print(f"{answers} of {CALLS} calls were answered")
    assert answers > CALLS / 4
