"""All that the library takes of Numba and Numba does not promise. It saves a third of the time to compile.

Nothing else imports such names. :func:`strangeness` says what of it is not as it should be in the Numba that
is installed; then, or where it fails later, :mod:`lslmatch._jit.plain` takes its place.
"""

from __future__ import annotations

import contextlib
import gc
import hashlib
import inspect
from collections.abc import Callable, Iterator
from functools import cache, cached_property
from typing import Any

import numba
from numba.core import cgutils, event
from numba.core.caching import IndexDataCacheFile
from numba.core.codegen import CPUCodeLibrary, JITCodeLibrary
from numba.core.compiler import Compiler, CompileResult
from numba.core.cpu import CPUTargetOptions
from numba.core.registry import CPUDispatcher
from numba.extending import intrinsic

from lslmatch._jit import folders
from lslmatch._jit.interrupts import Patience

# ------------------------------------------------------------------------------ whether Numba is as expected

#: Methods that are called or overridden here, with the number of arguments that they take beside the object.
_METHODS: list[tuple[Any, str, int]] = [
    (IndexDataCacheFile, "load", 1),
    (IndexDataCacheFile, "save", 2),
    (IndexDataCacheFile, "flush", 0),
    (IndexDataCacheFile, "_load_index", 0),
    (CompileResult, "_reduce", 0),
    (JITCodeLibrary, "_optimize_final_module", 0),
    (JITCodeLibrary, "_finalize_final_module", 0),
    (JITCodeLibrary, "get_pointer_to_function", 1),
    (Compiler, "define_pipelines", 0),
    (CPUDispatcher, "_compile_for_args", 1),
    (CPUDispatcher, "compile", 1),
    (event.Listener, "on_start", 1),
    (event.Listener, "on_end", 1),
]
#: Who asks for what is overridden here, by which name.
_ASKED: list[tuple[Any, str, str]] = [
    (CPUDispatcher, "compile", "_cache"),
    (CPUDispatcher, "compile", "load_overload"),
    (CPUDispatcher, "compile", "save_overload"),
    (CPUDispatcher, "add_overload", "_insert"),
    (CPUCodeLibrary, "finalize", "_optimize_final_module"),
    (CPUCodeLibrary, "finalize", "_finalize_final_module"),
    (CPUCodeLibrary, "_ensure_finalized", "_finalized"),
]
#: What else is used, in whatever way.
_OTHERS: list[tuple[Any, str]] = [
    (CompileResult, "_rebuild"),
    (JITCodeLibrary, "codegen"),
    (event, "register"),
    (event, "unregister"),
    (cgutils, "unpack_tuple"),
    (cgutils, "for_range_slice"),
]


def strangeness() -> str:
    """Say what is missing here, or is called in another way than expected; empty if nothing is."""
    for owner, name, count in _METHODS:
        if not _takes(getattr(owner, name, None), count + 1):
            return f"{owner.__name__}.{name} is missing or takes other arguments"
    for owner, name, asked in _ASKED:
        code = getattr(getattr(owner, name, None), "__code__", None)
        if code is None or asked not in code.co_names:
            return f"{owner.__name__}.{name} does not ask for {asked}"
    for option in {**_KERNEL, **_PART, **_INLINE, **_WITHOUT_ARRAYS}:
        if option != "pipeline_class" and not hasattr(CPUTargetOptions, option):
            return f"there is no option {option}"
    for owner, name in _OTHERS:
        if not hasattr(owner, name):
            return f"{owner.__name__}.{name} is missing"
    return ""


def _takes(method: Any, count: int) -> bool:
    try:
        inspect.signature(method).bind(*[None] * count)
    except (TypeError, ValueError):
        return False
    return True


# --------------------------------------------------------------------------------------- kernels and parts

_KERNEL: dict[str, Any] = {"no_cfunc_wrapper": True}
_INLINE: dict[str, Any] = {"forceinline": True}
#: No counts of references, and so no arrays are made.
_WITHOUT_ARRAYS: dict[str, Any] = {"_nrt": False}


def make_kernel(function: Callable[..., Any], options: dict[str, Any], instead: Callable[..., Any]) -> Any:
    """Make a dispatcher that keeps its code on disk, and calls what `instead` gives where compiling fails."""
    compiled: Any = numba.njit(**options, **_KERNEL)(function)
    compiled._cache = KernelCache(function)

    def compile_for(*values: Any) -> Any:
        return instead(values, lambda: type(compiled)._compile_for_args(compiled, *values))

    compiled._compile_for_args = compile_for
    return compiled


def make_part(
    function: Callable[..., Any], options: dict[str, Any], *, inline: bool = False, arrays: bool = True
) -> Any:
    """Make a dispatcher of what is compiled into kernels: no cache file, no machine code of its own."""
    options = options | _KERNEL | (_INLINE if inline else {}) | ({} if arrays else _WITHOUT_ARRAYS)
    part: Any = numba.njit(**options | _PART)(function)

    @cache
    def ordinary() -> Any:
        return numba.njit(**options)(function)

    # What Python calls, that is a test, is an ordinary copy.
    part._compile_for_args = lambda *values, **named: ordinary()._compile_for_args(*values, **named)
    part._insert = lambda *_: None
    return part


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


_PART: dict[str, Any] = {"pipeline_class": _PartCompiler, "no_cpython_wrapper": True}


# ------------------------------------------------------------------------------------------------- the cache


class KernelCache:
    """What Numba asks for the kept code of a kernel, which here never stops the program.

    Where a full disk, a file of another user or a damaged one would, the kernel is compiled anew.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._file = function.__code__.co_filename
        self._start = folders.file_start(function)

    @cached_property
    def _stamp(self) -> Any:
        return folders.source_stamp(self._file)

    @property
    def cache_path(self) -> str | None:
        """The folder of the kernel, for Numba's statistics."""
        return folders.kernel_folder(self._file)

    def _open(self) -> Any:
        """Give Numba's files of the kernel; None if there is no folder for them that can be trusted."""
        if self._function.__closure__ is not None:  # then the same code may be several kernels
            return None
        folder = folders.kernel_folder(self._file)
        if folder is None or not folders.are_own_files(folder, self._start + "."):
            return None
        return IndexDataCacheFile(cache_path=folder, filename_base=self._start, source_stamp=self._stamp)

    def _key(self, signature: Any, codegen: Any) -> Any:
        code = hashlib.sha256(self._function.__code__.co_code).hexdigest()
        return signature, codegen.magic_tuple(), code

    def load_overload(self, signature: Any, target: Any) -> Any:
        """Give the kept code; None if there is none that can be used."""
        files = self._opened()
        if files is None:
            return None
        with Patience(all_along=True):
            try:
                target.refresh()
                kept = files.load(self._key(signature, target.codegen()))
                return None if kept is None else CompileResult._rebuild(target, *kept)
            except Exception:  # whatever damaged bytes lead to
                with contextlib.suppress(Exception):
                    files.flush()
                return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Keep the code of a kernel that was compiled, where that is possible."""
        files = self._opened()
        if files is None:
            return
        with contextlib.suppress(Exception):
            if all(part.can_cache for part in compiled.lifted) and not compiled.library.has_dynamic_globals:
                files.save(self._key(signature, compiled.codegen), compiled._reduce())
                folders.close_files(files._cache_path, self._start + ".")

    def is_kept(self) -> bool:
        """Tell whether there is code for the source as it is now."""
        try:
            files = self._opened()
            return files is not None and bool(files._load_index())
        except Exception:  # whatever damaged bytes lead to
            return False

    def _opened(self) -> Any:
        try:
            return self._open()
        except OSError:
            return None

    def flush(self) -> None:
        """Forget what is kept."""
        files = self._opened()
        if files is not None:
            files.flush()


def is_kept(kernel: Any) -> bool:
    """Tell whether a kernel lies compiled on the disk, for the code as it is now."""
    return isinstance(kernel._cache, KernelCache) and kernel._cache.is_kept()


# -------------------------------------------------------------------------------------------- instructions


def reinterpreted(given: Any, wanted: Any) -> Any:
    """Make the function of kernels that takes the bits of a number for those of another type.

    It is one instruction. NumPy's views, each of which Numba compiles as a function, take longer to compile.
    """

    def build(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        number = context.cast(builder, values[0], signature.args[0], given)
        return builder.bitcast(number, context.get_value_type(wanted))

    return intrinsic(lambda context, number: (wanted(number), build))


def array_parts(context: Any, builder: Any, kind: Any, value: Any) -> tuple[Any, list[Any]]:
    """Give, to a function that emits instructions, where an array's data are, and its shape."""
    array = context.make_array(kind)(context, builder, value)
    return array.data, cgutils.unpack_tuple(builder, array.shape)


def scalar_type(context: Any, kind: Any) -> Any:
    """Give LLVM's type of the values of an array."""
    return context.get_data_type(kind.dtype)


@contextlib.contextmanager
def steps(builder: Any, start: Any, stop: Any, step: Any) -> Iterator[Any]:
    """Emit a loop; the block emits what is done in it, with the number that is given."""
    with cgutils.for_range_slice(builder, start, stop, step) as (number, _):
        yield number


def nothing(context: Any) -> Any:
    """Give the value of a function without one."""
    return context.get_dummy_value()


# ---------------------------------------------------------------------------------------- what is heard


_Hear = Callable[[Any], None]


class _Listener(event.Listener):
    """Call functions at the begin and the end of each compilation of one of the dispatchers."""

    def __init__(self, dispatchers: list[Any], start: _Hear, end: _Hear) -> None:
        self._dispatchers, self._start, self._end = dispatchers, start, end

    def on_start(self, compilation: Any) -> None:
        if self._is_one(compilation):
            self._start(compilation.data["dispatcher"])

    def on_end(self, compilation: Any) -> None:
        if self._is_one(compilation):
            self._end(compilation.data["dispatcher"])

    def _is_one(self, compilation: Any) -> bool:
        # Steps that are compiled into a kernel are part of it.
        return any(compilation.data["dispatcher"] is one for one in self._dispatchers)


@contextlib.contextmanager
def heard(dispatchers: list[Any], start: _Hear, end: _Hear) -> Iterator[None]:
    """Call `start` and `end` for each compilation within the block."""
    listener = _Listener(dispatchers, start, end)
    event.register("numba:compile", listener)
    try:
        yield
    finally:
        event.unregister("numba:compile", listener)


class _Calm(event.Listener):
    """While a kernel is compiled, stop the collector of garbage, and let Ctrl-C get lost nowhere.

    Without the collector it takes a tenth less time, and there is no garbage yet. Numba compiles under a
    lock, so that no two threads are here at once.
    """

    def __init__(self, dispatchers: list[Any]) -> None:
        self._dispatchers = dispatchers
        self._depth = 0
        self._was_enabled = False
        self._patience = Patience(all_along=False)

    def on_start(self, compilation: Any) -> None:
        if not self._depth:
            if not any(compilation.data["dispatcher"] is one for one in self._dispatchers):
                return
            self._was_enabled = gc.isenabled()
            gc.disable()
            self._patience.__enter__()
        self._depth += 1

    def on_end(self, compilation: Any) -> None:
        if self._depth:
            self._depth -= 1
            if not self._depth:
                if self._was_enabled:
                    gc.enable()
                self._patience.__exit__(None, None, None)


def keep_calm(dispatchers: list[Any]) -> None:
    """Do so whenever one of the dispatchers is compiled, also one that is added to the list later."""
    event.register("numba:compile", _Calm(dispatchers))
