"""The same trials on a real dask scheduler with two real worker processes."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.verification.support import exit_code, run, run_studies
from verification.engine.workers import Pool

pytest.importorskip("distributed")

CHECKOUT = Path(__file__).parents[3]
CLAIMS = ["naive-lsl-fails", "lemma-2"]

# Sockets and loops that distributed leaves to the garbage collector; its own matter, not this package's.
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture
def cluster(tmp_path):
    """The scheduler's address and the two worker processes, all ended afterwards."""
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT), "OMP_NUM_THREADS": "1"}
    file = tmp_path / "scheduler.json"

    def start(command, *arguments):
        return subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.{command}", *arguments, "--scheduler-file", str(file)],
            cwd=tmp_path,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    processes = [start("dask_scheduler", "--port", "0", "--no-dashboard", "--host", "127.0.0.1")]
    worker = ("dask_worker", "--nthreads", "1", "--no-nanny", "--no-dashboard")
    try:
        processes += [start(*worker), start(*worker)]
        yield wait_for_workers(file, 2), processes[1:]
    finally:
        for process in reversed(processes):
            process.kill()
            process.wait()


def wait_for_workers(file, count):
    from distributed import Client

    deadline = time.monotonic() + 60
    while not file.exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    with Client(scheduler_file=str(file), timeout=60) as client:
        client.wait_for_workers(count, timeout=60)
        return client.scheduler.address


def test_a_cluster_gives_the_numbers_of_local_workers(cluster, tmp_path):
    address, _ = cluster
    here = run(CLAIMS, tmp_path / "here", pool=Pool(2))
    assert run(CLAIMS, tmp_path / "there", pool=Pool(1, address)) == here
    studies = ["scale-error", "adversarial-family"]
    here = run_studies(studies, tmp_path / "studies here")
    assert run_studies(studies, tmp_path / "studies there", pool=Pool(1, address)) == here


def test_a_worker_that_is_killed_in_the_middle_changes_nothing(cluster, tmp_path):
    address, workers = cluster
    here = run(CLAIMS, tmp_path / "here")
    seen = []

    def kill_one(batch, done, total):
        seen.append((done, total))
        if done == 3:
            workers[0].kill()

    assert run(CLAIMS, tmp_path / "there", pool=Pool(1, address), progress=kill_one) == here
    assert workers[0].wait() != 0
    assert seen[-1][0] == seen[-1][1] > 3


def test_a_scheduler_that_is_not_there(tmp_path, capsys):
    import dask

    with dask.config.set({"distributed.comm.timeouts.connect": "1s"}):
        assert exit_code(tmp_path, "--only", "lemma-2", "--scheduler", "tcp://127.0.0.1:9") == 2
    assert "cannot be reached" in capsys.readouterr().err
