"""D-optimal designs."""

import itertools

import numpy as np
import partition_dpp as pdpp
import pytest

ROWS = np.random.default_rng(3).normal(size=(10, 3))
BLOCKS = np.repeat(["first", "second"], 5)


def best(k, allowed=lambda rows: True):
    """The largest ln det X'X of k rows, by enumeration."""
    sets = (list(rows) for rows in itertools.combinations(range(10), k) if allowed(rows))
    return max(np.linalg.slogdet(ROWS[rows].T @ ROWS[rows])[1] for rows in sets)


@pytest.mark.parametrize("k", [3, 5, 8])
def test_the_best_rows_are_proven(k):
    design = pdpp.Design(ROWS, k=k)
    found = design.solve()
    assert found.termination == "optimal" and found.gap < 1e-8
    assert found.log_det == pytest.approx(best(k)) == pytest.approx(design.log_det(found.indices))
    distinct, repeated = design.efficiency(found.indices)
    assert 0 < repeated <= distinct + 1e-9 and distinct <= 1
    assert design.solve("local-search").log_det <= found.log_det + 1e-9


def test_blocks_and_given_rows():
    design = pdpp.Design(ROWS, BLOCKS, {"first": 2, "second": (2, 3)}, k=5, include=[0], exclude=[9])
    found = design.solve()
    expected = best(5, lambda rows: 0 in rows and 9 not in rows and sum(row < 5 for row in rows) == 2)
    assert found.log_det == pytest.approx(expected)
    assert design.parts_of(found.indices).count("first") == 2
    assert repr(design) == "<Design: 5 of 10 rows, 3 columns>"


@pytest.mark.parametrize(
    "arguments, words",
    [
        ({"k": 2}, "3 coefficients"),
        ({"labels": BLOCKS, "k": 4}, "labels with a quota"),
        ({}, "labels with a quota"),
        ({"k": 4, "include": [3, 3]}, "3"),
    ],
)
def test_what_is_no_design_is_refused(arguments, words):
    with pytest.raises(ValueError, match=words):
        pdpp.Design(ROWS, **arguments)


def test_other_solvers_are_refused():
    with pytest.raises(ValueError, match="local-search"):
        pdpp.Design(ROWS, k=4).solve("greedy")


def test_an_efficiency_is_that_of_a_design():
    with pytest.raises(ValueError, match="4 rows"):
        pdpp.Design(ROWS, k=4).efficiency([0, 1, 2, 3, 4])
