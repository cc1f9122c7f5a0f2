"""Ctrl-C while a kernel is loaded or compiled is neither swallowed nor harmful."""

import signal
import threading

import pytest

from lslmatch._jit.interrupts import Patience
from tests.support.processes import run_compiled
from tests.support.reference import SMALL

#: Interrupts itself where C calls Python, in the hook that is named, the first time.
_PROGRAM = """
import signal
from numba.core.codegen import JITCodeLibrary

hook = JITCodeLibrary.{hook}.__func__
interrupted = []

def interrupt(cls, *values):
    if armed and not interrupted:
        interrupted.append(True)
        signal.raise_signal(signal.SIGINT)
    return hook(cls, *values)

armed = False
JITCodeLibrary.{hook} = classmethod(interrupt)
import numpy as np
import lslmatch

x = np.random.default_rng(0).normal(size=(5, 2))
armed = {armed}
try:
    lslmatch.estimate_affine(x, x)
    print("swallowed" if interrupted else "not interrupted")
except KeyboardInterrupt:
    print("interrupted")
print(lslmatch.estimate_affine(x, x).scale)
print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)
"""


@pytest.mark.skipif(SMALL, reason="nothing is compiled here")
def test_ctrl_c_arrives_while_a_kernel_is_compiled_and_while_it_is_loaded(tmp_path):
    def run(hook, armed=True):
        printed = run_compiled(
            _PROGRAM.format(hook=hook, armed=armed), NUMBA_CACHE_DIR=str(tmp_path), LSLMATCH_PLAIN_NUMBA="0"
        )
        return printed.splitlines()

    assert run("_object_compiled_hook") == ["interrupted", "1.0", "True"]
    assert run("_object_getbuffer_hook", armed=False) == ["not interrupted", "1.0", "True"]
    assert run("_object_getbuffer_hook") == ["interrupted", "1.0", "True"]


def _raw_object_cache_of_no_one():
    signal.raise_signal(signal.SIGINT)


def interrupted(done, all_along):
    with Patience(all_along=all_along):
        _raw_object_cache_of_no_one()
        done.append("the rest")


def test_it_waits_for_the_end_of_the_block():
    done = []
    with pytest.raises(KeyboardInterrupt):
        interrupted(done, all_along=True)
    assert done == ["the rest"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_it_comes_at_once_where_it_is_not_lost():
    done = []
    # (Not in a function of LLVM's, though its name is like theirs.)
    with pytest.raises(KeyboardInterrupt):
        interrupted(done, all_along=False)
    assert done == []
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_error_in_the_block_remains():
    with pytest.raises(ValueError, match="its own"), Patience(all_along=True):
        raise ValueError("its own")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_other_threads_and_those_who_ignore_it_are_left_alone(monkeypatch):
    handlers = []

    def watch():
        with Patience(all_along=True):
            handlers.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=watch)
    thread.start()
    thread.join()
    assert handlers == [signal.default_int_handler]
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        watch()
    finally:
        signal.signal(signal.SIGINT, before)
    assert handlers[1] == signal.SIG_IGN
