"""The command ``compile``: it needs every kernel, and after it nothing is compiled any more."""

import subprocess
import sys

import numba
import pytest

from lslmatch import _jit
from lslmatch.cli import compile_command, kernels
from lslmatch.cli import main as command_line
from tests.support.command_line import table
from tests.support.processes import run_compiled, run_python

compiled_only = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled here")


#: What most people call, and more.
_TYPICAL = """
import numpy as np
import lslmatch
from lslmatch.cli import kernels
from tests.support.planted import draw, strong_direction

x, y, _ = draw(strong_direction(4), 40, 1.0, np.random.default_rng(5))
wide = np.random.default_rng(6).normal(size=(60, 25))

def call():
    for options in (
        {},
        {"alignment": "profile"},
        {"alignment": "auto"},
        {"alignment": "robust"},
        {"alignment": "identity"},
        {"covariance": "estimate"},
        {"covariance": np.eye(4)},
        {"covariance": "auto"},
        {"pairs": 30},
        {"objective": "lss"},
        {"objective": "greedy"},
    ):
        result = lslmatch.match(x, y, **options)
        if options != {"objective": "greedy"}:
            lslmatch.check_certificate(x, y, result)
        lslmatch.diagnose(x, y, result, margins="exact")
    lslmatch.match(x, y, pairs="auto")
    lslmatch.match(wide, wide[::-1] + 0.1, alignment="profile")
    lslmatch.match(wide[:30], wide, objective="lss")
    lslmatch.match_path(x, y).matching(10)
    lslmatch.match_many([x, x], [y, y])
    lslmatch.solve_assignment(wide)
"""


@compiled_only
def test_every_kernel_is_reached_and_after_it_nothing_is_compiled():
    printed = run_compiled(
        _TYPICAL
        + """
kernels.run_all(0, 1)
print([kernels.kernel_name(kernel) for kernel in kernels.all_kernels() if not kernel.signatures])
heard = []
with kernels.compilations(heard.append):
    call()
print(heard)
"""
    )
    assert printed.splitlines() == ["[]"] * 2


@compiled_only
def test_a_kernel_that_no_run_reaches_is_missed(monkeypatch):
    monkeypatch.setattr(kernels, "is_kept", lambda kernel: kernel.py_func.__name__ != "_bid")
    assert kernels.missing() == ["lslmatch.assignment.auction._bid"]
    assert kernels.count_kept() == len(kernels.all_kernels()) - 1


@compiled_only
@pytest.mark.parametrize("folder", ["clone", "elsewhere"])
def test_the_command_as_a_user_runs_it(folder, tmp_path):
    # As an installed program: its own folder is the first on the path, not the one that it is started in.
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "lslmatch-command"
    program.write_text("import sys\nfrom lslmatch.cli.main import main\nsys.exit(main())\n")
    place = tmp_path / folder
    place.mkdir()
    if folder == "clone":  # with another copy of the library
        (place / "lslmatch").mkdir()
        (place / "lslmatch" / "__init__.py").write_text("raise RuntimeError('this is another copy')\n")
    done = run_python(program, "compile", "--workers", "1", folder=place)
    assert done.returncode == 0, done.stderr
    total = len(kernels.all_kernels())
    assert table(done.stdout)["kernels"].strip().startswith(f"{total} of {total} are compiled, ")


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
    monkeypatch.setattr(compile_command, "missing", lambda: ["lslmatch.costs._fill"])
    assert command_line.main(["compile", "--workers", "1"]) == 2
    assert because in (said := capsys.readouterr().err)
    assert code != "pass" or "Missing: lslmatch.costs._fill" in said


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
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    assert not _jit.is_kept(kernel)
