"""The one jit policy of the library: every kernel is compiled through :func:`kernel`."""

from __future__ import annotations

import contextlib
import gc
import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba import float32, float64, int32, int64
from numba.core import event
from numba.core.caching import (
    CompileResultCacheImpl,
    FunctionCache,
    _CacheLocator,
    _SourceFileBackedLocatorMixin,
)
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.extending import intrinsic
from numba.misc.appdirs import AppDirs

#: What Numba was told by variables of the environment, such as where to keep compiled kernels.
_CONFIG: Any = numba.config

#: All kernels of the modules that were imported, none of them if NUMBA_DISABLE_JIT is set.
KERNELS: list[Any] = []

F = TypeVar("F", bound=Callable[..., Any])

#: Kernels never hold the GIL (several Python threads may run them at once), follow IEEE
#: arithmetic to the letter (infinity is a sentinel, so no fastmath), and turn a division by
#: zero into an infinity instead of a Python exception.
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}


def kernel(function: F) -> F:
    """Compile `function` lazily, once for its one signature, and keep it on disk.

    Where Numba finds no directory that it may write its cache to, the kernel is compiled anew in
    every process instead of failing.
    """
    compiled = numba.njit(**_OPTIONS)(function)
    if compiled is function:  # as it is if NUMBA_DISABLE_JIT is set
        return np.errstate(all="ignore")(function)  # compiled code does not warn of overflows either
    with contextlib.suppress(RuntimeError):
        compiled._cache = _Cache(function)
    KERNELS.append(compiled)
    return compiled


def inline_kernel(function: F) -> F:
    """Compile a small step into the kernels that call it, at every call.

    It counts no references, since these atomic operations may cost more than all the rest. So it makes no
    arrays, and returns none.
    """
    return _step(function, forceinline=True, _nrt=False)


def step_kernel(function: F) -> F:
    """Compile a long step of kernels, as a function that they call."""
    return _step(function)


def fused_kernel(function: F) -> F:
    """Compile a step that may round a multiplication and the addition after it as one operation."""
    return _step(function, fastmath={"contract"})


def summing_kernel(function: F) -> F:
    """Compile a step that may also add up in any order, so that sums are vector loops.

    It counts no references, which would take most of the time to compile it, and so makes no arrays.
    """
    return _step(function, fastmath={"contract", "reassoc"}, _nrt=False)


def _reinterpreted(given: Any, wanted: Any) -> Any:
    """Make the function of kernels that takes the bits of a number for those of another type.

    It is one instruction. NumPy's views, each of which Numba compiles as a function, take longer to compile.
    """
    if _CONFIG.DISABLE_JIT:
        scalar, name = np.dtype(given.name).type, wanted.name
        return lambda number: scalar(number).view(name)

    def build(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        number = context.cast(builder, values[0], signature.args[0], given)
        return builder.bitcast(number, context.get_value_type(wanted))

    return intrinsic(lambda context, number: (wanted(number), build))


#: The bits of a double as a whole number, and back. Of positive doubles, the greater has the greater number.
bits_of, double_of = _reinterpreted(float64, int64), _reinterpreted(int64, float64)
#: The same in single precision.
single_bits_of, single_of = _reinterpreted(float32, int32), _reinterpreted(int32, float32)


def _step(function: F, **options: Any) -> F:
    """Compile a function as a part of the kernels that call it: no cache file, no machine code of its own."""
    options |= _OPTIONS
    part: Any = numba.njit(**options | _AS_PART)(function)
    if part is function:  # as it is if NUMBA_DISABLE_JIT is set
        return function

    @cache
    def plain() -> Any:
        return numba.njit(**options)(function)

    # What Python calls, that is a test, is an ordinary copy.
    part._compile_for_args = lambda *values, **named: plain()._compile_for_args(*values, **named)
    part._insert = lambda *_: None
    return cast(F, part)


class _PartCompiler(Compiler):
    """Numba's compiler, for functions that only kernels call."""

    def define_pipelines(self) -> Any:
        state = self.state
        state.library = _PartLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        return super().define_pipelines()


class _PartLibrary(JITCodeLibrary):
    """Code that is optimised, and made into machine code, only with the kernel that it becomes a part of.

    Numba would do both here, and then once more there: a fifth of all the time.
    """

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        return 0

    @property
    def codegen(self) -> Any:
        return self

    def set_env(self, name: str, objects: Any) -> None:
        """Do without the objects of Python, which are for kernels that hold the GIL."""


_AS_PART: dict[str, Any] = {"pipeline_class": _PartCompiler, "no_cpython_wrapper": True}


class _WithoutCollector(event.Listener):
    """Stop the collector of garbage while a kernel is compiled: a tenth of the time, and there is none yet.

    Numba compiles under a lock, so that no two threads are here at once.
    """

    def __init__(self) -> None:
        self._depth = 0
        self._was_enabled = False

    def on_start(self, compilation: Any) -> None:
        if not self._depth:
            if not any(compilation.data["dispatcher"] is kernel for kernel in KERNELS):
                return
            self._was_enabled = gc.isenabled()
            gc.disable()
        self._depth += 1

    def on_end(self, compilation: Any) -> None:
        if self._depth:
            self._depth -= 1
            if not self._depth and self._was_enabled:
                gc.enable()


event.register("numba:compile", _WithoutCollector())


def is_kept(kernel: Any) -> bool:
    """Tell whether a kernel lies compiled on the disk, for the code as it is now."""
    if not isinstance(kernel._cache, _Cache):
        return False
    try:
        return bool(kernel._cache._cache_file._load_index())
    except Exception:  # whatever damaged bytes lead to
        return False


def is_ready(kernel: Any) -> bool:
    """Tell whether a kernel can be called without being compiled: it was, or need not be, or is kept."""
    overloads = getattr(kernel, "overloads", None)
    return overloads is None or bool(overloads) or is_kept(kernel)


@cache
def _digest(place: Path) -> str:
    """Condense a Python file, or all of a folder: another text, another digest."""
    digest = hashlib.sha256()
    for path in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _outermost_package(place: Path) -> Path:
    """Return the folder of the outermost package that a file belongs to, or the file if there is none."""
    while (place.parent / "__init__.py").is_file():
        place = place.parent
    return place


class _Locator(_SourceFileBackedLocatorMixin, _CacheLocator):
    """Where the compiled form of a kernel is kept, and what makes it stale.

    In the user's cache directory; never in the package, where Numba would put it, because ``pip`` does not
    remove files that it did not install. And Numba takes a kernel for fresh as long as the kernel's own file
    is unchanged, though code from other files is compiled into it: here any file of this library or of the
    kernel's own package counts.
    """

    def __init__(self, function: Callable[..., Any], file: str) -> None:
        self._py_file = file
        self._lineno = function.__code__.co_firstlineno
        self._path = Path(self._directory()) / self.get_suitable_cache_subpath(file)

    def _directory(self) -> str:
        return AppDirs("lslmatch", appauthor=False).user_cache_dir

    def get_cache_path(self) -> str:
        return str(self._path)

    def get_source_stamp(self) -> tuple[str, str]:
        return _digest(Path(__file__).parent), _digest(_outermost_package(Path(self._py_file)))


class _NamedLocator(_Locator):
    """The same in the directory that ``NUMBA_CACHE_DIR`` names, if it does."""

    def _directory(self) -> str:
        return _CONFIG.CACHE_DIR

    @classmethod
    def from_function(cls, function: Callable[..., Any], file: str) -> Any:
        return super().from_function(function, file) if _CONFIG.CACHE_DIR else None


class _CacheFiles(CompileResultCacheImpl):
    _locator_classes = [_NamedLocator, _Locator]


class _Cache(FunctionCache):
    """Numba's cache of a kernel on disk, which here never stops the program.

    Where a full disk, a file of another user or a damaged one would, the kernel is compiled anew.
    """

    _impl_class = _CacheFiles

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
