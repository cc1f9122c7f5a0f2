"""Progress: shown on a terminal, erased at the end, silent elsewhere."""

import os
import re
import select

import pytest

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
