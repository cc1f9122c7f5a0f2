"""The program that changes the library in one place at a time."""

import inspect
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from tests.stress.mutation.equivalent import reasons
from verification.sabotage.changes import mutants

SOURCE = '''
import numpy as np

_LEAST, _SLACK = 3, 1.0 + 1e-9

def limited(x, most=3):
    """Cut at a limit."""
    if x > most:
        return most
    return -x + 2

class Box:
    def holds(self, x: int) -> bool:
        return min(x, 1) == 1 and not x

def length(x, y):
    total = 0.5 * np.sqrt(x - y)
    total *= _SLACK
    return total if x * x > _LEAST else 0

@np.errstate(all="ignore")
def inverse(x):
    return 1 / x
'''


def test_every_place_is_changed_once_or_twice():
    found = [(mutant.function, mutant.change) for mutant in mutants(SOURCE, "box.py")]
    assert [change for name, change in found if name == "limited"] == [
        "if x > most: -> if not x > most:",
        "x > most -> x >= most",
        "return most -> return None",
        "return -x + 2 -> return None",
        "-x + 2 -> -x - 2",
        "-x + 2 -> -x",
        "-x + 2 -> 2",
        "-x -> +x",
        "2 -> 4",
        "2 -> 3",
    ]
    of_box = [change for name, change in found if name == "Box.holds"]
    assert {"min(x, 1) -> max(x, 1)", "not x -> not not x", "min(x, 1) == 1 -> min(x, 1) >= 1"} < set(of_box)
    both = "min(x, 1) == 1 and (not x)"
    assert {f"{both} -> not x", f"{both} -> min(x, 1) == 1"} < set(of_box)


def test_terms_roots_and_constants_of_the_module_are_changed_too():
    found = [mutant.change for mutant in mutants(SOURCE, "box.py") if mutant.function == "length"]
    assert len(found) == len(set(found))
    assert found == [
        "0.5 * np.sqrt(x - y) -> 0.5 / np.sqrt(x - y)",
        "0.5 * np.sqrt(x - y) -> 0.5",
        "0.5 * np.sqrt(x - y) -> np.sqrt(x - y)",
        "0.5 -> 1.0",
        "0.5 -> 1.5",
        "0.5 -> 0.0",
        "np.sqrt(x - y) -> x - y",
        "x - y -> x + y",
        "x - y -> x",
        "x - y -> -y",
        "total *= _SLACK -> total /= _SLACK",
        "total *= _SLACK -> pass",
        "_SLACK -> 0.99 * _SLACK",
        "return total if x * x > _LEAST else 0 -> return None",
        "total if x * x > _LEAST else 0 -> total if not x * x > _LEAST else 0",
        "x * x > _LEAST -> x * x >= _LEAST",
        "x * x -> x / x",
        "x * x -> x",
        "_LEAST -> 2 * _LEAST",
        "0 -> -1",
        "0 -> 1",
    ]


def test_the_code_of_a_mutant_does_what_it_says():
    space = {}
    exec(compile(SOURCE, "box.py", "exec"), space)
    by_change = {mutant.change: mutant.code for mutant in mutants(SOURCE, "box.py")}
    assert space["limited"](1) == 1
    space["limited"].__code__ = by_change["-x + 2 -> -x - 2"]
    assert space["limited"](1) == -3


def test_changes_that_make_no_difference_are_of_lines_that_are_there():
    for place, reason in reasons().items():
        lines = inspect.getsource(import_module(place.module)).splitlines()
        assert place.line in {line.strip() for line in lines}, place
        before, arrow, after = place.change.partition(" -> ")
        assert arrow
        assert before != after
        assert reason


@pytest.mark.skipif(sys.platform == "win32", reason="mutants are tried in forked processes")
def test_mutants_are_noticed_or_not(tmp_path):
    (tmp_path / "box.py").write_text(SOURCE, encoding="utf-8")
    (tmp_path / "test_box.py").write_text(
        "from box import inverse, limited\n\n"
        "def test_it():\n    assert limited(5) == 3 and limited(1) == 1\n\n"
        "def test_the_other():\n    assert inverse(1) == 1\n",
        encoding="utf-8",
    )
    command = [
        sys.executable,
        "-m",
        "tests.stress.mutation",
        "--module",
        "box",
        str(tmp_path / "test_box.py"),
    ]
    root = Path(__file__).parents[2]
    paths = f"{tmp_path}:{root}"
    done = subprocess.run(
        [*command, "--at-least", "0.1"],
        cwd=root,
        env={"PATH": "", "PYTHONPATH": paths, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert "box:8 limited: x > most -> x >= most (1 tests)" in done.stdout
    # A function under a decorator: 1 * x is 1, too, as is the dividend, but nothing else survives.
    assert done.stdout.count("inverse: ") == 2
    assert "inverse: 1 / x -> 1 * x (1 tests)" in done.stdout
    assert "limited: return most -> return None" not in done.stdout
    assert "Box.holds" in done.stdout  # no test calls it
