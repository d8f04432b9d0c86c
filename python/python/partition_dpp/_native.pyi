from os import PathLike
from typing import final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import disjoint_base

from ._types import CountEntry, Engine, Items, Label, Labels, Method, Progress, Rows, Scores, Solver

__version__: str

def _command_line(arguments: list[str]) -> int:
    """Runs `pdpp`, once; the first argument is the name of the program. Returns the exit status."""

def _refuse_closed_output() -> int: ...

@final
class Features:
    """The feature matrix, one row per item; dot products of rows are the similarity."""

    def __new__(cls, rows: Rows | Features) -> Features:
        """Takes a NumPy array, Arrow lists or columns, or what NumPy makes an array of; float16, float32 and float64 in
        C order are not copied."""
    @classmethod
    def open_npy(cls, path: str | PathLike[str]) -> Features:
        """Opens a .npy file, whose values stay in it."""
    @classmethod
    def of_kernel(cls, kernel: Rows | Features) -> Features:
        """Takes the matrix of the similarities of all pairs of items, symmetric and positive semidefinite, up to rounding."""
    @property
    def items(self) -> int: ...
    @property
    def dims(self) -> int: ...
    @property
    def kernel_error(self) -> float | None:
        """The error of the features relative to the trace of the kernel that they stand for."""
    @property
    def has_scores(self) -> bool:
        """Whether rows are weighted by scores or log qualities, as the rows of core-sets may be."""
    def with_unit_rows(self) -> Features:
        """With rows divided by their lengths: dot products are cosines."""
    def with_scores(self, scores: Scores, diversity: float = 0.5) -> Features:
        """With rows weighted so that ln det of a set is (1 - diversity) / diversity * sum(scores) + ln det."""
    def with_log_quality(self, log_quality: Scores) -> Features:
        """With every row multiplied by e^(log quality)."""
    def rbf(
        self, bandwidth: float | None = None, landmarks: int | None = None, *, progress: Progress | None = None
    ) -> Features:
        """Features of the Gaussian kernel: of the whole kernel up to 512 items, by landmarks of more; see `kernel_error`."""
    def median_distance(self) -> float:
        """The median distance of 4095 pairs of rows: the default bandwidth of `rbf`."""
    def suggested_ridge(self) -> float:
        """A small ridge: a power of ten, at most a hundredth of the mean squared length of the first thousand rows."""
    def represent(
        self,
        labels: Labels | Partition | None = None,
        rho: float = 1.0,
        *,
        exclude: Items | None = None,
        progress: Progress | None = None,
    ) -> Features:
        """With rows that stand for the rest of their part, or of all items without labels: those which many others
        resemble are long, the more so the larger rho. Excluded items are not stood for. Scores come after."""
    def explained(self, items: Items, labels: Labels | Partition | None = None) -> tuple[float, dict[str, float]]:
        """The share of the squared length of all rows, and of the rows of every part, in the span of some items' rows."""
    def log_det(self, items: Items) -> float:
        """ln det of the similarity of some items: the more, the more diverse."""
    def __len__(self) -> int: ...

@final
class Partition:
    """The part of every item, one label each; parts are in the order of the labels."""

    def __new__(cls, labels: Labels | Partition) -> Partition: ...
    @property
    def names(self) -> list[str]: ...
    @property
    def labels(self) -> list[Label]:
        """The labels in their order, in their own type."""
    @property
    def sizes(self) -> list[int]: ...
    def part_of(self, item: int) -> Label: ...
    def __len__(self) -> int: ...

@final
class Quota:
    """How many items of every part."""

    def __new__(cls, partition: Partition, quota: CountEntry | Quota, k: int | None = None) -> Quota: ...
    @property
    def low(self) -> list[int]: ...
    @property
    def high(self) -> list[int]: ...
    @property
    def total(self) -> int | None: ...

@disjoint_base
class Model:
    """A law over subsets: what `PartitionDpp`, `KDpp` and `Dpp` share."""

    def sampler(
        self, method: Method = "auto", *, law_error: float | None = None, engine: Engine = "auto"
    ) -> Sampler:
        """Sets up a sampler, which then draws any number of subsets."""
    def inference(self, *, engine: Engine = "auto") -> Inference:
        """Computes ln Z, and prepares inclusion probabilities and probabilities of sets."""
    def solve(
        self,
        solver: Solver = "local-search",
        *,
        time_limit: float | None = None,
        certify: bool = False,
        engine: Engine = "auto",
        progress: Progress | None = None,
    ) -> Solution:
        """Searches for the most probable set; `certify` adds a proven bound of all others."""
    def top_scores(self, scores: Scores) -> Solution:
        """The items with the largest scores that the law allows; similarity is ignored."""
    def log_det(self, items: Items) -> float:
        """ln det of the law's kernel over some items."""
    def parts_of(self, items: Items) -> list[str] | None:
        """The names of the parts of some items, in the same order; None for a law without parts."""
    def _draw(
        self,
        count: int,
        seed: int,
        method: Method,
        law_error: float | None,
        engine: Engine,
        progress: Progress | None,
    ) -> tuple[list[NDArray[np.int64]], NDArray[np.float64], float, str, str]: ...

@final
class PartitionDpp(Model):
    """A DPP whose sets have exact counts, or counts within ranges, of every part."""

    def __new__(
        cls,
        features: Features | Rows,
        labels: Partition | Labels,
        quota: CountEntry | Quota,
        k: int | None = None,
        *,
        ridge: float | None = None,
        scores: Scores | None = None,
        diversity: float | None = None,
        include: Items | None = None,
        exclude: Items | None = None,
    ) -> PartitionDpp: ...

@final
class KDpp(Model):
    """A DPP whose sets have k items."""

    def __new__(
        cls,
        features: Features | Rows,
        k: int,
        *,
        ridge: float | None = None,
        scores: Scores | None = None,
        diversity: float | None = None,
        include: Items | None = None,
        exclude: Items | None = None,
    ) -> KDpp: ...

@final
class Dpp(Model):
    """A DPP whose sets have any size."""

    def __new__(
        cls,
        features: Features | Rows,
        *,
        ridge: float | None = None,
        scores: Scores | None = None,
        diversity: float | None = None,
        include: Items | None = None,
        exclude: Items | None = None,
    ) -> Dpp: ...

@final
class KernelModel:
    """Best sets of a kernel that is computed from pairs of items: exactly Gaussian, with a ridge, or to cover items."""

    def __new__(
        cls,
        features: Features | Rows,
        labels: Partition | Labels | None = None,
        quota: CountEntry | Quota | None = None,
        k: int | None = None,
        *,
        similarity: str = "rbf",
        bandwidth: float | None = None,
        ridge: float | None = None,
        scores: Scores | None = None,
        diversity: float | None = None,
        include: Items | None = None,
        exclude: Items | None = None,
    ) -> KernelModel: ...
    def solve(
        self,
        solver: Solver = "local-search",
        *,
        coverage: str | None = None,
        time_limit: float | None = None,
        progress: Progress | None = None,
    ) -> Solution: ...
    def explained(self, items: Items) -> tuple[float, dict[str, float] | None]:
        """The share of the similarity of all items, and of every part, that some items explain."""
    def ranking(self, items: Items) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Some items, the best first, and what each adds to ln det of those before it, with ridge and scores."""
    def scores_of(self, items: Items) -> NDArray[np.float64] | None:
        """The scores of some items, in the same order; None without scores."""
    def parts_of(self, items: Items) -> list[str] | None: ...

@final
class Design:
    """A D-optimal design problem: choose k distinct rows, at least as many as columns, that estimate a linear model in the
    columns best. A quota fixes how many come from each block."""

    def __new__(
        cls,
        features: Features | Rows,
        labels: Partition | Labels | None = None,
        quota: CountEntry | Quota | None = None,
        k: int | None = None,
        *,
        include: Items | None = None,
        exclude: Items | None = None,
    ) -> Design: ...
    def solve(
        self,
        solver: Solver = "exact",
        *,
        time_limit: float | None = None,
        engine: Engine = "auto",
        progress: Progress | None = None,
    ) -> Solution:
        """The best design, with a proof, or by "local-search" one that no exchange improves, with a bound."""
    def efficiency(self, items: Items, *, engine: Engine = "auto") -> tuple[float, float]:
        """Lower bounds of det(X'X) ** (1 / columns) of k rows as a fraction of the largest possible: of distinct rows under
        the quota, and of rows that may be repeated, without it."""
    def log_det(self, items: Items) -> float:
        """ln det(X'X) of some rows."""
    def parts_of(self, items: Items) -> list[str] | None: ...

@final
class Sampler:
    """A sampler of one law. Draw i depends on the seed and on i alone."""

    def sample(
        self, count: int = 1, *, seed: int = 0, first: int = 0, progress: Progress | None = None
    ) -> list[NDArray[np.int64]]:
        """Draws subsets number `first` to `first + count`, on all threads."""
    @property
    def law_error(self) -> float:
        """Estimated total variation error of the law."""
    @property
    def exactness(self) -> str:
        """"exact" or "estimated"."""
    @property
    def algorithm(self) -> str: ...
    @property
    def acceptance_bound(self) -> float:
        """A lower bound of the draws per proposal."""
    @property
    def engine(self) -> str: ...

@final
class Inference:
    """The probabilities of one law."""

    @property
    def log_z(self) -> float: ...
    @property
    def log_z_error(self) -> float: ...
    def log_probability(self, items: Items) -> float:
        """ln Pr(S); -inf for sets that the law excludes."""
    def log_probability_error(self, items: Items) -> float: ...
    def inclusion_probabilities(self) -> tuple[NDArray[np.float64], float]:
        """Pr(i in S) for every item, and the largest estimated error of any."""

@final
class Solution:
    """The best set that a solver found."""

    @property
    def indices(self) -> NDArray[np.int64]: ...
    @property
    def log_det(self) -> float: ...
    @property
    def coverage(self) -> float | None: ...
    @property
    def guarantee(self) -> float | None: ...
    @property
    def upper_bound(self) -> float | None: ...
    @property
    def gap(self) -> float | None: ...
    @property
    def missing(self) -> int: ...
    @property
    def termination(self) -> str: ...
    @property
    def engine(self) -> str: ...

class IllConditioned(ValueError):
    """Rounding makes the answer inaccurate: the rows are nearly dependent, or of very different lengths."""

@final
class Batch:
    """A batch of rows with their labels, and its number."""

    def __new__(cls, number: int, features: Features | Rows, labels: Partition | Labels | None = None) -> Batch: ...
    @classmethod
    def empty(cls, number: int) -> Batch: ...
    @property
    def number(self) -> int: ...
    def __len__(self) -> int: ...

@final
class Grams:
    """Sums over the rows of every part; `Grams()` of no rows."""

    def __new__(cls) -> Grams: ...
    @staticmethod
    def of_batch(batch: Batch, frame: Frame | None = None) -> Grams: ...
    def merge(self, other: Grams) -> Grams: ...
    def frame(self) -> Frame:
        """A frame in which sums are more accurate."""
    def _most(self, quota: CountEntry, k: int | None = None) -> int: ...
    @property
    def rows(self) -> int: ...
    @property
    def dims(self) -> int: ...
    @property
    def parts(self) -> dict[str, int]:
        """How many rows every part has."""
    def to_bytes(self) -> bytes: ...
    @staticmethod
    def from_bytes(bytes: bytes) -> Grams: ...

@final
class Frame:
    """Coordinates in which sums are more accurate."""

    def to_bytes(self) -> bytes: ...
    @staticmethod
    def from_bytes(bytes: bytes) -> Frame: ...

@final
class Representation:
    """Maps of rows, so that sets stand for the rest: made of sums over rows without scores."""

    @staticmethod
    def of_parts(grams: Grams, rho: float = 1.0) -> Representation: ...
    @staticmethod
    def of_all(grams: Grams, rho: float = 1.0) -> Representation: ...
    def batch(self, batch: Batch) -> Batch:
        """The batch with its rows mapped."""
    def to_bytes(self) -> bytes: ...
    @staticmethod
    def from_bytes(bytes: bytes) -> Representation: ...

@final
class Plan:
    """What the driver sends to the batches of a law: of a quota by label, of k items, or of sets of any size."""

    def __new__(cls, grams: Grams, quota: CountEntry | None = None, k: int | None = None) -> Plan: ...
    def total_leverage(self, batch: Batch) -> float:
        """How much a batch weighs: its share of all trials."""
    def split(self, totals: list[float], count: int, seed: int) -> list[int]:
        """How many of `count` trials every batch draws, given the totals of all."""
    def trials(self, batch: Batch, count: int, seed: int) -> Trials:
        """Independent draws of rows of a batch."""
    @property
    def parts(self) -> list[str]: ...
    @property
    def rows(self) -> int: ...
    @property
    def rank(self) -> int: ...
    @property
    def law_error(self) -> float: ...
    @property
    def wants_frame(self) -> bool: ...
    @property
    def expected_proposals(self) -> float: ...
    @property
    def expected_trials(self) -> float:
        """Trials per sample on average, known before drawing."""
    @property
    def trial_bytes(self) -> int: ...
    def to_bytes(self) -> bytes: ...
    @staticmethod
    def from_bytes(bytes: bytes) -> Plan: ...

@final
class Marginals:
    """ln Z, and what inclusion probabilities are of rows."""

    def __new__(cls, grams: Grams, quota: CountEntry | None = None, k: int | None = None) -> Marginals: ...
    def of_batch(self, batch: Batch) -> NDArray[np.float64]: ...
    @property
    def log_z(self) -> float: ...
    @property
    def log_z_error(self) -> float: ...
    @property
    def error(self) -> float: ...
    @property
    def wants_frame(self) -> bool: ...
    def to_bytes(self) -> bytes: ...
    @staticmethod
    def from_bytes(bytes: bytes) -> Marginals: ...

@final
class Trials:
    """Draws of rows."""

    @staticmethod
    def concatenate(lists: list[Trials]) -> Trials: ...
    def __len__(self) -> int: ...
    def to_bytes(self) -> bytes: ...
    @staticmethod
    def from_bytes(bytes: bytes) -> Trials: ...

@final
class StreamSampler:
    """Draws exact samples from a stream of trials."""

    def __new__(cls, plan: Plan, seed: int, request: int | None = None) -> StreamSampler: ...
    def step(
        self,
    ) -> tuple[tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.uint64]] | None, tuple[int, int] | None]:
        """The next sample, as arrays of batches, rows and parts; or, for want of trials, how many and with what seed."""
    def feed(self, trials: Trials) -> None:
        """Takes the trials that were asked for."""
    @property
    def proposals(self) -> int: ...
    @property
    def trials(self) -> int: ...

@final
class CoreSet:
    """A few rows of one batch, among which there is a good set."""

    @staticmethod
    def of_batch(batch: Batch, total: int) -> CoreSet: ...
    @staticmethod
    def union(core_sets: list[CoreSet]) -> CoreSetUnion: ...
    def to_bytes(self) -> bytes: ...
    @staticmethod
    def from_bytes(bytes: bytes) -> CoreSet: ...

@final
class CoreSetUnion:
    """The rows of several core-sets."""

    @property
    def features(self) -> Features: ...
    @property
    def partition(self) -> Partition: ...
    @property
    def origins(self) -> list[NDArray[np.uint64]]:
        """The batch of every item, and its row there."""
