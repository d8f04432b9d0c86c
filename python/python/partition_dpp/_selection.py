"""What `select` chose."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ._types import Label


@dataclass(frozen=True, eq=False)
class Selection:
    """What `select` chose."""

    #: The chosen items, ascending; of several samples, the first.
    indices: NDArray[np.int64]
    #: All samples, in the order of their numbers; one for a best set.
    samples: list[NDArray[np.int64]]
    #: For each of `samples`, ln det of its similarity plus what the scores add.
    log_dets: NDArray[np.float64]
    #: The label of each of `indices`; None without labels.
    parts: list[Label] | None
    #: Of samples "exact" or "estimated" (the law is off by an estimated error); of a best set "optimal" (by these
    #: features, the `log_det` of no other set is larger by more than 1e-9 or rounding; `gap` is what is proven) or "heuristic" (the
    #: best that was found).
    exactness: str
    #: How far the law that was drawn from is from the exact one, in total variation; None for a best set.
    law_error: float | None = None
    #: The items of `indices`, best first: each adds the most to the `log_det` of those before it. With a diversity of 0,
    #: they are sorted by score. None for the solver "coverage".
    ranking: NDArray[np.int64] | None = None
    #: How much each item of `ranking` adds. The sum is `log_det`, or `score` with a diversity of 0.
    gains: NDArray[np.float64] | None = None
    #: The sum of the scores of `indices`; None without scores.
    score: float | None = None
    #: ln det of the similarity of `indices` alone: `log_det` without the scores.
    plain_log_det: float | None = None
    #: For a best set, a proven bound of every other set's `log_det`, if it was asked for.
    upper_bound: float | None = None
    #: For a best set, why the search ended.
    termination: str | None = None
    #: The error of the features relative to the trace of the "rbf" or precomputed kernel, with rounding; None without
    #: such features. Above 1e-12 the kernel is approximate, and all else is about the approximate kernel.
    kernel_error: float | None = None
    #: "cpu", or the adapter that computed.
    engine: str = "cpu"
    #: The seed of the samples, also if it came from a generator or the system; None for a best set.
    seed: int | None = None
    #: How well `indices` stand for all items: the share of the squared length of all rows that lies in the span of theirs.
    #: None for the top scores by the "rbf" kernel.
    explained: float | None = None
    #: The same for the rows of every part, by label; None without labels.
    explained_by_part: dict[Label, float] | None = None
    #: Of the solver "coverage", the sum over all items of their similarity to the most similar of `indices`.
    coverage: float | None = None
    #: Of the solver "coverage", the proven fraction of the most that any set reaches; None where scores are negative.
    guarantee: float | None = None

    @property
    def log_det(self) -> float:
        """ln det of the similarity of `indices` plus what the scores add."""
        return float(self.log_dets[0])

    @property
    def counts(self) -> dict[Label, int]:
        """How many items of every part were chosen."""
        by_label = Counter(self.parts or []).items()
        return dict(sorted(by_label, key=lambda entry: (isinstance(entry[0], str), entry[0])))

    @property
    def gap(self) -> float | None:
        """By how much the `log_det` of another set could be larger: more is proven impossible."""
        return None if self.upper_bound is None else self.upper_bound - self.log_det

    def __len__(self) -> int:
        return len(self.indices)

    def __getitem__(self, place: Any) -> Any:
        return self.indices[place]

    def __repr__(self) -> str:
        return f"<Selection {self.indices.tolist()} with {self._summary()}>"

    def _summary(self) -> str:
        many = f", {len(self.samples)} samples" if len(self.samples) > 1 else ""
        approximate = self.kernel_error is not None and self.kernel_error > 1e-12
        kernel = f" for the approximate kernel (relative error {self.kernel_error:.0e})" if approximate else ""
        worth = f"ln det {self.log_det:.6g}" if self.coverage is None else f"coverage {self.coverage:.6g}"
        return f"{worth}, {self.exactness}{kernel}{many}"

    def _repr_html_(self) -> str:
        """A table of the chosen items for notebooks, with what is known about them above it."""
        columns = {"item": self.tolist()} | ({"label": self.parts} if self.parts else {})
        head = "".join(f"<th>{name}</th>" for name in columns)
        rows = ("".join(f"<td>{escape(str(entry))}</td>" for entry in row) for row in zip(*columns.values()))
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        return f"<p>{escape(self._summary())}</p><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def __iter__(self) -> Iterator[int]:
        return iter(self.tolist())

    def tolist(self) -> list[int]:
        """The chosen items as a list."""
        items: list[int] = self.indices.tolist()
        return items

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        array = self.indices.astype(dtype or self.indices.dtype, copy=False)
        return array.copy() if copy else array
