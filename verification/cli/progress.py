"""The progress bar of a run."""

from __future__ import annotations

from tqdm import tqdm

from verification.engine.trials import Batch


class Bar:
    """A progress bar that learns its length with the first step."""

    def __init__(self, quiet: bool) -> None:
        self._bar = tqdm(disable=quiet or None, dynamic_ncols=True, leave=False)

    def __enter__(self) -> Bar:
        """Show it."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Take it away."""
        self._bar.close()

    def expect(self, total: int, name: str) -> None:
        """Set the number of steps to come."""
        self._bar.total = total
        self._bar.set_description(name)

    def batch(self, batch: Batch, done: int, total: int) -> None:
        """Show that a batch is finished."""
        self._bar.total = total
        self._bar.set_description(batch.study, refresh=False)
        self._bar.update(done - self._bar.n)

    def step(self, name: str) -> None:
        """Show that one step is finished."""
        self._bar.set_description(name, refresh=False)
        self._bar.update()
