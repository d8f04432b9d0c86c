"""Numbers that arguments hold, checked."""

from __future__ import annotations

import secrets
from operator import index
from typing import Any

import numpy as np


def as_seed(seed: int | np.random.Generator | None) -> int:
    """The seed as a number."""
    if seed is None:
        return secrets.randbits(64)
    if isinstance(seed, np.random.Generator):
        return int(seed.integers(2**64, dtype=np.uint64))
    try:
        whole = int(seed)
    except (TypeError, ValueError, OverflowError):
        whole = -1
    if not 0 <= whole < 2**64 or whole != seed:
        raise ValueError(f"the seed {_shown(seed)} is neither an integer from 0 to 2**64 - 1 nor a numpy.random.Generator")
    return whole


def as_number(name: str, value: Any) -> float | None:
    """A number, if there is one."""
    if value is None:
        return None
    try:
        if isinstance(value, (bool, str, bytes, bytearray)):
            raise TypeError
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} is {_shown(value)}; it must be a number") from None


def _shown(value: Any) -> str:
    """A value in one line."""
    try:
        return " ".join(repr(value).split())
    except ValueError:
        # An integer of thousands of digits.
        return type(value).__name__


def as_count(name: str, value: Any) -> int:
    """A number of items or samples."""
    try:
        if isinstance(value, bool):
            raise TypeError
        whole = index(value)
    except TypeError:
        raise ValueError(f"{name} is {_shown(value)}; it must be a whole number") from None
    if not 0 <= whole < 2**32:
        raise ValueError(f"{name} is {_shown(whole)}; it must be from 0 to 2**32 - 1")
    return whole
