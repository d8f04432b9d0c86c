"""Progress of long work."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ._types import Progress


@contextmanager
def reporting(progress: bool | Progress | None, draws: int) -> Iterator[Progress | None]:
    """The function to call with (step, steps, seconds): a callable as it is, or a bar if tqdm is installed."""
    if progress is None or progress is False:
        yield None
        return
    if callable(progress):
        yield progress
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        yield None
        return
    with tqdm(unit="", leave=False) as bar:
        yield _Bar(bar, draws)


class _Bar:
    """A bar of tqdm that begins again at every kind of steps."""

    def __init__(self, bar: Any, draws: int) -> None:
        self.bar, self.draws = bar, draws
        self.step: str | None = None

    def __call__(self, step: str, steps: int, seconds: float) -> None:
        if step != self.step or steps < self.bar.n:
            self.step = step
            self.bar.reset(total=self.draws if step == "draws" else None)
            self.bar.set_description(step)
        self.bar.update(steps - self.bar.n)
