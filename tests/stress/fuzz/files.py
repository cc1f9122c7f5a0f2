"""Damaged and strange files for the command line, which answers by a code and at most one line."""

import contextlib
import io
import pickle
import tempfile
from pathlib import Path

import numpy as np

from lslmatch.cli.main import main

#: What stands at a path of a link, some of them without an end.
_LINKS = ["/dev/null", "/dev/full", "/dev/zero", "/dev/urandom", "nowhere", "x.csv", "y.npy", "."]


def try_command(choices):
    """Match two files, each of which may be anything."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        paths = [_file(choices, directory, name) for name in "xy"]
        arguments = ["match", *map(str, paths), *_options(choices, directory)]
        error = io.StringIO()
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(error):
            try:
                code = main(arguments)
            except SystemExit as stop:
                code = stop.code
        assert code in (0, 2), code
        assert (code == 0) == (not error.getvalue()), error.getvalue()
        assert error.getvalue().count("\n") <= 1, error.getvalue()
        assert not (directory / "sprung").exists(), "a pickle was loaded"
        assert not list(directory.glob(".*.tmp")), "an unfinished file was left"


def _options(choices, directory):
    options = []
    if choices.below(2):
        options += [
            "--out",
            str(directory / choices.of(["out.csv", "x.csv", "y.npy", "no/out.csv", "out", ".csv"])),
        ]
    if choices.below(2):
        options += ["--objective", choices.of(["lss", "greedy", "lsns", "none"])]
    if choices.below(2):
        options += ["--alignment", choices.of(["identity", "profile", "auto", "none"])]
    if choices.below(4) == 3:
        options += [
            f"--noise-{side}={_file(choices, directory, 's' + side)}" for side in "xy"[: 1 + choices.below(2)]
        ]
    if choices.below(2):
        options += ["--diagnose", "--margins", choices.of(["bound", "exact", "none"])]
    if choices.seldom():
        options += [
            choices.of(["--workers=2", "--workers=0", "--workers=x", "--seed", "--", "--none", "\udc80", ""])
        ]
    return options


class _Trap:
    """Leaves a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


def _file(choices, directory, name):
    kind = choices.below(12)
    path = directory / f"{name}{choices.of(['.npy', '.csv', '.NPY', '.CSV']) if kind else ''}"
    trap = _Trap(directory / "sprung")
    if path.is_symlink() or path.exists():
        return path
    if kind == 1:
        path.mkdir()
    elif kind == 2:
        path.symlink_to(directory / choices.of(_LINKS))
    elif kind == 3:
        with open(path, "wb") as stream:
            np.lib.format.write_array(stream, np.array([trap], dtype=object), allow_pickle=True)
    elif kind == 4:
        path.write_bytes(pickle.dumps(trap))
    elif kind == 5:
        path.write_bytes(choices.rest())
    else:
        # Mostly sets of the same dimension, or nothing but that would be complained about.
        shape = choices.count(), choices.of([3, 3, 3, 1, 2])
        path.write_bytes(_content(choices, choices.array(*shape), path.suffix.lower()))
    return path


def _content(choices, values, suffix):
    stream = io.BytesIO()
    if suffix == ".npy":
        with contextlib.suppress(ValueError):
            np.lib.format.write_array(stream, np.asarray(values), allow_pickle=True)
    else:
        rows = np.atleast_2d(np.asarray(values, dtype=object))
        lines = ["a,b,c"] * choices.seldom() + [",".join(map(str, np.ravel(row))) for row in rows]
        stream.write("\n".join(lines).encode())
    content = bytearray(stream.getvalue())
    if choices.below(2) and content:
        for _ in range(choices.below(4)):
            content[choices.below(65536) % len(content)] = choices.byte()
        if choices.below(2):
            del content[choices.below(65536) % len(content) :]
    return content
