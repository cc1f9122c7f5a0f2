"""SciPy's own tests of `linear_sum_assignment`, with ours in its place and nothing else changed."""

import importlib.util
import re
import sys
from collections.abc import Collection
from pathlib import Path
from types import ModuleType

import pytest

import lslmatch

IMPORT = "from scipy.optimize import linear_sum_assignment\n"
SOURCE = Path(importlib.util.find_spec("scipy.optimize.tests").origin).with_name("test_linear_assignment.py")


def load_scipy_tests():
    """Run the file as a module of its own, after the exchange of its one import."""
    text = SOURCE.read_text(encoding="utf-8")
    assert text.count(IMPORT) == 1
    module = ModuleType("scipy_linear_assignment_tests")
    changed = text.replace(IMPORT, "from lslmatch import linear_sum_assignment\n")
    exec(compile(changed, str(SOURCE), "exec"), vars(module))
    return module


def repeatable(function):
    """Let parametrisations by a one-time iterator be read more than once, as pytest demands."""
    marks = []
    for mark in getattr(function, "pytestmark", []):
        names, values, *rest = mark.args
        values = values if isinstance(values, Collection) else list(values)
        marks.append(getattr(pytest.mark, mark.name)(names, values, *rest, **mark.kwargs).mark)
    function.pytestmark = marks
    return function


SCIPY_MODULE = load_scipy_tests()
SCIPY_TESTS = {
    name: repeatable(test) for name, test in vars(SCIPY_MODULE).items() if name.startswith("test_")
}
vars(sys.modules[__name__]).update(SCIPY_TESTS)


def test_all_of_scipys_tests_run_against_this_library(request):
    assert SCIPY_MODULE.linear_sum_assignment is lslmatch.linear_sum_assignment
    defined = set(re.findall(r"^def (test_\w+)", SOURCE.read_text(encoding="utf-8"), re.MULTILINE))
    assert defined == set(SCIPY_TESTS)
    assert len(defined) >= 10
    here = [item for item in request.session.items if item.path == Path(__file__)]
    # Fewer only where some were deselected on the command line.
    if {item.name.partition("[")[0] for item in here} > defined:
        assert len(here) >= 20
