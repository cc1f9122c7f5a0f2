"""A second process that compiles while this one works, when kernels are needed for the first time.

Numba compiles one kernel at a time in a process. On two processors, a second process takes a good part of the
waiting away: it compiles what will be needed last, and this one finds that on the disk.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from lslmatch._jit import KERNELS, can_be_kept, is_kept
from lslmatch.assignment.augmentation import augment_all
from lslmatch.assignment.dense import DualState
from lslmatch.assignment.screening import make_screen
from lslmatch.assignment.settings import or_default
from lslmatch.assignment.shortlists import Shortlists
from lslmatch.costs import log_rule
from lslmatch.geometry.coordinates import Geometry


@contextmanager
def compiling_meanwhile() -> Iterator[None]:
    """Let a second process compile the slowest kernel during the block, unless it is there already.

    It is stopped at the end of the block; what it has compiled by then is kept.
    """
    process = None
    if (os.cpu_count() or 1) > 1 and sys.executable and _is_missing():
        code = f"from {__name__} import compile_slowest; compile_slowest()"
        quiet = subprocess.DEVNULL
        process = subprocess.Popen([sys.executable, "-c", code], stdin=quiet, stdout=quiet, stderr=quiet)
    try:
        yield
    finally:
        if process is not None:
            process.terminate()
            process.wait()


def _is_missing() -> bool:
    """Tell whether the slowest kernel has to be compiled, and can be kept then."""
    kernels = [kernel for kernel in KERNELS if kernel.py_func.__module__ == augment_all.__module__]
    return any(can_be_kept(kernel) and not is_kept(kernel) for kernel in kernels)


def compile_slowest() -> None:
    """Match four points by shortest augmenting paths, of which nothing else has to be compiled."""
    points = np.arange(4.0)[:, None] / 4.0
    zero = np.zeros_like(points)
    geometry, settings = Geometry(points, points, zero, zero, 0), or_default(None)
    screen = make_screen(geometry, log_rule(geometry), settings)
    lists = Shortlists.empty(4, 4)
    # So low that all rows have to be computed.
    lists.bound[:] = -1000.0
    state = DualState(np.full(4, -1000.0), np.zeros(4), np.full(4, -1, np.intp), np.full(4, -1, np.intp))
    augment_all(screen, lists, state, np.arange(4), settings.steps_per_call)
