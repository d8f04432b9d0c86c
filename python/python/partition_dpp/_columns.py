"""The batches of a table: which columns hold what, and the number of each batch."""

from __future__ import annotations

import hashlib
import io
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from . import _native
from ._arguments import as_number
from .streams import Batch, Representation

#: The column of numbers of rows.
ROW = "__row"


@dataclass(frozen=True)
class Columns:
    """The columns of a table, and how rows are compared."""

    #: The column of lists of numbers.
    embedding: str
    #: The column of labels, if there is a quota.
    label: str | None = None
    #: The column of scores; None without scores.
    score: str | None = None
    #: "cosine" or "dot".
    similarity: str = "cosine"
    #: The weight of diversity against scores, from 0 to 1.
    diversity: float = 0.5
    #: Other columns that `Draws.table` returns.
    keep: tuple[str, ...] = ()
    #: The rows that sets represent, in addition to being diverse: "parts" for the rest of every part, "all" for all rows.
    represent: str | None = None
    #: The exponent of `represent`, 1 by default. Larger values favour diversity less.
    representation: float | None = None

    def __post_init__(self) -> None:
        if self.similarity not in ("cosine", "dot"):
            raise ValueError(f'the similarity "{self.similarity}" is neither "cosine" nor "dot"')
        diversity = as_number("diversity", self.diversity)
        if self.score is not None and (diversity is None or not 0 < diversity <= 1):
            raise ValueError(f"the diversity is {self.diversity}; it must be above 0 and at most 1")
        if self.represent not in (None, "parts", "all"):
            raise ValueError(f'represent is "{self.represent}", neither "parts" nor "all"')
        rho = as_number("representation", self.representation)
        if rho is not None and self.represent is None:
            raise ValueError('representation is for represent, what sets stand for: "parts" or "all"')
        if rho is not None and not 0 <= rho < float("inf"):
            raise ValueError(f"representation is {self.representation}; it must be a number from 0 on")
        if not isinstance(self.keep, (tuple, list)) or not all(isinstance(name, str) for name in self.keep):
            kept = f'"{self.keep}"' if isinstance(self.keep, str) else repr(self.keep)
            raise ValueError(f"keep is {kept}; it must be a tuple of names")
        if taken := {"sample", ROW} & set(self.names()):
            raise ValueError(f"the column {taken.pop()} has the name of a column of the answer: rename it")

    def names(self) -> list[str]:
        """The columns that are read, by every pass, so that batches are the same."""
        named = (self.embedding, self.label, self.score, *self.keep)
        return list(dict.fromkeys(name for name in named if name is not None))

    def batch(self, table: pa.Table) -> Batch:
        """A batch of the table."""
        features = self.features(table)
        if self.score is not None:
            features = features.with_scores(_column(table, self.score), self.diversity)
        return Batch(self.number(table), features, self.labels(table))

    def features(self, table: pa.Table) -> _native.Features:
        """The rows of a batch, without scores."""
        features = _native.Features(_column(table, self.embedding))
        return features.with_unit_rows() if self.similarity == "cosine" else features

    def labels(self, table: pa.Table) -> pa.ChunkedArray | None:
        """The labels of a batch; None without labels."""
        return None if self.label is None else _column(table, self.label)

    def number(self, table: pa.Table) -> int:
        """The number of a batch, which follows from its rows: engines number none, and may read one again."""
        digest = _Digest()
        named = selected(table, self.names())
        plain = pa.schema([pa.field(field.name, _plain(field.type)) for field in named.schema])
        arrays = [_whole(column).cast(field.type) for column, field in zip(named.columns, plain)]
        with pa.ipc.new_stream(pa.PythonFile(digest, "w"), plain) as writer:
            writer.write_batch(pa.record_batch(arrays, schema=plain))
        return digest.number()


@dataclass(frozen=True)
class Unscored:
    """Rows as sums for a representation take them: without scores."""

    columns: Columns

    def batch(self, table: pa.Table) -> Batch:
        return Batch(self.number(table), self.columns.features(table), self.columns.labels(table))

    def number(self, table: pa.Table) -> int:
        return self.columns.number(table)


@dataclass(frozen=True)
class Represented:
    """Rows that stand for the rest."""

    columns: Columns
    maps: Representation

    def batch(self, table: pa.Table) -> Batch:
        return self.maps.batch(self.columns.batch(table))

    def number(self, table: pa.Table) -> int:
        return self.columns.number(table)


class _Digest(io.RawIOBase):
    """A file that keeps only a digest."""

    def __init__(self) -> None:
        self.state = hashlib.blake2b(digest_size=8)

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.state.update(data)
        return len(data)

    def number(self) -> int:
        # Engines have signed numbers of 64 bits.
        return int.from_bytes(self.state.digest(), "little") >> 1


def _plain(kind: pa.DataType) -> pa.DataType:
    """A type without the names and properties of its fields, which engines change."""
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(kind.value_type, kind.list_size)
    if pa.types.is_list(kind):
        return pa.list_(kind.value_type)
    return pa.large_list(kind.value_type) if pa.types.is_large_list(kind) else kind


def _whole(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks)


def _column(table: pa.Table, name: str) -> pa.ChunkedArray:
    return selected(table, [name]).column(0)


def selected(table: pa.Table, names: list[str]) -> pa.Table:
    """Some columns of a table, each once."""
    for name in names:
        if table.column_names.count(name) != 1:
            there = ", ".join(table.column_names)
            raise ValueError(f"there is no column {name}, or several; there are {there}")
    return table.select(names)
