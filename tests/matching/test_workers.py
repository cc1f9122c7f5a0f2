"""Several workers, several threads, and Ctrl-C."""

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from lslmatch import costs as pricing
from lslmatch import match
from tests.support.matching import noise_of, objectives
from tests.support.processes import start_python
from tests.support.reference import SMALL
from tests.support.sets import draw
from tests.support.solver import set_solver


def assert_identical(first, second):
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one, other)


@objectives
@pytest.mark.parametrize("workers", [2, 3])
@pytest.mark.parametrize(
    ("n", "m"), [(33, 33), (20, 31), (31, 20)] if SMALL else [(300, 300), (150, 320), (320, 150)]
)
@pytest.mark.usefixtures("each_solver")
def test_the_number_of_workers_changes_no_bit(objective, workers, n, m, monkeypatch):
    monkeypatch.setattr(pricing, "_BLOCK_ENTRIES", 50 * m)
    set_solver(monkeypatch, block_rows=16)
    x, y = draw(n, 3), draw(m, 3, 1)
    noise = noise_of(objective, n, m)
    alone = match(x, y, objective=objective, noise=noise)
    assert_identical(match(x, y, objective=objective, noise=noise, workers=workers)[:7], alone[:7])


def test_eight_threads_may_match_at_once():
    n = 12 if SMALL else 150
    problems = [
        (draw(n, 3, k), draw(n + k % 3, 3, 100 + k), objective)
        for k, objective in enumerate(2 * ["lsl", "lss", "greedy", "lsl", "lsl", "lss", "greedy", "lsl"])
    ]

    def solve(problem):
        x, y, objective = problem
        return match(x, y, objective=objective, workers=2)

    expected = [solve(problem) for problem in problems]
    with ThreadPoolExecutor(8) as pool:
        for found, wanted in zip(pool.map(solve, problems), expected, strict=True):
            assert_identical(found, wanted)


#: Machol and Wien's costs, on which every path is long. Uninterrupted, one solution takes about a minute.
LONG_SOLVE = """
import numpy as np
from lslmatch import solve_assignment
solve_assignment(np.eye(9))
side = np.arange(1.0, {n} + 1)
cost = np.outer(side, side)
print("ready", flush=True)
while True:
    solve_assignment(cost)
"""


@pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals")
def test_an_interrupt_reaches_a_long_solve():
    with start_python(LONG_SOLVE.format(n=300 if SMALL else 4500)) as child:
        try:
            assert child.stdout.readline() == "ready\n", child.stderr.read()
            time.sleep(1.0)
            assert child.poll() is None
            child.send_signal(signal.SIGINT)
            _, err = child.communicate(timeout=20)
        finally:
            child.kill()
    assert child.returncode != 0
    assert err.rstrip().endswith("KeyboardInterrupt")
