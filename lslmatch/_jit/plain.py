"""Kernels by what Numba promises, ``njit(cache=True)``: slower to compile, whatever Numba is like inside.

Every kernel, step and instruction that is made by :mod:`lslmatch._jit.private` has a *stand-in* here, which
is made when it is first needed. A stand-in calls stand-ins only.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator
from functools import cache
from types import CodeType, FunctionType
from typing import Any

import numba
import numpy as np

from lslmatch._jit import folders

#: By the number of an object: the object, so that the number stays its own, and what makes its stand-in.
_STAND_INS: dict[int, tuple[Any, Callable[[], Any]]] = {}


def stand_in(made: Any, make: Callable[[], Any]) -> None:
    """Say what makes the stand-in of an object."""
    _STAND_INS[id(made)] = made, cache(make)


def stand_in_of(made: Any) -> Any:
    """Give the stand-in of an object."""
    return _STAND_INS[id(made)][1]()


def _with_stand_ins(function: Callable[..., Any]) -> Callable[..., Any]:
    """Copy a function so that it calls the stand-ins of what it calls; nothing of it may be defined later."""
    known = function.__globals__
    called = {name for name in _names(function.__code__) if id(known.get(name)) in _STAND_INS}
    if not called:
        return function
    names = {**known, **{name: stand_in_of(known[name]) for name in called}}
    copy = FunctionType(
        function.__code__, names, function.__name__, function.__defaults__, function.__closure__
    )
    copy.__kwdefaults__, copy.__qualname__, copy.__doc__ = (
        function.__kwdefaults__,
        function.__qualname__,
        function.__doc__,
    )
    copy.__module__ = function.__module__
    return copy


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def make_part(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    """Compile what stand-ins call."""
    return numba.njit(**options)(_with_stand_ins(function))


class PlainKernel:
    """A kernel that Numba keeps on disk, and that is compiled anew where what is kept cannot be used."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        self.py_func = function
        self._options = options
        self._copy: Any = None
        self._compiled: Any = None
        # What other kernels call is without a wrapper.
        stand_in(self, lambda: self.compiled)

    @property
    def compiled(self) -> Any:
        """Numba's dispatcher."""
        if self._compiled is None:
            # Now all that it calls is defined.
            self._copy = _with_stand_ins(self.py_func)
            self._compiled = _cached(self._copy, self._options)
        return self._compiled

    def __call__(self, *values: Any) -> Any:
        """Call it."""
        compiled = self.compiled
        try:
            return compiled(*values)
        except Exception:
            if compiled.signatures:
                raise  # it was not compiling that failed
            # A damaged file, a full disk, or an error that is the same again.
            self._compiled = numba.njit(**self._options)(self._copy)
            return self._compiled(*values)

    def compile_for(self, values: tuple[Any, ...]) -> None:
        """Compile it for such arguments."""
        self.compiled.compile(tuple(map(numba.typeof, values)))

    def is_kept(self) -> bool:
        """Tell whether it lies compiled on the disk."""
        folder = self.compiled.stats.cache_path
        start = folders.file_start(self.py_func) + "."
        if not folder or not os.path.isdir(folder):
            return False
        return any(name.startswith(start) and name.endswith(".nbi") for name in os.listdir(folder))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.compiled, name)


#: Where Numba keeps kernels is the same for all threads.
_one_at_a_time = threading.Lock()


def _cached(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    with _one_at_a_time:
        place = _plain_folder(function.__code__.co_filename)
        if place is not None and function.__closure__ is None:
            with contextlib.suppress(Exception), _cache_in(place):
                return numba.njit(cache=True, **options)(function)
    return numba.njit(**options)(function)


def _plain_folder(file: str) -> str | None:
    """Give a folder for this source code only, since Numba does not see that other files have changed."""
    if not hasattr(numba.config, "CACHE_DIR"):
        return None
    with contextlib.suppress(OSError):
        folder = folders.kernel_folder(file)
        if folder is not None:
            place = os.path.join(folder, "plain_" + "_".join(s[:16] for s in folders.source_stamp(file)))
            os.makedirs(place, mode=0o700, exist_ok=True)
            folders.check(place, sticky=False)
            inner = os.path.join(place, os.path.basename(folder))
            if not os.path.isdir(inner) or folders.are_own_files(inner, ""):
                return place
    return None


@contextlib.contextmanager
def _cache_in(place: str) -> Iterator[None]:
    """Let Numba keep there what is decorated within the block."""
    config: Any = numba.config
    before = config.CACHE_DIR
    config.CACHE_DIR = place
    try:
        yield
    finally:
        config.CACHE_DIR = before


def reinterpreted(given: Any, wanted: Any) -> Any:
    """Make the function of kernels that takes the bits of a number for those of another type."""
    scalar, kind = getattr(np, given.name), getattr(np, wanted.name)

    @numba.njit
    def bits(number):
        return scalar(number).view(kind)

    return bits
