"""What `select` is asked, and how it is answered."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, TypedDict

import numpy as np
from numpy.typing import NDArray

from ._native import Dpp, Features, KDpp, KernelModel, Model, Partition, PartitionDpp, Quota, Solution
from ._selection import Selection
from ._types import CountEntry, Engine, Items, Label, Progress, Scores, Solver


class Law(TypedDict):
    """The scores and conditions of all laws."""

    scores: Scores | None
    diversity: float | None
    include: Items | None
    exclude: Items | None


@dataclass(frozen=True)
class Question:
    """Rows, the sets that are allowed, and how rows are compared."""

    #: The rows as they are alike.
    alike: Features
    #: The same rows, longer where they represent others.
    features: Features
    labels: Partition | None
    quota: CountEntry | Quota | None
    k: int | None
    law: Law
    #: "rbf" for a Gaussian kernel that these rows are not features of, else "dot".
    similarity: Literal["dot", "rbf"]
    bandwidth: float | None
    landmarks: int | None
    ridge: float | None
    time_limit: float | None
    report: Progress | None

    def model(self) -> Model:
        """The law of features."""
        if self.quota is not None and self.labels is not None:
            return PartitionDpp(self.features, self.labels, self.quota, self.k, ridge=self.ridge, **self.law)
        if self.k is not None:
            return KDpp(self.features, self.k, ridge=self.ridge, **self.law)
        return Dpp(self.features, ridge=self.ridge, **self.law)

    @cached_property
    def pairs(self) -> KernelModel:
        """The kernel of pairs of items."""
        return KernelModel(self.features, self.labels, self.quota, self.k, similarity=self.similarity,
                           bandwidth=self.bandwidth, ridge=self.ridge, **self.law)

    def parts(self, items: NDArray[np.int64]) -> list[Label] | None:
        """The labels of items; None without labels."""
        labels = self.labels
        return None if labels is None else [labels.part_of(item) for item in items.tolist()]

    def explained(self, items: NDArray[np.int64], pairs: KernelModel | None = None) -> Explained:
        """How well items represent all rows, and the rows of every part: by their features, or by a kernel of pairs."""
        total, by_name = self.alike.explained(items, self.labels) if pairs is None else pairs.explained(items)
        if self.labels is None or by_name is None:
            return total, None
        return total, {label: by_name[name] for name, label in zip(self.labels.names, self.labels.labels)}

    def answered(self, found: Solution, explained: Explained) -> Selection:
        """What a solver found for this question."""
        answer = Selection(
            found.indices, [found.indices], np.array([found.log_det]), self.parts(found.indices),
            exactness="optimal" if found.termination == "optimal" else "heuristic",
            upper_bound=found.upper_bound, termination=found.termination, kernel_error=self.features.kernel_error,
            engine=found.engine, explained=explained[0], explained_by_part=explained[1], coverage=found.coverage,
            guarantee=found.guarantee,
        )
        return self.ranked(answer)

    def ranked(self, answer: Selection) -> Selection:
        """With the items ranked, and the scores and the ln det of the similarity apart."""
        if answer.coverage is None:
            ranking, gains = self.pairs.ranking(answer.indices)
            answer = replace(answer, ranking=ranking, gains=gains)
        scores = self.pairs.scores_of(answer.indices)
        if scores is None:
            return replace(answer, plain_log_det=answer.log_det)
        diversity = 0.5 if self.law["diversity"] is None else self.law["diversity"]
        score = float(scores.sum())
        return replace(answer, score=score, plain_log_det=answer.log_det - (1 - diversity) / diversity * score)


Explained = tuple[float | None, dict[Label, float] | None]


def best(question: Question, solver: Solver | None, certify: bool, engine: Engine) -> Selection:
    """The best set: of pairs of items where the kernel has no features, or too many."""
    is_rbf = question.similarity == "rbf"
    by_pairs = solver in (None, "local-search", "greedy") and not certify and question.landmarks is None
    if question.law["scores"] is not None and question.law["diversity"] == 0:
        return _of_top_scores(question, question.law["scores"])
    pairs = None
    if question.ridge is not None or is_rbf and by_pairs:
        if not by_pairs:
            raise ValueError('a ridge takes the solvers "local-search" and "greedy", without certify or landmarks')
        if engine == "gpu":
            raise ValueError("a kernel of pairs of items is computed on the CPU: leave out the engine")
        pairs = question.pairs
        found = pairs.solve(solver or "local-search", time_limit=question.time_limit, progress=question.report)
    else:
        if is_rbf:
            rows = question.features.rbf(question.bandwidth, question.landmarks, progress=question.report)
            question = replace(question, alike=rows, features=rows)
        found = question.model().solve(solver or "local-search", time_limit=question.time_limit, certify=certify,
                                       engine=engine, progress=question.report)
    if found.missing:
        asked = len(found.indices) + found.missing
        raise ValueError(f"only {len(found.indices)} of {asked} items were found ({found.termination}): all others "
                         "depend on those chosen")
    return question.answered(found, question.explained(found.indices, pairs if is_rbf else None))


def _of_top_scores(question: Question, scores: Scores) -> Selection:
    """The set with the best scores."""
    law: Law = {**question.law, "scores": None, "diversity": None}
    unscored = replace(question, law=law)
    found = unscored.model().top_scores(scores)
    is_rbf = question.similarity == "rbf"
    answer = unscored.answered(found, (None, None) if is_rbf else question.explained(found.indices))
    if is_rbf and answer.gains is not None:
        # Rows know nothing of this kernel.
        log_det = float(answer.gains.sum())
        answer = replace(answer, log_dets=np.array([log_det]), plain_log_det=log_det)
    own = question.pairs.scores_of(found.indices)
    assert own is not None
    order = np.argsort(-own, kind="stable")
    return replace(answer, ranking=found.indices[order], gains=own[order], score=float(own.sum()))


def covering(question: Question, coverage: Literal["parts", "all"] | None) -> Selection:
    """A set that covers all items."""
    rows = question.features
    if question.similarity == "rbf":
        bandwidth = rows.median_distance() / 3 if question.bandwidth is None else question.bandwidth
        question = replace(question, bandwidth=bandwidth)
        if question.landmarks is not None:
            rows = rows.rbf(bandwidth, question.landmarks, progress=question.report)
            question = replace(question, features=rows, similarity="dot", bandwidth=None)
    found = question.pairs.solve("coverage", coverage=coverage, time_limit=question.time_limit, progress=question.report)
    return question.answered(found, question.explained(found.indices, question.pairs))
