"""The kernels of the library: which of them lie compiled on the disk, and runs that need all of them."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import lslmatch
from lslmatch._jit import KERNELS, hear_compilations, is_kept
from lslmatch.alignment.doubt import may_contradict
from lslmatch.columns.doubt import is_odd


def all_kernels() -> list[Any]:
    """Give the kernels of all modules; none if NUMBA_DISABLE_JIT is set."""
    for module in pkgutil.walk_packages(lslmatch.__path__, "lslmatch."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    return [kernel for kernel in KERNELS if kernel.py_func.__module__.partition(".")[0] == "lslmatch"]


def count_kept() -> int:
    """Count the kernels that need not be compiled again."""
    return len(all_kernels()) - len(missing())


def missing() -> list[str]:
    """Name the kernels that would have to be compiled."""
    return [kernel_name(kernel) for kernel in all_kernels() if not is_kept(kernel)]


def kernel_name(kernel: Any) -> str:
    """Name a kernel by its module and its function."""
    return f"{kernel.py_func.__module__}.{kernel.py_func.__name__}"


@contextmanager
def compilations(tell: Callable[[str | None], None]) -> Iterator[None]:
    """Call `tell` with the name of each kernel whose compilation begins within the block; None at its end."""
    with hear_compilations(lambda kernel: tell(kernel.py_func.__name__), lambda _: tell(None)):
        yield


def run_all(turn: int, turns: int) -> None:
    """Run all of them, beginning elsewhere in each of several processes that do so at the same time.

    A process loads what another one has compiled, so that they share the work.
    """
    order = runs()
    start = turn * len(order) // turns
    order = order[start:] + order[:start]
    for run in order if turn % 2 == 0 else reversed(order):
        run()


def runs() -> list[Callable[[], object]]:
    """Give small runs of the public functions which together need every kernel."""
    rng = np.random.default_rng(0)

    def pair(n: int, m: int, d: int, noise: float) -> tuple[Any, Any]:
        features = rng.normal(size=(max(n, m), d))
        x = features + noise * rng.normal(size=features.shape)
        return x[:n], (features + noise * rng.normal(size=features.shape))[:m]

    def judged(points: tuple[Any, Any], margins: str = "exact", **options: Any) -> None:
        result = lslmatch.match(*points, **options)
        lslmatch.check_certificate(*points, result)
        lslmatch.diagnose(*points, result, margins=margins)

    small, unequal, wide = pair(30, 30, 3, 0.1), pair(25, 40, 3, 0.1), pair(20, 20, 30, 0.5)
    streamed, hard, many = pair(450, 450, 3, 0.01), pair(450, 460, 2, 0.3), pair(4100, 4100, 2, 1e-4)
    broad = pair(1030, 1030, 16, 1e-4)
    flat, as_it_is = pair(30, 30, 2, 0.3), lslmatch.Similarity(1.0, np.eye(2), np.zeros(2))
    levels, other = (np.ones(450), np.ones(460)), rng.normal(size=(30, 3))
    costs = rng.normal(size=(8, 12))
    # So many that only an auction matches them.
    strangers = rng.normal(size=(1250, 2)), rng.normal(size=(1250, 2))
    return [
        lambda: judged(small),
        lambda: judged(streamed, "bound"),
        lambda: lslmatch.match(*small, alignment="robust"),
        lambda: lslmatch.match(small[0], rng.normal(size=(30, 3)) ** 3, alignment="robust"),
        lambda: judged(small, covariance="estimate"),
        lambda: lslmatch.match(*small, alignment="profile"),
        lambda: judged(hard, "bound"),
        lambda: judged(wide, covariance="estimate"),
        lambda: lslmatch.match_path(*small).matching(20),
        lambda: lslmatch.match(*hard, pairs=300),
        lambda: lslmatch.match(*hard, objective="lsns", noise=levels),
        lambda: lslmatch.match(*streamed, covariance="estimate"),
        lambda: lslmatch.check_certificate(*many, lslmatch.match(*many)),
        lambda: lslmatch.check_certificate(*broad, lslmatch.match(*broad)),
        lambda: judged(unequal, alignment="auto", covariance="auto"),
        lambda: lslmatch.match(*pair(410, 410, 1001, 0.1)),
        lambda: lslmatch.match(*hard, objective="lss"),
        lambda: lslmatch.match(*small, objective="greedy"),
        lambda: lslmatch.match_many([small[0]] * 2, [small[1], other]),
        lambda: lslmatch.solve_assignment(costs, maximize=True),
        lambda: lslmatch.solve_assignment(costs, unmatched=0.0),
        lambda: (lslmatch.log_cost_matrix(*small), lslmatch.standardize(small[0])),
        lambda: may_contradict(*small, np.arange(30), 1.0, np.zeros(3)),
        lambda: is_odd(*small, np.arange(30)),
        lambda: lslmatch.match(*wide, alignment="profile"),
        lambda: lslmatch.match(*strangers, alignment="identity"),
        lambda: lslmatch.prove_everywhere(*flat, lslmatch.match(*flat, alignment=as_it_is)),
    ]
