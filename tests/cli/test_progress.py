"""Progress: shown on a terminal, erased at the end, silent elsewhere."""

import os
import re
import select

import numpy as np
import pytest

from lslmatch import solve_assignment
from lslmatch._progress import listening, tell
from lslmatch._threads import over_rows
from lslmatch.cli.progress import Progress


@pytest.fixture
def terminal():
    """A stream that is a terminal, and a function that waits for what appears on its screen."""
    pty = pytest.importorskip("pty")
    screen, slave = pty.openpty()

    def read():
        assert select.select([screen], [], [], 60)[0], "nothing appeared on the screen"
        return os.read(screen, 1000)

    with os.fdopen(slave, "w") as stream:
        yield stream, read
    os.close(screen)


def test_progress_on_a_terminal_is_shown_and_erased(terminal):
    stream, read = terminal
    progress = Progress(stream, delay=0.0)
    progress.stage("matching")
    shown = b""
    with progress:
        while not shown.endswith(b" s"):
            shown += read()
    assert re.match(rb"\r+matching, \d+ s", shown)
    last_line = shown.rpartition(b"\r")[2]
    blank = b"\r" + b" " * len(last_line) + b"\r"
    while not shown.endswith(blank):
        shown += read()


def test_time_left_is_told_of_loops_whose_parts_are_alike(monkeypatch):
    now = [100.0]
    monkeypatch.setattr("lslmatch.cli.progress.time.monotonic", lambda: now[0])
    progress = Progress()
    for what, done, seconds, left in (
        ("rows seen", 100, 0.0, ""),
        ("rows seen", 200, 4.0, ""),
        ("rows seen", 300, 4.0, ", about 28 s left"),
        ("rows seen", 1000, 28.0, ", about 0 s left"),
        ("rows seen", 50, 3.0, ""),  # another loop
        ("rows seen", 525, 10.0, ", about 10 s left"),
        ("rows matched", 1, 0.0, ""),
        ("rows matched", 2, 50.0, ""),
    ):
        now[0] += seconds
        progress._hear_loop(what, done, 1000)
        assert progress._left == left
    now[0] += 10.0
    progress._hear_loop("rows seen", 1, 1000)
    now[0] += 10.0
    progress._hear_loop("rows seen", 501, 1000)
    assert progress._left == ", about 10 s left"
    progress.stage("checking")
    assert progress._left == ""


def test_progress_tells_how_far_a_loop_is_and_what_is_compiled(terminal):
    stream, read = terminal
    with Progress(stream, delay=0.0) as progress:
        progress.stage("matching")
        tell("rows matched", 1234, 5000)
        shown = b""
        while b"matching: 1,234 of 5,000 rows matched, " not in shown:
            shown += read()
        progress._hear_compilation("_augment")
        while b"matching: compiling kernels, once after an installation, number 1 of at most " not in shown:
            shown += read()
        progress._hear_compilation(None)
        while not shown.rstrip(b"0123456789 s").endswith(b"\rmatching,"):
            shown += read()


def test_loops_tell_how_far_they_are():
    heard = []
    with listening(lambda *told: heard.append(told)):
        solve_assignment(np.random.default_rng(0).normal(size=(30, 30)))
        over_rows(lambda worker, first, last: None, 10, 4, 1)
    assert heard[-3:] == [("rows seen", 4, 10), ("rows seen", 8, 10), ("rows seen", 10, 10)]
    assert ("rows matched", 30, 30) in heard
    count = len(heard)
    over_rows(lambda worker, first, last: None, 10, 4, 1)
    assert len(heard) == count


def test_short_run_on_a_terminal_shows_no_progress(terminal):
    stream, read = terminal
    with Progress(stream, delay=3600.0):
        pass
    stream.write("nothing before this")
    stream.flush()
    assert read() == b"nothing before this"


def test_progress_elsewhere_is_silent(tmp_path):
    with open(tmp_path / "log", "w+") as stream:
        with Progress(stream, delay=0.0) as progress:
            progress.stage("matching")
        stream.seek(0)
        assert stream.read() == ""
