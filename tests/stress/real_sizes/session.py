"""Inputs in processes of their own, watched from outside, so that crashes and hangs are findings, too."""

import contextlib
import multiprocessing
import multiprocessing.connection
import signal
import time

import numpy as np

from tests.stress.real_sizes.cases import draw_kinds
from tests.stress.real_sizes.trying import Outcome, case_of, try_index

#: Seconds that a process may take until it begins its first input.
_START = 300.0


def try_inputs(seed, indices, kind, attempt, connection):
    """Try inputs in turn, and tell of each before and after; those of other kinds are passed over."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the session ends its processes itself
    for index in indices:
        if kind is None or kind in draw_kinds(np.random.default_rng([seed, index])):
            connection.send(index)
            connection.send(attempt(seed, index))
    connection.send(None)


class _Worker:
    """A process with its share of the indices; it is replaced when it crashes or hangs."""

    def __init__(self, seed, indices, kind, limit, attempt):
        self._seed, self._indices, self._kind = seed, indices, kind
        self._limit, self._attempt = limit, attempt
        self._start()

    def _start(self):
        context = multiprocessing.get_context("spawn")
        self.connection, far = context.Pipe(duplex=False)
        arguments = self._seed, self._indices, self._kind, self._attempt, far
        self._process = context.Process(target=try_inputs, args=arguments, daemon=True)
        self._process.start()
        far.close()
        self._index, self._begun, self.is_done = None, time.monotonic(), False

    def end(self):
        """End the process."""
        self._process.kill()
        self._process.join()
        self.connection.close()
        self.is_done = True

    def outcomes(self):
        """Yield what became of inputs since the last call."""
        try:
            while not self.is_done and self.connection.poll():
                message = self.connection.recv()
                self._begun = time.monotonic()
                if message is None:
                    self.end()
                elif isinstance(message, Outcome):
                    self._index = None
                    yield message
                else:
                    self._index = message
        except EOFError:
            self._process.join()
            yield from self._go_on_after("crash", f"exit code {self._process.exitcode}")
        seconds = time.monotonic() - self._begun
        if not self.is_done and seconds > (_START if self._index is None else self._limit):
            yield from self._go_on_after("hang", f"not done after {self._limit:g} s")

    def _go_on_after(self, what, words):
        index, seconds = self._index, time.monotonic() - self._begun
        self.end()
        if index is None:
            raise RuntimeError(f"a process ended between two inputs ({what}, {words})")
        case = case_of(self._seed, index)
        pairs = len(case.x) * len(case.y)
        yield Outcome(index, case.kind, case.size, pairs, what, words, str(case), seconds)
        self._indices = self._indices[self._indices.index(index) + 1 :]
        self._start()


def outcomes(seed, count, *, kind=None, workers=1, limit=60.0, seconds=np.inf, attempt=try_index):
    """Try the first inputs of a seed and yield what became of them, until the time is over."""
    stop = time.monotonic() + seconds
    with contextlib.ExitStack() as stack:
        team = []
        for start in range(workers):
            team.append(_Worker(seed, range(start, count, workers), kind, limit, attempt))
            stack.callback(team[-1].end)
        while time.monotonic() < stop:
            at_work = [worker for worker in team if not worker.is_done]
            if not at_work:
                return
            multiprocessing.connection.wait([worker.connection for worker in at_work], timeout=1.0)
            for worker in at_work:
                yield from worker.outcomes()
