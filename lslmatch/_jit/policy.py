"""How kernels and their steps are compiled: the decorators, for which way Numba allows."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba import float32, float64, int32, int64
from numba.extending import overload

from lslmatch._jit import plain
from lslmatch._jit.notice import warn_once

F = TypeVar("F", bound=Callable[..., Any])

#: All kernels of the modules that were imported, none of them if NUMBA_DISABLE_JIT is set.
KERNELS: list[Any] = []

#: Kernels never hold the GIL (several Python threads may run them at once), follow IEEE
#: arithmetic to the letter (infinity is a sentinel, so no fastmath), and turn a division by
#: zero into an infinity instead of a Python exception.
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}


def _is_compiled() -> bool:
    def nothing() -> None:
        pass

    compiled: Any = numba.njit(nothing)
    return compiled is not nothing  # as it is if NUMBA_DISABLE_JIT is set


def _find_private() -> Any:
    """Give what Numba does not promise; None, and a warning, if it is not as expected, or is not wanted."""
    if os.environ.get("LSLMATCH_PLAIN_NUMBA", "0") not in ("", "0"):
        return None
    try:
        from lslmatch._jit import private

        strange = private.strangeness()
        if not strange:
            private.keep_calm(KERNELS)
    except Exception as error:
        strange = f"{type(error).__name__}: {error}"
    if strange:
        _tell(strange)
        return None
    return private


def _tell(strange: str) -> None:
    warn_once(
        "plain",
        f"Numba {numba.__version__} is not as this version of lslmatch knows it ({strange}): kernels take "
        "longer to compile, all else is the same. LSLMATCH_PLAIN_NUMBA=1 chooses that without a warning",
    )


_COMPILED = _is_compiled()
#: The way to compile in less time; None if there is none.
PRIVATE: Any = _find_private() if _COMPILED else None
#: What went wrong on that way; from then on kernels are compiled plainly.
_FAILED: list[str] = []
#: By the number of a kernel: what makes the same one plainly.
_PLAIN: dict[int, Callable[[], plain.PlainKernel]] = {}


def kernel(function: F) -> F:
    """Compile `function` lazily, once for its one signature, and keep it on disk.

    Where there is no folder that can be trusted and written, the kernel is compiled anew in every process
    instead of failing.
    """
    if not _COMPILED:
        return np.errstate(all="ignore")(function)  # compiled code does not warn of overflows either
    if PRIVATE is None:
        compiled: Any = plain.PlainKernel(function, _OPTIONS)
    else:
        compiled = PRIVATE.make_kernel(
            function, _OPTIONS, lambda values, attempt: _compile(compiled, values, attempt)
        )
        plainly = cache(lambda: plain.PlainKernel(function, _OPTIONS))
        _PLAIN[id(compiled)] = plainly
        plain.stand_in(compiled, lambda: plainly().compiled)
    KERNELS.append(compiled)
    return cast(F, compiled)


def _compile(kernel: Any, values: tuple[Any, ...], attempt: Callable[[], Any]) -> Any:
    """Give what Numba is to call for these arguments: the kernel, or the plain one where it fails."""
    failure = None
    if not _FAILED:
        try:
            return attempt()
        except (MemoryError, Warning):  # such as one of the folder, where warnings are errors
            raise
        except Exception as error:
            failure = error
    plainly = _PLAIN[id(kernel)]()
    try:
        plainly.compile_for(values)
    except Exception as error:
        # Then the kernel is wrong, or the arguments are.
        raise (failure or error) from None
    if failure is not None:
        _FAILED.append(f"{type(failure).__name__}: {str(failure).strip().partition(chr(10))[0]}")
        _tell(_FAILED[0])
    return plainly


def inline_kernel(function: F) -> F:
    """Compile a small step into the kernels that call it, at every call.

    It counts no references, since these atomic operations may cost more than all the rest. So it makes no
    arrays, and returns none.
    """
    return _step(function, inline=True, arrays=False)


def step_kernel(function: F) -> F:
    """Compile a long step of kernels, as a function that they call."""
    return _step(function)


def fused_kernel(function: F) -> F:
    """Compile a step that may round a multiplication and the addition after it as one operation."""
    return _step(function, fastmath=_FUSED)


def summing_kernel(function: F) -> F:
    """Compile a step that may also add up in any order, so that sums are vector loops.

    It counts no references, which would take most of the time to compile it, and so makes no arrays.
    """
    return _step(function, fastmath=_FUSED | {"reassoc"}, arrays=False)


_FUSED = {"contract"}


def _step(function: F, fastmath: set[str] | None = None, **how: bool) -> F:
    """Compile a function as a part of the kernels that call it."""
    if not _COMPILED:
        return function
    options = _OPTIONS | ({"fastmath": fastmath} if fastmath else {})
    if PRIVATE is None:
        return cast(F, numba.njit(**options)(function))
    part = PRIVATE.make_part(function, options, **how)
    plain.stand_in(part, lambda: plain.make_part(function, options))
    return cast(F, part)


def emitted(function: F, instructions: Callable[..., Any], loops: Callable[..., Any]) -> F:
    """Let Numba's `overload` of a Python function emit a step that is written in LLVM's own instructions.

    `loops` is the same step in Python that Numba compiles, where these instructions cannot be emitted.
    """
    if not _COMPILED:
        return function
    options = _OPTIONS | {"fastmath": _FUSED}
    if PRIVATE is None:
        return cast(F, numba.njit(**options)(loops))
    overload(function)(instructions)
    plain.stand_in(function, lambda: plain.make_part(loops, options))
    return function


def _reinterpreted(given: Any, wanted: Any) -> Any:
    """Make the function that takes the bits of a number for those of another type."""
    if not _COMPILED:
        scalar, name = np.dtype(given.name).type, wanted.name
        return lambda number: scalar(number).view(name)
    if PRIVATE is None:
        return plain.reinterpreted(given, wanted)
    made = PRIVATE.reinterpreted(given, wanted)
    plain.stand_in(made, lambda: plain.reinterpreted(given, wanted))
    return made


#: The bits of a double as a whole number, and back. Of positive doubles, the greater has the greater number.
bits_of, double_of = _reinterpreted(float64, int64), _reinterpreted(int64, float64)
#: The same in single precision.
single_bits_of, single_of = _reinterpreted(float32, int32), _reinterpreted(int32, float32)


def is_kept(kernel: Any) -> bool:
    """Tell whether a kernel lies compiled on the disk, for the code as it is now."""
    if isinstance(kernel, plain.PlainKernel):
        return kernel.is_kept()
    if id(kernel) not in _PLAIN:
        return False
    return _PLAIN[id(kernel)]().is_kept() if _FAILED else PRIVATE.is_kept(kernel)


def is_ready(kernel: Any) -> bool:
    """Tell whether a kernel can be called without being compiled: it was, or need not be, or is kept."""
    overloads = getattr(kernel, "overloads", None)
    return overloads is None or bool(overloads) or is_kept(kernel)


@contextmanager
def hear_compilations(start: Callable[[Any], None], end: Callable[[Any], None]) -> Iterator[None]:
    """Call functions with each kernel whose compilation begins or ends within the block.

    Nothing is heard where kernels are compiled plainly.
    """
    if PRIVATE is None:
        yield
    else:
        with PRIVATE.heard(KERNELS, start, end):
            yield
