"""Exact samples of rows that a cluster holds: two or three maps over Arrow batches and one reduction.

`Distributed` works on every engine that can map a function over the batches of a table. For Ray, Spark and Dask
`partition_dpp.ray`, `partition_dpp.spark` and `partition_dpp.dask` say how:

    import ray
    from partition_dpp.distributed import Columns, Distributed
    from partition_dpp.ray import over

    columns = Columns("embedding", label="class", keep=("url",))
    photos = Distributed(over(ray.data.read_parquet("photos/")), columns)
    drawn = photos.sample(quota={"cat": 5, "dog": 5}, n_samples=10, seed=1)
    drawn.table()  # the chosen rows, a pyarrow.Table

The driver holds sums over the rows, and some draws of rows: a few numbers for every batch, none for every row. The law
is that of `partition_dpp.select` on all rows at once, whatever the batches. The same batches, seed and number of samples
give the same samples.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial, wraps
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from . import _native
from ._columns import ROW, Columns, Represented, Unscored, selected
from ._arguments import as_count, as_seed
from ._types import CountEntry, Solver
from .streams import (
    CoreSet,
    Frame,
    Grams,
    IllConditioned,
    Marginals,
    Plan,
    Representation,
    StreamSampler,
    Trials,
)

#: The columns that functions of batches return, at most one row: the number of the batch and the result.
ANSWER = pa.schema([("batch", pa.int64()), ("payload", pa.binary())])
#: The most bytes of trials that the driver holds, in their packed form.
LARGEST_REQUEST = 32 << 20

Function = Callable[[pa.Table], pa.Table]
Made = TypeVar("Made", Plan, Marginals)
#: Maps a function over all batches of a table, with these columns, and yields its answers; batches and their order are
#: the same every time.
Run = Callable[[Function, list[str]], Iterable[pa.Table]]


def _answers(function: Callable[..., bytes | None]) -> Callable[..., pa.Table]:
    """A function of a batch as engines run it: on any table of Arrow, with an answer that is a table. `columns` say how
    batches are made of tables.
    """

    @wraps(function)
    def on_table(table: pa.Table | pa.RecordBatch, columns: Columns, **arguments: Any) -> pa.Table:
        if isinstance(table, pa.RecordBatch):
            table = pa.Table.from_batches([table])
        payload = function(table, columns, **arguments) if table.num_rows > 0 else None
        if payload is None:
            return ANSWER.empty_table()
        return pa.Table.from_pydict({"batch": [columns.number(table)], "payload": [payload]}, ANSWER)

    return on_table


@_answers
def grams(table: pa.Table, columns: Columns, frame: Frame | None = None) -> bytes:
    """Sums over the rows of a batch."""
    return Grams.of_batch(columns.batch(table), frame).to_bytes()


@_answers
def totals(table: pa.Table, columns: Columns, plan: Plan) -> bytes:
    """How much a batch weighs: its share of all trials."""
    return np.float64(plan.total_leverage(columns.batch(table))).tobytes()


@_answers
def trials(table: pa.Table, columns: Columns, plan: Plan, counts: dict[int, int], seed: int) -> bytes | None:
    """A batch's share of the trials that are asked for. The same seed draws the same, also when it is computed again."""
    count = counts.get(columns.number(table), 0)
    return plan.trials(columns.batch(table), count, seed).to_bytes() if count > 0 else None


@_answers
def marginals(table: pa.Table, columns: Columns, found: Marginals) -> bytes:
    """The inclusion probability of every row of a batch."""
    return found.of_batch(columns.batch(table)).tobytes()


@_answers
def core_set(table: pa.Table, columns: Columns, total: int) -> bytes:
    """A few rows of a batch, among which there is a good set."""
    return CoreSet.of_batch(columns.batch(table), total).to_bytes()


@_answers
def rows(table: pa.Table, columns: Columns, chosen: dict[int, list[int]]) -> bytes | None:
    """The chosen rows of a batch, and their numbers."""
    own = chosen.get(columns.number(table))
    if own is None:
        return None
    sink = io.BytesIO()
    taken = table.take(pa.array(own, pa.int64())).append_column(ROW, pa.array(own, pa.int64()))
    with pa.ipc.new_stream(sink, taken.schema) as writer:
        writer.write_table(taken)
    return sink.getvalue()


class Distributed:
    """A table whose rows an engine holds, to sample from.

    Parameters
    ----------
    run
        How the engine maps a function over the batches: `partition_dpp.ray.over(dataset)`,
        `partition_dpp.spark.over(frame)`, `partition_dpp.dask.over(frame)`, `in_process(tables)`, or another `Run`.
    columns
        Which columns hold what.

    Examples
    --------
    >>> import numpy as np, pyarrow as pa
    >>> from partition_dpp.distributed import Columns, Distributed, in_process
    >>> rng = np.random.default_rng(0)
    >>> def shard(first):
    ...     numbers = pa.array(rng.normal(size=800))
    ...     embedding = pa.FixedSizeListArray.from_arrays(numbers, 8)
    ...     return pa.table({"id": range(first, first + 100), "embedding": embedding, "kind": ["a", "b"] * 50})
    >>> shards = [shard(first) for first in (0, 100, 200)]
    >>> catalogue = Distributed(in_process(shards), Columns("embedding", label="kind", keep=("id",)))
    >>> drawn = catalogue.sample(quota={"a": 2, "b": 1}, n_samples=4, seed=1)
    >>> drawn.parts[0]
    ['a', 'a', 'b']
    >>> drawn.table().column_names, drawn.table().num_rows
    (['sample', 'embedding', 'kind', 'id'], 12)
    """

    def __init__(self, run: Run, columns: Columns) -> None:
        self.run, self.columns = run, columns
        self._grams: Grams | None = None
        self._represented: Represented | None = None

    def grams(self, frame: Frame | None = None) -> Grams:
        """The sums over all rows; one pass, the first time."""
        if frame is None and self._grams is not None:
            return self._grams
        merged = self._sums(self._rows(), frame)
        if frame is None:
            self._grams = merged
        return merged

    def _sums(self, rows: Columns | Unscored | Represented, frame: Frame | None = None) -> Grams:
        merged = Grams()
        for _, payload in self._map(partial(grams, columns=rows, frame=frame)):
            merged = merged.merge(Grams.from_bytes(payload))
        return merged

    def _rows(self) -> Columns | Represented:
        """How batches are made of tables; with `represent`, after a pass of sums the first time."""
        represent = self.columns.represent
        if represent is None:
            return self.columns
        if self._represented is None:
            sums = self._sums(Unscored(self.columns))
            make = Representation.of_parts if represent == "parts" else Representation.of_all
            rho = self.columns.representation
            self._represented = Represented(self.columns, make(sums, 1.0 if rho is None else rho))
        return self._represented

    def plan(self, *, quota: CountEntry | None = None, k: int | None = None) -> Plan:
        """The plan of a law: exact counts or ranges by label, k items, or any number of items.

        Nearly dependent rows take a second pass of sums, in a frame where these are more accurate.
        """
        return self._accurate(lambda sums: Plan(sums, quota, k), lambda plan: plan.law_error)

    def marginals(
        self, *, quota: CountEntry | None = None, k: int | None = None
    ) -> Iterator[tuple[int, np.ndarray]]:
        """The inclusion probability of every row, batch by batch in the order of `run`: one more pass, 8 bytes a row.

        Yields the number of the batch, and the probabilities of its rows in their order.
        """
        found = self._accurate(lambda sums: Marginals(sums, quota, k), lambda found: found.error)
        for number, payload in self._map(partial(marginals, columns=self._rows(), found=found)):
            yield number, np.frombuffer(payload, np.float64)

    def best(
        self,
        *,
        quota: CountEntry | None = None,
        k: int | None = None,
        solver: Solver = "local-search",
        time_limit: float | None = None,
    ) -> Draws:
        """A very diverse set: sums and a core-set of every batch (a pass each), then the best set of their union.

        Of every part a batch sends at most as many rows as a set has items, so the driver holds some of every batch. The
        best set of the union is close to that of all rows: within a factor of (2k)^(2k) in theory, a few percent in
        practice.
        """
        k = None if k is None else as_count("k", k)
        if quota is not None:
            total = self.grams()._most(quota, k)
        elif k is not None:
            total = k
        else:
            raise ValueError("the best set of a table needs a quota or k, the number of items")
        names = sorted(self.grams().parts)
        answers = self._map(partial(core_set, columns=self._rows(), total=total))
        union = CoreSet.union([CoreSet.from_bytes(payload) for _, payload in answers])
        model: _native.Model
        if quota is None:
            model = _native.KDpp(union.features, total)
        else:
            model = _native.PartitionDpp(union.features, union.partition, quota, k)
        found = model.solve(solver, time_limit=time_limit)
        if found.missing:
            raise ValueError(f"only {len(found.indices)} of {len(found.indices) + found.missing} items were found: all "
                             "others depend on those chosen")
        batches, numbers = union.origins
        parts = np.array([names.index(str(union.partition.part_of(item))) for item in found.indices], np.uint64)
        sample = (batches[found.indices], numbers[found.indices], parts)
        return Draws(self, names, [sample], log_det=found.log_det)

    def _accurate(self, make: Callable[[Grams], Made], error: Callable[[Made], float]) -> Made:
        """Makes the result from the sums. If rounding makes it inaccurate, sums in a frame, which takes another pass."""
        sums = self.grams()
        first: Made | None = None
        failed: ValueError | None = None
        try:
            first = make(sums)
            if not first.wants_frame:
                return first
        except ValueError as refused:
            # Directions that rounding has lost count as missing.
            if not getattr(refused, "wants_frame", False):
                raise
            failed = refused
        framed = self.grams(sums.frame())
        try:
            second = make(framed)
        except ValueError:
            if first is not None:
                return first
            # The rows lack rank, and what rounding makes up for it is noise.
            if failed is not None and not isinstance(failed, IllConditioned):
                raise failed from None
            raise
        return first if first is not None and error(first) <= error(second) else second

    def sample(
        self, *, quota: CountEntry | None = None, k: int | None = None, n_samples: int = 1, seed: int = 0
    ) -> Draws:
        """Draws exact samples: a pass of totals, and one of trials for every 32 MB of them.

        Parameters
        ----------
        quota
            A dictionary by label, of numbers, pairs (low, high) or ranges; with k the total.
        k
            Number of items in all.
        n_samples, seed
            Number of samples and the seed of their random numbers. Other numbers of samples give other samples, since
            trials come for all at once.
        """
        wanted, seed = as_count("n_samples", n_samples), as_seed(seed)
        if not wanted:
            raise ValueError(f"n_samples is {wanted}; it must be at least 1")
        plan = self.plan(quota=quota, k=k)
        numbers, weights = self._totals(plan)
        sampler = StreamSampler(plan, seed, _request(plan, wanted))
        drawn: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        while len(drawn) < wanted:
            sample, request = sampler.step()
            if sample is not None:
                drawn.append(sample)
            elif request is not None:
                count, own_seed = request
                sampler.feed(self._trials(plan, numbers, weights, count, own_seed))
        return Draws(self, plan.parts, drawn, plan.law_error, sampler.trials, sampler.proposals)

    def _totals(self, plan: Plan) -> tuple[list[int], list[float]]:
        answers = self._map(partial(totals, columns=self._rows(), plan=plan))
        found = {number: float(np.frombuffer(payload, np.float64)[0]) for number, payload in answers}
        numbers = sorted(found)
        return numbers, [found[number] for number in numbers]

    def _trials(self, plan: Plan, numbers: list[int], weights: list[float], count: int, seed: int) -> Trials:
        shares = plan.split(weights, count, seed)
        counts = {number: share for number, share in zip(numbers, shares) if share > 0}
        answers = self._map(partial(trials, columns=self._rows(), plan=plan, counts=counts, seed=seed))
        return Trials.concatenate([Trials.from_bytes(payload) for _, payload in answers])

    def _map(self, function: Function) -> Iterator[tuple[int, bytes]]:
        seen: set[int] = set()
        for answer in self.run(function, self.columns.names()):
            for number, payload in zip(answer["batch"].to_pylist(), answer["payload"].to_pylist()):
                if number in seen:
                    raise ValueError("two batches hold the same rows: leave one of them out")
                seen.add(number)
                yield number, payload


def _request(plan: Plan, n_samples: int) -> int:
    """Enough for all samples, mostly, within the driver's memory. It depends on nothing that is drawn."""
    wanted = plan.expected_trials * n_samples * 1.1 + 64
    return max(64, int(min(wanted, LARGEST_REQUEST / plan.trial_bytes)))


@dataclass(frozen=True, eq=False)
class Draws:
    """Samples, as numbers of batches and rows; `table` fetches the rows themselves."""

    source: Distributed
    #: The labels there are, as text.
    names: list[str]
    #: For every sample the batch, the row there and the label (by its place in `names`) of its items.
    samples: list[tuple[np.ndarray, np.ndarray, np.ndarray]]
    #: How far the law that was drawn from is from the exact one, in total variation; None for a best set.
    law_error: float | None = None
    #: Trials used, and proposals made.
    trials: int = 0
    proposals: int = 0
    #: ln det of a best set.
    log_det: float | None = None

    @property
    def parts(self) -> list[list[str]]:
        """The labels of the items of every sample."""
        return [[self.names[part] for part in parts] for _, _, parts in self.samples]

    def table(self) -> pa.Table:
        """The chosen rows, after the number of their sample; one pass."""
        chosen: dict[int, set[int]] = {}
        for batches, numbers, _ in self.samples:
            for batch, row in zip(batches.tolist(), numbers.tolist()):
                chosen.setdefault(batch, set()).add(row)
        wanted = {batch: sorted(own) for batch, own in chosen.items()}
        found: list[pa.Table] = []
        at: dict[tuple[int, int], int] = {}
        for number, payload in self.source._map(partial(rows, columns=self.source.columns, chosen=wanted)):
            table = pa.ipc.open_stream(payload).read_all()
            before = sum(len(other) for other in found)
            at.update({(number, row): before + place for place, row in enumerate(table[ROW].to_pylist())})
            found.append(table.drop_columns(ROW))
        places, sample = [], []
        for i, (batches, numbers, _) in enumerate(self.samples):
            for key in zip(batches.tolist(), numbers.tolist()):
                if key not in at:
                    raise ValueError("the batches differ from the batches of the samples: the table has changed")
                places.append(at[key])
                sample.append(i)
        if not found:
            return pa.table({"sample": pa.array([], pa.int64())})
        # A column may be empty in one batch, and of another width in the next.
        taken = pa.concat_tables(found, promote_options="permissive").take(pa.array(places, pa.int64()))
        return taken.add_column(0, "sample", pa.array(sample, pa.int64()))


def in_process(tables: Iterable[pa.Table] | pa.Table) -> Run:
    """Batches of this process, or a table of one, for tests and small stores."""
    tables = [tables] if isinstance(tables, (pa.Table, pa.RecordBatch)) else list(tables)

    def run(function: Function, columns: list[str]) -> Iterator[pa.Table]:
        for table in tables:
            yield function(selected(table, columns))

    return run
