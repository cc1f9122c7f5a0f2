"""The jit policy, seen from outside: when kernels are compiled, how often, and where that is kept."""

import shutil
import sys
from pathlib import Path

import numba
import pytest

import lslmatch
from lslmatch import _jit
from lslmatch._jit import folders, policy
from tests.support.processes import run_compiled
from tests.support.reference import SMALL

#: Yields the name and the object of everything in the package that Numba compiles.
DISPATCHERS = """
import importlib, pkgutil, sys
import lslmatch

def dispatchers():
    found = {}
    for info in pkgutil.walk_packages(lslmatch.__path__, "lslmatch."):
        module = importlib.import_module(info.name)
        for name, value in vars(module).items():
            if hasattr(value, "py_func") and hasattr(value, "signatures"):
                found[value.py_func.__module__ + "." + value.py_func.__name__] = value
    return found
"""


def test_import_compiles_nothing():
    printed = run_compiled(
        DISPATCHERS
        + """
found = dispatchers()
assert len(found) > 10, found
assert "lslmatch.alignment.moments._centred_statistics" in found
print([name for name, kernel in found.items() if kernel.signatures])
"""
    )
    assert printed == "[]\n"


def test_every_kernel_is_compiled_for_one_kind_of_argument_only():
    printed = run_compiled(
        DISPATCHERS
        + """
import numpy as np
from lslmatch import Affine, check_certificate, estimate_affine, linear_sum_assignment, log_cost_matrix, match
from lslmatch import diagnose, solve_assignment, standardize

rng = np.random.default_rng(0)

def kinds(array):
    locked = array.copy()
    locked.flags.writeable = False
    yield from (array, locked, array.tolist(), np.asfortranarray(array), np.repeat(array, 2, axis=1)[:, ::2])
    for kind in (np.float32, np.longdouble, np.int64, np.int8, np.uint16, ">f8", ">i4"):
        yield array.astype(kind)

for n, m in ((6, 6), (4, 7), (7, 4), (1, 3), (3, 1)):
    for cost in kinds(rng.integers(0, 50, (n, m)).astype(float)):
        linear_sum_assignment(cost)
        solve_assignment(cost, maximize=True)
for cost in ([[1e300, np.inf], [1.0, 2.0]], np.eye(4, dtype=bool), np.empty((0, 2)), np.empty((2, 0))):
    linear_sum_assignment(cost)

for n, m, d in ((9, 9, 3), (2, 2, 1), (5, 8, 1), (8, 5, 2), (70, 80, 2)):
    first, second = (rng.permutation(k * d).reshape(k, d) % 120.0 for k in (n, m))
    for x, y in zip(kinds(first), kinds(second)):
        standardize(x)
        estimate_affine(x, y)
        log_cost_matrix(x, y, Affine(2, np.ones(d, np.float32)))
        for objective in ("lsl", "lss", "lsns", "greedy"):
            noise = (np.ones(n, np.float32), 2) if objective == "lsns" else None
            for alignment in ("standardize", "identity", "profile", "auto", Affine(2, [1] * d)):
                result = match(x, y, objective=objective, alignment=alignment, noise=noise, workers=1 + n % 2)
                if objective != "greedy":
                    check_certificate(x, y, result)
                diagnose(x, y, result, margins="exact" if n % 2 else [0, 1])

found = dispatchers()
# What is called from Python has a cache of its own; helpers follow the kernels that they serve.
kernels = {name: kernel for name, kernel in found.items() if kernel.stats.cache_path is not None}
print({name: kernel.signatures for name, kernel in kernels.items() if len(kernel.signatures) > 1})
print(sorted(name for name, kernel in kernels.items() if kernel.signatures))
"""
    )
    several, compiled = printed.splitlines()
    assert several == "{}"
    assert "lslmatch.alignment.moments._centred_statistics" in compiled
    assert "lslmatch.costs._fill_rows" in compiled


def test_kernels_work_where_no_cache_can_be_written(tmp_path):
    package = tmp_path / "lslmatch"
    shutil.copytree(Path(lslmatch.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    # A file in the place of every directory that Numba might want to make.
    blocked = tmp_path / "blocked"
    for place in (
        blocked,
        package / "__pycache__",
        *(p / "__pycache__" for p in package.iterdir() if p.is_dir()),
    ):
        place.touch()
    printed = run_compiled(
        f"""
        import sys
        sys.path.insert(0, {str(tmp_path)!r})
        import lslmatch
        print(lslmatch.__file__)
        print(lslmatch.estimate_affine([[0.0], [2.0]], [[0.0], [1.0]]).scale)
        """,
        **dict.fromkeys(
            ["NUMBA_CACHE_DIR", "HOME", "XDG_CACHE_HOME", "LOCALAPPDATA", "IPYTHONDIR"], str(blocked)
        ),
        PYTHONDONTWRITEBYTECODE="1",
        PYTHONPATH="",
    )
    assert printed.splitlines() == [str(package / "__init__.py"), "2.0"]
    assert not list(tmp_path.rglob("*.nb[ic]"))


def double(value):
    return 2 * value


def test_all_kinds_of_kernel_have_the_same_options(monkeypatch):
    given = []

    def njit(**options):
        given.append(options)
        return lambda function: function

    monkeypatch.setattr(policy, "_COMPILED", True)
    monkeypatch.setattr(policy, "PRIVATE", None)
    monkeypatch.setattr(numba, "njit", njit)
    for step in (_jit.inline_kernel, _jit.step_kernel, _jit.fused_kernel, _jit.summing_kernel):
        assert step(double) is double
    try:
        assert _jit.kernel(double).compiled is double
    finally:
        _jit.KERNELS.pop()
    *steps, cached = given
    assert cached.pop("cache", True)
    # One policy: no option that would let infinities be optimised away.
    assert cached == {"nogil": True, "error_model": "numpy"}
    assert [{**options} | cached == options for options in steps] == [True] * 4
    allowed = [options.get("fastmath", set()) for options in steps]
    assert allowed == [set(), set(), {"contract"}, {"contract", "reassoc"}]


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """A folder of its own for the cache."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def found_in_cache():
    """Whether the kernel, taken up as a new process would, is found; it works in any case."""
    kernel = _jit.kernel(double)
    assert kernel(21) == 42
    return sum(kernel.stats.cache_hits.values()) == 1


compiled_only = pytest.mark.skipif(SMALL, reason="plain Python has no cache")


@compiled_only
@pytest.mark.usefixtures("cache")
def test_a_kernel_is_cached_on_disk():
    assert not found_in_cache()
    assert found_in_cache()


_double_step = _jit.step_kernel(double)


def _add_doubles(first, second):
    return _double_step(first) + _double_step(second)


@compiled_only
@pytest.mark.usefixtures("cache")
def test_a_step_has_machine_code_of_its_own_only_for_python():
    assert _jit.kernel(_add_doubles)(1, 20) == 42
    (compiled,) = _double_step.overloads.values()
    assert compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name) == 0
    # For a type that a kernel has compiled, and for another one.
    assert _double_step(21) == 42
    assert _double_step(0.5) == 1.0


@compiled_only
@pytest.mark.parametrize("plainly", ["0", "1"])
def test_a_change_in_any_file_of_the_own_package_makes_a_kernel_stale(tmp_path, plainly):
    steps = tmp_path / "other" / "inner" / "steps.py"
    steps.parent.mkdir(parents=True)
    for folder in (steps.parent, steps.parent.parent):
        (folder / "__init__.py").touch()
    policy = "from lslmatch._jit import inline_kernel, kernel\n"
    steps.write_text(policy + "@inline_kernel\ndef step(x):\n    return 2.0 * x\n")
    (tmp_path / "other" / "kernels.py").write_text(
        policy + "from other.inner.steps import step\n@kernel\ndef call(x):\n    return step(x) + 1.0\n"
    )
    program = f"""
        import sys
        sys.path.insert(0, {str(tmp_path)!r})
        from other.kernels import call
        print(call(1.0), sum(call.stats.cache_hits.values()))
        """
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "LSLMATCH_PLAIN_NUMBA": plainly}
    assert run_compiled(program, **cache) == "3.0 0\n"
    assert run_compiled(program, **cache) == "3.0 1\n"
    steps.write_text(steps.read_text().replace("2.0 * x", "20.0 * x"))
    assert run_compiled(program, **cache) == "21.0 0\n"


@compiled_only
def test_a_change_anywhere_in_the_library_makes_every_kernel_stale(tmp_path):
    library = tmp_path / "library" / "lslmatch"
    shutil.copytree(Path(lslmatch.__file__).parent, library, ignore=shutil.ignore_patterns("__pycache__"))
    program = """
        from lslmatch.alignment import moments
        moments.estimate_affine([[0.0], [2.0]], [[0.0], [1.0]])
        print(sum(moments._centred_statistics.stats.cache_hits.values()))
        """
    places = {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(library.parent)}
    assert [run_compiled(program, **places) for _ in range(2)] == ["0\n", "1\n"]
    with open(library / "io" / "__init__.py", "a", encoding="utf-8") as stream:
        stream.write("CONSTANT = 1\n")
    assert run_compiled(program, **places) == "0\n"


@compiled_only
@pytest.mark.parametrize("named", ["NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "HOME"])
def test_kernels_are_kept_in_the_users_cache_directory_and_never_in_the_package(tmp_path, named):
    if named != "NUMBA_CACHE_DIR" and sys.platform != "linux":
        pytest.skip("other platforms have other conventions")
    library = tmp_path / "library" / "lslmatch"
    shutil.copytree(Path(lslmatch.__file__).parent, library, ignore=shutil.ignore_patterns("__pycache__"))
    program = """
        import lslmatch
        lslmatch.estimate_affine([[0.0], [2.0]], [[0.0], [1.0]])
        """
    unset = dict.fromkeys(["NUMBA_CACHE_DIR", "XDG_CACHE_HOME"])
    run_compiled(program, **unset | {named: str(tmp_path / "named"), "PYTHONPATH": str(library.parent)})
    expected = {
        "NUMBA_CACHE_DIR": "named",
        "XDG_CACHE_HOME": "named/lslmatch",
        "HOME": "named/.cache/lslmatch",
    }
    kept = {path.parent.parent for path in tmp_path.rglob("*.nb[ic]")}
    assert kept == {tmp_path / expected[named]}


@compiled_only
@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
@pytest.mark.parametrize("left", [0, 20])
def test_a_damaged_cache_is_replaced(cache, suffix, left):
    assert not found_in_cache()
    (path,) = cache.rglob(f"*.{suffix}")
    path.write_bytes(path.read_bytes()[:left])
    assert not found_in_cache()
    assert found_in_cache()


@compiled_only
def test_a_cache_that_cannot_be_written_any_more_costs_time_only(cache, monkeypatch):
    assert not found_in_cache()
    kernel = _jit.kernel(double)
    shutil.rmtree(cache)
    cache.touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    assert kernel(21) == 42
    assert cache.read_bytes() == b""


@compiled_only
def test_a_kernel_without_a_place_for_its_cache_is_compiled_all_the_same(monkeypatch):
    monkeypatch.setattr(folders, "kernel_folder", lambda file: None)
    assert _jit.kernel(double)(21) == 42


def test_the_collector_rests_only_while_a_kernel_is_compiled():
    printed = run_compiled(
        """
        import gc
        import numba
        from numba.core import event
        from lslmatch._jit import KERNELS, kernel

        class Watch(event.Listener):
            def on_start(self, compilation):
                seen.append(gc.isenabled())

            def on_end(self, compilation):
                pass

        event.register("numba:compile", Watch())

        def compile_anew(wrap):
            seen.clear()
            wrap(lambda value: value + 1)(1)
            print(seen, gc.isenabled())

        seen = []
        compile_anew(kernel)
        compile_anew(numba.njit)
        gc.disable()
        compile_anew(kernel)
        gc.enable()
        try:
            kernel(lambda value: value.missing)(1)
        except numba.TypingError:
            print(gc.isenabled())
        """
    )
    assert printed.splitlines() == ["[False] True", "[True] True", "[False] False", "True"]
