"""Threads and processes: many at once give the answers of one, and stop when they are told to."""

import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest

from lslmatch import match
from lslmatch._threads import over_rows
from tests.support.command_line import complaints
from tests.support.processes import ENVIRONMENT
from tests.support.reference import SMALL

# Enough points for lists and searches; fewer go to the dense solver.
N = 40 if SMALL else 900


def matched(seed):
    """The permutation and the bits of the duals of one instance with many conflicts."""
    x, y = np.random.default_rng(seed).normal(size=(2, N, 3))
    result = match(x, y, workers=1 + seed % 3)
    return result.permutation.tolist(), result.row_dual.tobytes(), result.col_dual.tobytes()


def test_eight_threads_at_once_give_the_answers_of_one():
    alone = [matched(seed) for seed in range(8)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(matched, range(8))) == alone


@pytest.mark.parametrize(
    "method", [m for m in ("fork", "spawn") if m in multiprocessing.get_all_start_methods()]
)
@pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")
def test_processes_give_the_answers_of_one(method):
    alone = [matched(seed) for seed in range(2)]
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(method)) as pool:
        assert list(pool.map(matched, range(2))) == alone


@pytest.mark.skipif(SMALL, reason="plain Python has no cache")
def test_processes_compile_into_one_cache(tmp_path):
    kernels = "".join(f"@kernel\ndef add_{k}(value):\n    return value + {k}\n\n" for k in (1, 7))
    program = tmp_path / "program.py"
    program.write_text(f"from lslmatch._jit import kernel\n\n{kernels}print(add_1(1), add_7(1))\n")
    cache = tmp_path / "cache"
    running = [
        subprocess.Popen(
            [sys.executable, "-W", "error", program],
            env={**ENVIRONMENT, "NUMBA_CACHE_DIR": str(cache)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    assert [process.communicate(timeout=300) for process in running] == [("2 8\n", "")] * 4
    assert len(list(cache.rglob("*.nbi"))) == len(list(cache.rglob("*.nbc"))) == 2
    assert not list(cache.rglob("*.tmp*"))


def test_every_row_is_run_once_whatever_the_workers():
    for workers in (1, 2, 3, 10**9):
        seen, lock = [], threading.Lock()

        def note(worker, first, last, seen=seen, lock=lock):
            with lock:
                seen.extend(range(first, last))

        over_rows(note, 37, 5, workers)
        assert sorted(seen) == list(range(37))


def test_the_others_stop_when_one_fails():
    failed, seen = threading.Event(), []

    def run(worker, first, last):
        if worker == 0:
            failed.set()
            raise ZeroDivisionError
        assert failed.wait(60)
        seen.append(first)
        threading.Event().wait(0.01)

    with pytest.raises(ZeroDivisionError):
        over_rows(run, 100_000, 1, 2)
    assert len(seen) < 50_000


@pytest.mark.skipif(SMALL or os.name != "posix", reason="needs compiled kernels and POSIX signals")
def test_an_interrupted_command_says_so_and_leaves_no_file(tmp_path):
    rng = np.random.default_rng(0)
    for name in "xy":
        np.save(tmp_path / f"{name}.npy", rng.normal(size=(20_000, 10)))
    program = textwrap.dedent(
        """
        import os, signal, sys, threading
        from lslmatch.cli.main import main
        from lslmatch.covariance import isotropic
        assign = isotropic.assign_sets
        def interrupted(*arguments):
            threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
            return assign(*arguments)
        isotropic.assign_sets = interrupted
        sys.exit(main(sys.argv[1:]))
        """
    )
    command = [
        sys.executable,
        "-c",
        program,
        "match",
        "x.npy",
        "y.npy",
        "--workers",
        "2",
        "--out",
        "pairs.csv",
    ]
    done = subprocess.run(
        command, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, timeout=300, check=False
    )
    assert (done.returncode, complaints(done.stderr)) == (128 + signal.SIGINT, "lslmatch: interrupted\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.npy", "y.npy"]
