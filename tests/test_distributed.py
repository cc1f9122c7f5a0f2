"""Matching on a real Dask scheduler with real worker processes, one of them killed, others without memory."""

import os
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

import lslmatch
from lslmatch import distributed
from lslmatch._cluster import lent_cluster, row_shares
from lslmatch._progress import listening
from lslmatch.large import matching as large
from tests.support.reference import SMALL
from tests.support.solver import set_solver

dask = pytest.importorskip("distributed")

# Sockets and loops that distributed leaves to the garbage collector; its own matter, not this package's.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

WORKERS = 2
N = 60 if SMALL else 600


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """A client of a scheduler with two workers, and the workers' processes; all ended afterwards."""
    folder = tmp_path_factory.mktemp("cluster")
    file = folder / "scheduler.json"
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1]), "OMP_NUM_THREADS": "1"}

    def start(command, *arguments):
        return subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.{command}", *arguments, "--scheduler-file", str(file)],
            cwd=folder,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    processes = [start("dask_scheduler", "--port", "0", "--no-dashboard", "--host", "127.0.0.1")]
    worker = ("dask_worker", "--nthreads", "1", "--no-nanny", "--no-dashboard")
    processes += [start(*worker) for _ in range(WORKERS)]
    try:
        deadline = time.monotonic() + 120
        while not file.exists() and time.monotonic() < deadline:
            time.sleep(0.1)
        with dask.Client(scheduler_file=str(file), timeout=120) as client:
            client.wait_for_workers(WORKERS, timeout=120)
            yield client, processes[1:]
    finally:
        for process in reversed(processes):
            process.kill()
            process.wait()


@pytest.fixture(autouse=True)
def _all_is_worth_the_way(monkeypatch):
    monkeypatch.setattr(distributed, "LEAST_PAIRS", 1)


def draw(n=N, m=N, d=20, noise=0.4, dtype=np.float64):
    rng = np.random.default_rng([n, d])
    features = rng.normal(size=(max(n, m), d))
    x = (features + noise * rng.normal(size=features.shape))[:n]
    y = rng.permutation(features + noise * rng.normal(size=features.shape))[:m]
    return x.astype(dtype), y.astype(dtype)


def assert_same(found, expected):
    for name in ("permutation", "scale", "shift", "objective", "row_dual", "col_dual"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))


#: Shares that were computed elsewhere.
shares_told = []


def counting(what, done, total):
    if what == "blocks of rows seen":
        shares_told.append((done, total))


@pytest.mark.parametrize("kind", ["large", "paths", "unequal", "regions"])
def test_the_result_is_that_of_one_machine_bit_for_bit(kind, cluster, monkeypatch):
    client, _ = cluster
    if kind == "large":
        monkeypatch.setattr(large, "LEAST_PAIRS", 1)
        x, y = draw(noise=0.02, dtype=np.float32)
    elif kind == "regions":
        set_solver(monkeypatch, routes=("nearest", "paths"), region_pairs=0, block_rows=16, tile_columns=32)
        x, y = draw(d=2, noise=1e-4)
    else:
        set_solver(monkeypatch, routes=("nearest", "paths"), kept_pairs=0, sweeps=2)
        x, y = draw(m=N + 40 * (kind == "unequal"), noise=0.7)
    expected = lslmatch.match(x, y)
    shares_told.clear()
    with listening(counting):
        found = distributed.match(x, y, client=client)
        assert shares_told, "nothing was computed elsewhere"
        assert_same(found, expected)
        shares_told.clear()
        violation = distributed.check_certificate(x, y, found, client=client)
    assert shares_told, "nothing was checked elsewhere"
    assert violation == lslmatch.check_certificate(x, y, expected) < 1e-10
    duals = found.row_dual.copy()
    duals[3] += 0.5
    wrong = found._replace(row_dual=duals)
    assert distributed.check_certificate(x, y, wrong, client=client) >= 0.49
    with pytest.raises(ValueError, match="violates its certificate"):
        distributed.check_certificate(x, y, wrong, client=client, atol=1e-6)


def test_arrays_of_dask_are_brought_here(cluster):
    array = pytest.importorskip("dask.array")
    client, _ = cluster
    x, y = draw(40, 40, 3, 0.01)
    found = distributed.match(array.from_array(x, chunks=7), array.from_array(y, chunks=9), client=client)
    assert_same(found, lslmatch.match(x, y))


def test_errors_are_those_of_one_machine(cluster):
    client, _ = cluster
    x, y = draw(40, 40, 3, 0.01)
    with pytest.raises(ValueError, match="objective must be one of"):
        distributed.match(x, y, client=client, objective="least")
    with pytest.raises(TypeError, match="client must be a distributed.Client; got a str"):
        distributed.match(x, y, client="tcp://127.0.0.1:8786")
    with pytest.raises(ZeroDivisionError):
        distributed.DaskCluster(client).map(divide, (1,), [(1,), (0,)])
    assert lent_cluster(10**9) is None


def divide(p, q):
    return p // q


def test_an_asynchronous_client_is_refused(cluster, monkeypatch):
    client, _ = cluster
    monkeypatch.setattr(type(client), "asynchronous", True)
    with pytest.raises(TypeError, match="must not be asynchronous"):
        distributed.DaskCluster(client)


@pytest.mark.parametrize(
    ("n", "step", "count"), [(1, 1, 5), (100, 7, 3), (64, 64, 2), (10, 1, 10), (10, 3, 99)]
)
def test_shares_are_whole_blocks_and_all_rows(n, step, count):
    shares = row_shares(n, step, count)
    assert [row for first, last in shares for row in range(first, last)] == list(range(n))
    assert all(first % step == 0 for first, _ in shares)
    assert len(shares) <= count


def test_what_arrives_may_be_written_to():
    values = np.arange(4.0)
    values.flags.writeable = False
    made = distributed._writable((values, 3, (values,)))
    assert made[0].flags.writeable
    assert made[2][0].flags.writeable
    assert made[1] == 3
    assert distributed._writable(made[0]) is made[0]


def fail_without_memory(rows):
    """On one worker there is no memory, once and for all."""
    if os.environ.get("LSLMATCH_TEST_MEMORY") == "none":
        np.empty(1 << 60, np.uint8)
    return rows + 1


def take_memory():
    os.environ["LSLMATCH_TEST_MEMORY"] = "none"


def give_memory():
    os.environ.pop("LSLMATCH_TEST_MEMORY", None)


def test_what_a_worker_has_no_memory_for_is_computed_elsewhere_or_here(cluster):
    client, _ = cluster
    lent = distributed.DaskCluster(client)
    some = list(client.nthreads())
    client.run(take_memory, workers=some[:1])
    shares = [(k,) for k in range(24)]
    expected = [k + 1 for k in range(24)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", distributed.LostWorkWarning)
        assert lent.map(fail_without_memory, (), shares) == expected
    client.run(take_memory)
    with pytest.warns(distributed.LostWorkWarning, match="24 of 24 blocks were lost"):
        assert lent.map(fail_without_memory, (), shares) == expected
    client.run(give_memory)


def test_a_worker_that_is_killed_in_the_middle_costs_nothing_but_time(cluster, monkeypatch):
    """The last test: first one worker dies, then all do."""
    client, workers = cluster
    set_solver(monkeypatch, routes=("nearest", "paths"), kept_pairs=0, sweeps=1, block_rows=8)
    x, y = draw(noise=0.5)
    expected = lslmatch.match(x, y)
    killed = []

    def kill_one(what, done, total):
        if what == "blocks of rows seen" and not killed:
            killed.append((done, total))
            workers[0].kill()

    with listening(kill_one):
        found = distributed.match(x, y, client=client)
    assert killed
    assert killed[0][0] < killed[0][1], "nothing was left to compute"
    assert_same(found, expected)
    monkeypatch.setattr(distributed, "_PATIENCE", 1.0)
    workers[1].kill()
    workers[1].wait()
    with pytest.warns(distributed.LostWorkWarning, match="were lost"):
        found = distributed.match(x, y, client=client)
    assert_same(found, expected)
