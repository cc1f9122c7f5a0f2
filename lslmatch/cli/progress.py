"""The line that tells a person at a terminal what a long run is doing, and how far it is."""

from __future__ import annotations

import contextlib
import math
import sys
import threading
import time
from types import TracebackType
from typing import TextIO

from lslmatch._jit import KERNELS, is_kept
from lslmatch._progress import listening
from lslmatch.cli.kernels import compilations

#: Loops whose parts take about the same time each, and the seconds after which that tells when they end.
_EVEN, _TELLING = ("rows seen", "blocks of rows seen"), 5.0


class Progress:
    """Show the stage, how far it is, and the seconds since the start, while the ``with`` block runs.

    Of loops whose parts take about the same time each, the seconds that are left are shown, too.

    Kernels that have to be compiled are announced as such. Nothing is written unless `stream` is a terminal
    and the run takes longer than `delay` seconds; the line is erased at the end. It is kept by a thread of
    its own, which can run because kernels release the interpreter lock. Elsewhere a line says once that
    kernels are compiled, if that takes longer than the delay.

    Parameters
    ----------
    stream : text stream, optional
        Where to write; standard error unless given.
    delay : float
        Seconds before the first line.
    announce : bool
        Whether that line is written where there is no terminal.
    """

    #: Seconds that were spent compiling.
    compiling: float

    def __init__(self, stream: TextIO | None = None, delay: float = 2.0, announce: bool = False) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._delay = delay
        self._announce = announce
        self.compiling = 0.0
        self._begun: list[float] = []
        self._stage = self._state = self._left = ""
        self._loop, self._began, self._first, self._last = "", 0.0, 0, 0
        self._compiled = self._to_compile = 0
        self._width = 0
        self._hearing = contextlib.ExitStack()
        self._finished = threading.Event()
        self._thread = threading.Thread(target=self._show, daemon=True)

    def stage(self, name: str) -> None:
        """Say what the run does from now on."""
        self._stage, self._state, self._left, self._loop = name, "", "", ""

    def __enter__(self) -> Progress:
        """Begin to show the line."""
        self._hearing.enter_context(compilations(self._hear_compilation))
        if self._stream.isatty():
            self._hearing.enter_context(listening(self._hear_loop))
            self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Erase the line."""
        self._hearing.close()
        self._finished.set()
        if self._thread.ident is not None:
            self._thread.join()
            self._rewrite("")

    def _show(self) -> None:
        start = time.monotonic()
        wait = self._delay
        while not self._finished.wait(wait):
            self._rewrite(f"{self._stage}{self._state}, {int(time.monotonic() - start)} s{self._left}")
            wait = 0.5

    def _hear_loop(self, what: str, done: int, total: int) -> None:
        self._state, self._left = f": {done:,} of {total:,} {what}", ""
        now = time.monotonic()
        if what != self._loop or done < self._last:
            self._loop, self._began, self._first = what, now, done
        self._last = done
        spent = now - self._began
        if what in _EVEN and done > self._first and spent >= _TELLING:
            left = spent * (total - done) / (done - self._first)
            self._left = f", about {math.ceil(left):,} s left"

    def _hear_compilation(self, kernel: str | None) -> None:
        self._left = ""
        if kernel is None:
            self._state = ""
            begun = self._begun.pop()
            if not self._begun:  # a kernel may compile another one
                self.compiling += time.monotonic() - begun
            if self._announce and not self._stream.isatty() and self.compiling > self._delay:
                self._announce = False
                print("lslmatch: compiling, once after an installation", file=self._stream, flush=True)
            return
        self._begun.append(time.monotonic())
        if not self._compiled:
            self._to_compile = sum(not is_kept(kernel) for kernel in KERNELS)
        self._compiled += 1
        most = max(self._to_compile, self._compiled)
        self._state = (
            f": compiling kernels, once after an installation, number {self._compiled} of at most {most}"
        )

    def _rewrite(self, line: str) -> None:
        # Blanks instead of an escape sequence, which not every terminal knows.
        if line or self._width:
            self._stream.write("\r" + " " * self._width + "\r" + line)
            self._stream.flush()
        self._width = len(line)
