"""The program as a user runs it, and trouble while it is at work."""

import contextlib
import os
import signal
import subprocess
import sys
import time

import pytest

from lslmatch import match
from lslmatch.cli import demo_command, match_command
from lslmatch.cli import main as command_line
from tests.support.command_line import CHECKOUT, complaints, read_pairs, run, table

# The program as a user runs it.


def test_program_matches_two_files(points, saved, tmp_path):
    out = tmp_path / "pairs.csv"
    done = run("match", *saved, "--paper", "--verbose", "--out", out)
    assert (done.returncode, complaints(done.stderr)) == (0, "")
    expected = match(*points)
    rows = {name: value.strip() for name, value in table(done.stdout).items()}
    assert list(rows)[:5] == ["answer", "paired", "look at", "rows", "units"]
    assert rows["answer"].startswith("24 pairs, ")
    assert rows["written"] == str(out)
    assert rows["certificate"].startswith("cheapest to within ")
    assert float(rows["scale"].split()[0]) == pytest.approx(expected.scale, rel=1e-5)
    assert float(rows["objective"].split()[0]) == pytest.approx(expected.objective, rel=1e-9)
    assert rows["seconds"].startswith("matching ")
    assert read_pairs(out)[1] == expected.permutation.tolist()


def test_program_demonstrates_itself():
    done = run("demo", "--n", 60, "--d", 5)
    assert (done.returncode, done.stderr) == (0, "")
    assert list(table(done.stdout)) == ["n", "d", "scale", "plain LSL", "affine LSL", "seconds"]


def test_program_complains_in_one_line(tmp_path):
    done = run("match", tmp_path / "x.npy", tmp_path / "y.npy")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"lslmatch: {tmp_path / 'x.npy'}: no such file or directory\n"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_program_stops_at_an_interrupt(tmp_path):
    pipe = tmp_path / "x.csv"
    os.mkfifo(pipe)
    command = [sys.executable, "-m", "lslmatch", "match", str(pipe), str(tmp_path / "y.csv")]
    with subprocess.Popen(command, cwd=CHECKOUT, stderr=subprocess.PIPE, text=True) as process:
        # The pipe can be opened once the program has opened it too: it is surely at work then.
        writing = None
        while writing is None and process.poll() is None:
            with contextlib.suppress(OSError):
                writing = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=300)
    assert (process.returncode, err) == (130, "lslmatch: interrupted\n")
    os.close(writing)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_output_without_room_is_told_in_one_line(saved):
    command = [sys.executable, "-m", "lslmatch", "match", *saved]
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            command, cwd=CHECKOUT, stdout=full, stderr=subprocess.PIPE, text=True, timeout=300
        )
    assert (done.returncode, complaints(done.stderr)) == (
        2,
        "lslmatch: standard output: no space left on device\n",
    )


@pytest.mark.skipif(os.name != "posix", reason="needs POSIX pipes")
def test_program_is_silent_when_its_reader_leaves(saved):
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "lslmatch", "match", *saved]
    with os.fdopen(writing, "w") as stdout:
        done = subprocess.run(
            command, cwd=CHECKOUT, stdout=stdout, stderr=subprocess.PIPE, text=True, timeout=300
        )
    assert (done.returncode, complaints(done.stderr)) == (1, "")


# Trouble while at work.


@pytest.mark.parametrize(
    ("trouble", "code", "because"),
    [(KeyboardInterrupt, 130, "interrupted"), (MemoryError, 2, "not enough memory")],
)
@pytest.mark.parametrize("command", ["match", "demo"])
def test_trouble_is_told_in_one_line(command, trouble, code, because, saved, capsys, monkeypatch):
    def fail(*arguments, **options):
        raise trouble

    monkeypatch.setattr(match_command if command == "match" else demo_command, "match", fail)
    assert command_line.main([command, *saved] if command == "match" else [command]) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"lslmatch: {because}")
    assert err.count("\n") == 1
