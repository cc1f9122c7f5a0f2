"""The one jit policy of the library: every kernel is compiled through :func:`kernel`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba

F = TypeVar("F", bound=Callable[..., Any])

#: Kernels never hold the GIL (several Python threads may run them at once), follow IEEE
#: arithmetic to the letter (infinity is a sentinel, so no fastmath), and turn a division by
#: zero into an infinity instead of a Python exception.
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}


def kernel(function: F) -> F:
    """Compile `function` lazily, once for its one signature, and keep it on disk.

    Where Numba finds no directory that it may write its cache to, the kernel is compiled anew in
    every process instead of failing.
    """
    try:
        return numba.njit(cache=True, **_OPTIONS)(function)
    except RuntimeError:
        return numba.njit(**_OPTIONS)(function)


def inline_kernel(function: F) -> F:
    """Compile a small step into the kernels that call it: no cache file of its own.

    Inlined before compilation, because at a call every array that is handed over, also one in a
    tuple, has its references counted by atomic operations, which may cost more than the step.
    """
    return numba.njit(inline="always", **_OPTIONS)(function)


def step_kernel(function: F) -> F:
    """Compile a long step of kernels once, as a function that they call: no cache file of its own."""
    return numba.njit(**_OPTIONS)(function)


def fused_kernel(function: F) -> F:
    """Compile a step that may round a multiplication and the addition after it as one operation."""
    return numba.njit(fastmath={"contract"}, **_OPTIONS)(function)
