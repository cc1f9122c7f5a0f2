"""The oldest and the newest versions that are allowed, each in an environment of its own with an empty cache.

    python -m tests.versions                       # all of them, one after the other: some minutes each
    python -m tests.versions oldest candidate      # some of them
    python -m tests.versions --list

Each runs the demo, matches whose result is certified, and a part of the tests. The table at the end is the
one of CONTRIBUTING.md. An interpreter is looked for as ``python3.10`` and so on, then among those of pyenv; a
row without one is left out and says so. Needs pip, and what it downloads from.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

CHECKOUT = Path(__file__).parents[1]

#: What kernels do, what Numba is asked for, and the paths from coordinates to a certified answer.
TESTS = [
    "tests/test_jit.py",
    "tests/test_jit_folders.py",
    "tests/test_jit_interrupts.py",
    "tests/test_jit_plain.py",
    "tests/geometry/test_panels.py",
    "tests/certificate/test_checking.py",
    "tests/matching/test_objectives.py",
    "tests/matching/test_recovery.py",
]
_TOOLS = ["pytest>=8.1", "pytest-benchmark>=4.0", "hypothesis>=6.80"]

#: Prints the versions, then matches, each certified; warnings are errors.
_PROGRAM = """
import platform, numba, numpy as np, scipy
import lslmatch
print(platform.python_version(), np.__version__, scipy.__version__, numba.__version__)
rng = np.random.default_rng(0)
for n, options in ((100, {}), (1000, {}), (100, {"objective": "lss"}), (100, {"alignment": "auto"})):
    truth = rng.permutation(n)
    x = rng.normal(size=(n, 5))
    y = (x + 1e-3 * rng.normal(size=x.shape))[truth] / 3.0 + 1.0
    result = lslmatch.match(x, y, **options)
    assert (truth[result.permutation] == np.arange(n)).all(), (n, options)
    assert lslmatch.check_certificate(x, y, result) < 1e-9, (n, options)
"""


class Row(NamedTuple):
    """An environment: its Python, and what pip is asked for."""

    python: str
    packages: list[str]


ROWS = {
    "oldest": Row("3.10", ["numpy==1.24.0", "scipy==1.10.0", "numba==0.59.0"]),
    "numba-0.60": Row("3.11", ["numpy", "scipy", "numba==0.60.0"]),
    "numba-0.61": Row("3.12", ["numpy", "scipy", "numba==0.61.2"]),
    "numba-0.62": Row("3.13", ["numpy", "scipy", "numba==0.62.1"]),
    "newest": Row("3.13", ["numpy", "scipy", "numba"]),
    "candidate": Row("3.12", ["--pre", "numpy", "scipy", "numba"]),
}


def main() -> int:
    """Run the rows that are named; 1 if one fails."""
    parser = argparse.ArgumentParser(prog="python -m tests.versions", description=__doc__.partition("\n")[0])
    parser.add_argument("rows", nargs="*", metavar="row", help=f"of {', '.join(ROWS)}")
    parser.add_argument("--list", action="store_true", help="only print what would be installed")
    parser.add_argument("--folder", type=Path, help="where environments are kept for the next time")
    parser.add_argument("--tests", nargs="+", default=TESTS, help="files of tests to run")
    options = parser.parse_args()
    unknown = set(options.rows) - set(ROWS)
    if unknown:
        parser.error(f"no such row: {', '.join(sorted(unknown))}")
    chosen = {name: row for name, row in ROWS.items() if not options.rows or name in options.rows}
    if options.list:
        for name, row in chosen.items():
            print(f"{name}: Python {row.python}, {' '.join(row.packages)}")
        return 0
    with tempfile.TemporaryDirectory() as temporary:
        lines = [
            run(name, row, options.folder or Path(temporary), options.tests) for name, row in chosen.items()
        ]
    print("\n| row | Python | NumPy | SciPy | Numba | demo | matches | tests | the same plainly |")
    print("|---|---|---|---|---|---|---|---|---|")
    print(*lines, sep="\n")
    return int(any("FAILED" in line for line in lines))


def run(name: str, row: Row, folder: Path, tests: list[str]) -> str:
    """Make the environment, run all in it, and return its line of the table."""
    interpreter = find_python(row.python)
    if interpreter is None:
        return f"| {name} | {row.python}: not installed here | | | | | | | |"
    python = folder / name / "bin" / "python"
    if not python.exists():
        print(f"{name}: installing {' '.join(row.packages)}", flush=True)
        subprocess.run([interpreter, "-m", "venv", folder / name], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *row.packages, *_TOOLS], check=True)
    with tempfile.TemporaryDirectory() as cache:

        def outcome(what: str, *arguments: str, **environment: str) -> str:
            print(f"{name}: {what}", flush=True)
            done = _run(python, arguments, NUMBA_CACHE_DIR=cache, **environment)
            last = (done.stdout.strip() or "-").splitlines()[-1].strip("= ")
            if done.returncode:
                print(done.stdout[-3000:], done.stderr[-3000:], sep="\n", flush=True)
                return f"FAILED {last}" if what == "tests" else "FAILED"
            return last if what == "tests" else "all right"

        demo = outcome("demo", "-W", "error", "-m", "lslmatch", "demo")
        matches = outcome("matches", "-W", "error", "-c", _PROGRAM)
        checked = outcome("tests", "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests)
        plainly = outcome("matches, plainly", "-W", "error", "-c", _PROGRAM, LSLMATCH_PLAIN_NUMBA="1")
        versions = _run(python, ["-c", _PROGRAM.partition("rng =")[0]], NUMBA_CACHE_DIR=cache).stdout.split()
    return f"| {name} | {' | '.join([*versions, demo, matches, checked, plainly])} |"


def _run(python: Path, arguments: Sequence[str], **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [python, *arguments],
        cwd=CHECKOUT,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT), **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def find_python(version: str) -> str | None:
    """Find an interpreter of a version, as 3.10; None if there is none."""
    candidates = [shutil.which(f"python{version}")]
    candidates += sorted(map(str, Path.home().glob(f".pyenv/versions/{version}.*/bin/python")), reverse=True)
    for path in filter(None, candidates):
        code = "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2])"
        done = subprocess.run([path, "-c", code], capture_output=True, text=True, check=False)
        if done.returncode == 0 and done.stdout.strip() == version:
            return path
    return None


if __name__ == "__main__":
    sys.exit(main())
