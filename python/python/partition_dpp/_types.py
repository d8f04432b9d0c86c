"""The types of arguments, for type checkers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Protocol

from numpy.typing import ArrayLike


class ArrowArray(Protocol):
    """An array of Arrow, of any library."""

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...


class ArrowStream(Protocol):
    """A chunked array, or a table, of Arrow."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


Rows = ArrayLike | ArrowArray | ArrowStream
Labels = ArrayLike | ArrowArray | ArrowStream
#: The label of a part.
Label = str | int | bool
Scores = ArrayLike | ArrowArray | ArrowStream
#: Item numbers, or one truth value per item.
Items = ArrayLike
#: A number, a pair (low, high) with both ends included, or a range.
Count = int | tuple[int | None, int | None] | range
CountEntry = Mapping[Any, Count] | Sequence[Count] | Literal["equal", "proportional"]
Engine = Literal["auto", "cpu", "gpu"]
Method = Literal["auto", "rejection", "interpolation", "per-candidate", "estimated"]
Solver = Literal["local-search", "greedy", "exact", "symmetric-greedy", "softmax", "coverage"]
Similarity = Literal["cosine", "dot", "rbf", "precomputed"]
Progress = Callable[[str, int, float], object]
