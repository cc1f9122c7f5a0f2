"""The long run in small: what it calls flat, that a leak is found, and that it can be interrupted."""

import itertools
import os
import signal
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from tests.stress import endurance

MINUTES = np.arange(1.0, 121.0)
#: Kilobytes.
LEAK = 256.0


def verdicts(slope, trials=200):
    """Judge memory that takes 300 megabytes to warm up, grows by so many an hour, and goes to and fro."""
    rng = np.random.default_rng(3)
    for _ in range(trials):
        steps = np.repeat(rng.normal(size=30), 4)
        memory = 600.0 - 300.0 * (MINUTES < 10) + slope * MINUTES / 60.0 + 0.5 * steps
        yield endurance.judge(MINUTES, memory).word


# At 99 % the rate of each wrong answer is 0.5 %; more than 5 of 200 have a probability of 0.1 %.
def test_memory_that_stays_is_flat():
    words = list(verdicts(0.0))
    assert words.count("grows") <= 5
    assert words.count("flat") >= 150


def test_a_kilobyte_a_match_is_growth():
    # Three matches a second.
    assert set(verdicts(3 * 3600 / 1024)) == {"grows"}


def test_growth_at_the_allowance_is_hardly_ever_called_anything():
    words = list(verdicts(endurance.ALLOWANCE))
    assert words.count("flat") <= 5
    assert words.count("grows") <= 5


@pytest.mark.parametrize("lines", [0, 1, 15])
def test_a_few_lines_are_too_short(lines):
    assert endurance.judge(MINUTES[:lines], np.full(lines, 500.0)).word == "too short to tell"


@pytest.fixture
def clock(monkeypatch):
    """Let every match take a second, however long it takes."""
    ticks = itertools.count()
    monkeypatch.setattr(
        endurance, "time", SimpleNamespace(perf_counter=lambda: next(ticks), process_time=float)
    )


#: A run of which every match takes a second, in a process of its own: memory that other tests have freed
#: would be used again, and hide a leak.
RUN = """
import itertools, pathlib, sys, types
from tests.stress import endurance
ticks = itertools.count()
endurance.time = types.SimpleNamespace(perf_counter=lambda: next(ticks), process_time=float)
endurance.run(2, pathlib.Path(sys.argv[1]), largest=12, keep=float(sys.argv[2]))
"""


@pytest.mark.parametrize("keep", [0.0, LEAK])
def test_a_leak_is_found_and_measured(keep, tmp_path):
    path = tmp_path / "lines.csv"
    command = [sys.executable, "-c", RUN, str(path), str(keep)]
    subprocess.run(
        command, check=True, timeout=600, env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    )
    rows = endurance.read_lines(path)
    middle, last = rows[len(rows) // 2], rows[-1]
    assert (last["matches"], last["checked"]) == (120, 12)
    growth = 1024 * (last["kept_mb"] - middle["kept_mb"]) / (last["matches"] - middle["matches"])
    assert growth == pytest.approx(keep, abs=0.1 * LEAK)
    if keep:
        assert endurance.main(["--judge", f"--csv={path}"]) == 1


@pytest.mark.usefixtures("clock")
def test_an_interrupted_run_concludes(tmp_path, monkeypatch, capsys):
    matches, match_once = itertools.count(1), endurance.match_once

    def interrupted(rng, largest):
        if next(matches) == 20:
            os.kill(os.getpid(), signal.SIGINT)
        return match_once(rng, largest)

    monkeypatch.setattr(endurance, "match_once", interrupted)
    path = tmp_path / "lines.csv"
    endurance.run(2, path, largest=12)
    assert next(matches) == 21
    assert endurance.main(["--judge", f"--csv={path}"]) == 2
    assert "memory: too short to tell" in capsys.readouterr().out


def test_a_wrong_answer_is_refused():
    instance, result = endurance.match_once(np.random.default_rng(5), 12)
    assert endurance.check(instance, result) <= 1e-10
    with pytest.raises(AssertionError, match="certificate is violated"):
        endurance.check(instance, result._replace(permutation=np.roll(result.permutation, 1)))
