"""One target in a process of its own, watched from outside, so that crashes and hangs are caught too."""

import multiprocessing
import time
import warnings

from lslmatch import AlignmentWarning
from tests.stress.fuzz.engines import ENGINES, MOST_BYTES
from tests.stress.fuzz.targets import TARGETS

_TICK = 60.0
#: An input that takes more than this many ticks hangs. Both processes may be stopped for a while.
_PATIENCE = 5


class Journal:
    """What a process was doing, in memory that outlives it."""

    def __init__(self, context):
        self._count = context.RawValue("Q")
        self._size = context.RawValue("I")
        self._data = context.RawArray("B", MOST_BYTES)

    @property
    def count(self):
        """How many inputs were begun."""
        return self._count.value

    @property
    def data(self):
        """The last one of them."""
        return bytes(self._data)[: self._size.value]

    def note(self, data):
        """Write down an input before it is tried."""
        self._data[: len(data)] = data
        self._size.value = len(data)
        self._count.value += 1


def fuzz(name, engine, seconds):
    """Try a target for some seconds of processor time; print the findings; return whether there are none."""
    context = multiprocessing.get_context("spawn")
    journal = Journal(context)
    process = context.Process(target=try_inputs, args=(name, engine, seconds, journal))
    process.start()
    try:
        idle, seen = 0, 0
        while idle < _PATIENCE:
            process.join(_TICK)
            if process.exitcode is not None:
                break
            idle, seen = (idle + 1 if journal.count == seen else 0), journal.count
            print(f"{engine}: {name}: {seen} inputs so far", flush=True)
        else:
            process.kill()
            process.join()
    finally:
        if process.is_alive():
            process.kill()
    ending = "no findings"
    if process.exitcode:
        kind = "hang" if idle == _PATIENCE else f"exit code {process.exitcode}"
        ending = f"FINDING ({kind}); again: --target {name} --replay {journal.data.hex() or '00'}"
    print(f"{engine}: {name}: {journal.count} inputs, {ending}", flush=True)
    return process.exitcode == 0


def try_inputs(name, engine, seconds, journal):
    """Let an engine call a target until the time is over. What the target raises comes out."""
    target, deadline = TARGETS[name], None

    def attempt(data):
        """Try one input, and say whether there is time for more."""
        nonlocal deadline
        if deadline is None:  # the first input is there, so the engine has started
            deadline = time.process_time() + seconds
        journal.note(data)
        target(data)
        return time.process_time() < deadline

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", AlignmentWarning)  # an answer, not a fault
        ENGINES[engine](attempt)
