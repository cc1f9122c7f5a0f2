"""The one jit policy of the library: every kernel is compiled through :func:`kernel`."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core.caching import FunctionCache

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
    compiled = numba.njit(**_OPTIONS)(function)
    if compiled is not function:  # as it is if NUMBA_DISABLE_JIT is set
        with contextlib.suppress(RuntimeError):
            compiled._cache = _Cache(function)
    return compiled


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


def _digest(folder: Path) -> str:
    """Condense the Python files of a folder: another text, another digest."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


class _Cache(FunctionCache):
    """Numba's cache of a kernel on disk, in two respects more careful.

    Numba takes a kernel for fresh as long as the kernel's own file is unchanged, though code from
    other files is compiled into it: here any file of the package counts. And where Numba would let
    a full disk, a file of another user or a damaged one stop the program, the kernel is compiled.
    """

    _sources = _digest(Path(__file__).parent)

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._cache_file._source_stamp = self._sources

    def load_overload(self, *arguments: Any) -> Any:
        try:
            return super().load_overload(*arguments)
        except Exception:  # whatever damaged bytes lead to
            with contextlib.suppress(OSError):
                self.flush()
            return None

    def save_overload(self, *arguments: Any) -> None:
        with contextlib.suppress(OSError):
            super().save_overload(*arguments)
