"""Data that tests share."""

import numpy as np
import pytest


@pytest.fixture
def rows():
    return np.random.default_rng(7).normal(size=(60, 6))


@pytest.fixture
def labels():
    return np.array(["cat", "dog", "owl"] * 20)
