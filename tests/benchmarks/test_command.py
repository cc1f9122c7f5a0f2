"""The whole machinery on tiny instances, as a user runs it. Nothing here depends on how long anything takes:

the baselines are moved far from the timings before they are compared.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]

#: A plugin for the timing run: the dense solver sleeps before it starts.
SLOWED = """
import time
from lslmatch.assignment import solve

assign = solve.assign

def slowed(costs):
    time.sleep(0.2)
    return assign(costs)

solve.assign = slowed
"""


def run(folder, *arguments, environment=None, status=0):
    command = [sys.executable, "-m", "tests.benchmarks", "--smoke", "--folder", str(folder), *arguments]
    done = subprocess.run(
        command,
        cwd=CHECKOUT,
        env=os.environ | (environment or {}),
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where a first run left a baseline, with the library made four times slower than it was measured."""
    folder = tmp_path_factory.mktemp("benchmarks")
    run(folder, "--update")
    path = folder / "baseline.json"
    stored = json.loads(path.read_text(encoding="utf-8"))
    for entry in stored["cases"].values():
        entry["seconds"]["lslmatch"] *= 4.0
    path.write_text(json.dumps(stored), encoding="utf-8")
    return folder


def test_unslowed_kernels_pass_and_slowed_ones_are_caught(folder, tmp_path):
    printed = run(folder, "--only", "dense-u*")
    assert "LOST" not in printed
    (tmp_path / "slowed.py").write_text(SLOWED, encoding="utf-8")
    paths = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")]))
    environment = {"PYTEST_ADDOPTS": "-p slowed", "PYTHONPATH": paths}
    printed = run(folder, "--only", "dense-u*", environment=environment, status=1)
    assert printed.count("timing again: dense-uniform-n16") == 3
    assert "LOST: dense-uniform-n16" in printed


def test_a_run_leaves_a_table_and_a_history(folder):
    lines = (folder / "history.jsonl").read_text(encoding="utf-8").splitlines()
    first = json.loads(lines[0])
    assert {"date", "revision", "versions", "summary", "startup", "selection"} <= first.keys()
    assert first["summary"]["match"]["cases"] == 4
    assert (folder / "results" / "ratios.md").read_text(encoding="utf-8").count("planted") == 11
    assert "geometric mean" in run(folder, "--table")


def test_memory_is_measured_with_a_certificate(folder):
    assert "certificate violated by" in run(folder, "--memory")
    stored = json.loads((folder / "results" / "memory.json").read_text(encoding="utf-8"))
    assert all(result["violation"] < 1e-9 for result in stored["results"])


def test_history_and_growth_are_drawn(folder):
    pytest.importorskip("matplotlib")
    run(folder, "--growth")
    run(folder, "--history")
    for name in ("growth.svg", "growth.png", "growth.csv", "history.svg", "history.png"):
        assert (folder / "results" / name).stat().st_size > 0
