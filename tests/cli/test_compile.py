"""The command ``compile``: it needs every kernel, and after it nothing is compiled any more."""

import subprocess
import sys

import numba
import numpy as np
import pytest

import lslmatch
from lslmatch import _jit
from lslmatch.cli import compile_command, kernels
from lslmatch.cli import main as command_line
from tests.support.command_line import table
from tests.support.planted import draw, strong_direction

compiled_only = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled here")


@compiled_only
def test_after_it_the_public_functions_compile_nothing():
    kernels.run_all(0, 1)
    assert [kernel.py_func.__name__ for kernel in kernels.all_kernels() if not kernel.signatures] == []
    heard = []
    x, y, _ = draw(strong_direction(4), 40, 1.0, np.random.default_rng(5))
    with kernels.compilations(heard.append):
        for options in (
            {"alignment": "profile"},
            {"alignment": "auto"},
            {"alignment": "robust"},
            {"covariance": "estimate"},
            {"covariance": np.eye(4)},
            {"pairs": 30},
        ):
            result = lslmatch.match(x, y, **options)
            lslmatch.check_certificate(x, y, result)
            lslmatch.diagnose(x, y, result, margins="exact")
        lslmatch.match_path(x, y).matching(10)
        lslmatch.match(x[:30], y, objective="lss")
    assert heard == []


@compiled_only
def test_a_compilation_is_heard():
    @_jit.kernel
    def add_one(value):
        return value + 1.0

    heard = []
    try:
        with kernels.compilations(heard.append):
            assert add_one(1.0) == 2.0
        assert not any(kernel is add_one for kernel in kernels.all_kernels())
    finally:
        _jit.KERNELS.remove(add_one)
    assert heard in (["add_one", None], [])  # nothing if an earlier run has kept it


@compiled_only
def test_the_command_says_what_is_there(capsys, monkeypatch):
    monkeypatch.setattr(compile_command, "_start", lambda turn, turns: python("pass"))
    total = len(kernels.all_kernels())
    monkeypatch.setattr(compile_command, "count_kept", lambda: total)
    assert command_line.main(["compile", "--workers", "2"]) == 0
    assert (
        table(capsys.readouterr().out)["kernels"].strip() == f"{total} of {total} are compiled, 0 of them now"
    )


def python(code):
    return subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )


@compiled_only
@pytest.mark.parametrize(
    ("code", "because"),
    [
        ("raise ValueError('out of luck')", "a process that compiles failed: ValueError: out of luck"),
        ("pass", "1 kernels could not be kept: is the cache directory writable?"),
    ],
)
def test_trouble_is_told(code, because, capsys, monkeypatch):
    monkeypatch.setattr(compile_command, "_start", lambda turn, turns: python(code))
    total = len(kernels.all_kernels())
    monkeypatch.setattr(compile_command, "count_kept", lambda: total - 1)
    assert command_line.main(["compile", "--workers", "1"]) == 2
    assert because in capsys.readouterr().err


def test_workers_are_counted(capsys):
    assert command_line.main(["compile", "--workers", "0"]) == 2
    assert "workers must be at least 1" in capsys.readouterr().err


def test_without_compilation_there_is_nothing_to_do(capsys, monkeypatch):
    monkeypatch.setattr(compile_command, "all_kernels", list)
    assert command_line.main(["compile"]) == 0
    assert "none: NUMBA_DISABLE_JIT is set" in capsys.readouterr().out


@compiled_only
def test_what_is_kept_is_known_by_its_file(tmp_path, monkeypatch):
    assert not _jit.is_kept(numba.njit(lambda value: value))
    kernel = kernels.all_kernels()[0]
    kernels.runs()[0]()
    monkeypatch.setattr(kernel._cache._cache_file, "_index_path", str(tmp_path / "missing"))
    assert not _jit.is_kept(kernel)
