"""Results of finished batches on disk, so that an interrupted run goes on where it stopped."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, TextIO

from verification.engine.files import naming, write_whole
from verification.engine.trials import Batch


class Checkpoint:
    """An append-only file with one line a finished batch.

    Parameters
    ----------
    path : Path
        The file; its directory is made if need be.
    key : dict
        What the results depend on. A file that was written under another key is not used.
    resume : bool
        Whether to keep what the file holds; otherwise it starts empty.
    read : callable
        Turns what ``to_json`` of a batch's record gave into the record again.
    """

    def __init__(
        self, path: Path, key: dict[str, Any], *, resume: bool, read: Callable[[dict[str, Any]], Any]
    ) -> None:
        self._path = path
        self._read_record = read
        self._key = json.loads(json.dumps(key))
        self.is_stale = False
        """Whether the file was written under another key."""
        self.finished = self._read() if resume else {}
        self._stream: TextIO | None = None

    def __enter__(self) -> Checkpoint:
        """Open the file."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        # Written anew, which also drops a line that an interruption left unfinished; and whole, so that
        # a run that is killed here, or finds the disk full, loses nothing.
        lines: list[dict[str, Any]] = [{"key": self._key}]
        lines += [{"batch": batch, "record": record.to_json()} for batch, record in self.finished.items()]
        write_whole(self._path, "".join(json.dumps(line) + "\n" for line in lines))
        self._stream = open(self._path, "a", encoding="ascii")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close the file."""
        if self._stream is not None:
            # Tries once more to write what a full disk did not take.
            with naming(self._path):
                self._stream.close()

    def add(self, batch: Batch, record: Any) -> None:
        """Store a finished batch; one that broke off is run again by the next run."""
        assert self._stream is not None, "a checkpoint is written inside its with block"
        self.finished[batch] = record
        if record.broken:
            return
        with naming(self._path):
            self._stream.write(json.dumps({"batch": batch, "record": record.to_json()}) + "\n")
            self._stream.flush()

    def _read(self) -> dict[Batch, Any]:
        finished: dict[Batch, Any] = {}
        if not self._path.is_file():
            return finished
        with open(self._path, encoding="ascii", errors="replace") as stream:
            for number, line in enumerate(stream):
                try:
                    record = json.loads(line)
                except ValueError:
                    break  # the line that was being written when the run stopped
                if number == 0:
                    if record.get("key") != self._key:
                        self.is_stale = True
                        return {}
                else:
                    finished[Batch(*record["batch"])] = self._read_record(record["record"])
        return finished
