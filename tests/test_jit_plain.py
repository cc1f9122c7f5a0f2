"""Where Numba's private parts are not as expected, what it promises is enough for the same answers."""

import ast
import textwrap
import threading
import time
from pathlib import Path

import numba
import numpy as np
import pytest

import lslmatch
from lslmatch._jit import plain
from tests.support.processes import run_python
from tests.support.reference import SMALL

pytestmark = pytest.mark.skipif(SMALL, reason="nothing is compiled here")

#: Prints what was matched, how well it is certified, and what was warned of.
_MATCHES = """
import warnings
import numpy as np

with warnings.catch_warnings(record=True) as warned:
    warnings.simplefilter("always")
    import lslmatch
    from lslmatch._jit import policy

    rng = np.random.default_rng(0)
    x = rng.normal(size=(30, 3))
    y = rng.permutation(x) / 2 + 0.01 * rng.normal(size=(30, 3))
    for options in ({}, {"objective": "lss"}):
        result = lslmatch.match(x, y, **options)
        print(result.permutation.tolist(), float(lslmatch.check_certificate(x, y, result)) < 1e-12)
print(*[str(w.message) for w in warned if w.category is RuntimeWarning], sep="\\n")
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A cache that the tests of this file share."""
    return tmp_path_factory.mktemp("plain")


def matched(folder, before="", **environment):
    """Match in a new process after some code; return the answers, and what was warned of."""
    environment = {"LSLMATCH_PLAIN_NUMBA": None, "NUMBA_CACHE_DIR": str(folder), **environment}
    done = run_python("-c", textwrap.dedent(before) + _MATCHES, **environment)
    assert done.returncode == 0, done.stderr
    *answers, warned = done.stdout.splitlines()
    return answers, warned


@pytest.fixture(scope="module")
def expected():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(30, 3))
    y = rng.permutation(x) / 2 + 0.01 * rng.normal(size=(30, 3))
    found = [lslmatch.match(x, y, objective=objective).permutation for objective in ("lsl", "lss")]
    return [f"{permutation.tolist()} True" for permutation in found]


def test_plain_kernels_give_the_same(folder, expected):
    answers, warned = matched(folder, LSLMATCH_PLAIN_NUMBA="1")
    assert answers == expected
    assert warned == ""  # it was asked for
    kept = {path.parent.parent.name[:6] for path in folder.rglob("*.nbi")}
    assert kept == {"plain_"}
    kept = {path: path.stat().st_mtime_ns for path in folder.rglob("*.nb[ic]")}
    assert matched(folder, LSLMATCH_PLAIN_NUMBA="1") == (answers, "")
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*.nb[ic]")} == kept  # none was compiled


_RENAMED = """
from numba.core.codegen import CPUCodeLibrary as Library
old, new = "_optimize_final_module", "_optimize_all"
code = Library.finalize.__code__
names = tuple(new if name == old else name for name in code.co_names)
Library.finalize.__code__ = code.replace(co_names=names)
Library._optimize_all = Library._optimize_final_module
del Library._optimize_final_module
"""
_OTHER_ARGUMENTS = """
from numba.core.event import Listener
Listener.on_start = lambda self, event, thread: None
"""
_NO_MODULE = """
import sys
import numba
del numba.core.event
sys.modules["numba.core.event"] = None
"""


@pytest.mark.parametrize("strange", [_RENAMED, _OTHER_ARGUMENTS, _NO_MODULE])
def test_strange_parts_are_done_without(strange, folder, expected):
    answers, warned = matched(folder, before=strange)
    assert answers == expected
    assert warned.startswith(f"Numba {numba.__version__} is not as this version of lslmatch knows it (")


def test_parts_that_fail_later_are_done_without(folder, expected):
    answers, warned = matched(
        folder,
        before="""
        from numba.core.codegen import JITCodeLibrary
        make = JITCodeLibrary.__init__
        def fail(self, *values, **named):
            if type(self) is not JITCodeLibrary:
                raise TypeError("no such argument")
            make(self, *values, **named)
        JITCodeLibrary.__init__ = fail
        """,
    )
    assert answers == expected
    assert warned.startswith(
        f"Numba {numba.__version__} is not as this version of lslmatch knows it (TypeError"
    )


#: Hides each private name while `lslmatch._jit` is imported; prints those whose absence is not noticed.
_HIDING = """
import contextlib, importlib, sys, types, warnings
from lslmatch._jit import policy, private

place = sys.modules["lslmatch"].__path__
hidden = [(owner, name) for owner, name, *_ in private._METHODS + private._ASKED]
hidden += [(owner, name) for owner, name in private._OTHERS]
hidden += [(private.CPUTargetOptions, name) for name in ("_nrt", "forceinline", "no_cfunc_wrapper")]
hidden += [(importlib.import_module(module), name) for module, name in IMPORTED]
# The root of the package would import all the rest.
root = types.ModuleType("lslmatch")
root.__path__ = place

@contextlib.contextmanager
def without(owner, name):
    # (Also where it is inherited from.)
    holders = [c for c in getattr(owner, "__mro__", [owner]) if name in vars(c)]
    values = [vars(holder)[name] for holder in holders]
    for holder in holders:
        delattr(holder, name)
    try:
        yield len(holders)
    finally:
        for holder, value in zip(holders, values):
            setattr(holder, name, value)

for owner, name in hidden:
    for module in [module for module in sys.modules if module.partition(".")[0] == "lslmatch"]:
        del sys.modules[module]
    sys.modules["lslmatch"] = root
    with without(owner, name) as count, warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        from lslmatch._jit import policy
    texts = [str(w.message) for w in warned]
    if policy.PRIVATE is not None or len(texts) != 1 or VERSION not in texts[0] or not count:
        print(owner, name, texts, count)
    assert policy.kernel(int)  is not None
print(len(hidden))
"""


def imported_names():
    """What the module of private names imports of Numba's modules that are not documented."""
    tree = ast.parse((Path(lslmatch.__file__).parent / "_jit" / "private.py").read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("numba.core"):
            yield from ((node.module, alias.name) for alias in node.names if alias.name[0].isupper())


def test_no_private_name_is_needed(tmp_path):
    names = list(imported_names())
    assert len(names) > 5
    code = f"IMPORTED, VERSION = {names!r}, {numba.__version__!r}\n{_HIDING}"
    done = run_python("-c", code, LSLMATCH_PLAIN_NUMBA=None, NUMBA_CACHE_DIR=str(tmp_path))
    assert done.returncode == 0, done.stderr
    (count,) = done.stdout.splitlines()
    assert int(count) > 25


def test_private_names_are_used_in_one_module_only():
    folder = Path(lslmatch.__file__).parent
    found = set()
    for path in folder.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if any(
            name in text for name in ("numba.core", "numba.misc", "cgutils", "_compile_for_args", "._cache")
        ):
            found.add(path.relative_to(folder).as_posix())
    assert found == {"_jit/private.py"}


# -------------------------------------------------------------------------------------- a plain kernel


def double(value):
    return 2 * value


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def found_plainly():
    kernel = plain.PlainKernel(double, {"nogil": True})
    assert kernel(21) == 42
    return sum(kernel.stats.cache_hits.values()) == 1


def test_a_plain_kernel_is_kept(cache):
    kernel = plain.PlainKernel(double, {"nogil": True})
    assert not kernel.is_kept()
    assert not found_plainly()
    assert found_plainly()
    assert kernel.is_kept()
    assert str(cache) == numba.config.CACHE_DIR


def test_threads_decorate_one_after_the_other(cache, monkeypatch):
    inside, most = [], []

    def njit(**options):
        inside.append(options)
        most.append(len(inside))
        time.sleep(0.02)
        inside.pop()
        return lambda function: function

    monkeypatch.setattr(numba, "njit", njit)
    kernels = [plain.PlainKernel(double, {}) for _ in range(4)]
    threads = [threading.Thread(target=lambda kernel=kernel: kernel.compiled) for kernel in kernels]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1] * 4
    assert str(cache) == numba.config.CACHE_DIR


@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
@pytest.mark.parametrize("left", [0, 20])
def test_a_damaged_plain_kernel_is_compiled_anew(cache, suffix, left):
    assert not found_plainly()
    (path,) = cache.rglob(f"*.{suffix}")
    path.write_bytes(path.read_bytes()[:left])
    assert not found_plainly()


def test_an_error_of_a_plain_kernel_is_told():
    kernel = plain.PlainKernel(lambda value: value.missing, {})
    with pytest.raises(numba.TypingError, match="missing"):
        kernel(1)


def test_bits_are_the_same_plainly():
    given = np.array([0.0, -0.0, 1.5, -np.pi, np.inf, 5e-324])
    bits, back = (
        plain.reinterpreted(numba.float64, numba.int64),
        plain.reinterpreted(numba.int64, numba.float64),
    )
    assert [bits(value) for value in given] == given.view(np.int64).tolist()
    assert [back(value) for value in given.view(np.int64)] == given.tolist()
