"""Programs in an interpreter of their own."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import lslmatch

#: In which a new interpreter finds the same library as this one.
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(lslmatch.__file__).parents[1])}


def start_python(code):
    """Run code in a new interpreter."""
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)],
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run_python(*arguments, folder=None, **environment):
    """Run an interpreter with the JIT on, whatever it is here; return its exit code and what it printed.

    A variable of the environment that is None is not set there. The library's folder is on the path.
    """
    variables = {**ENVIRONMENT, "NUMBA_DISABLE_JIT": "0", **environment}
    variables = {name: value for name, value in variables.items() if value is not None}
    return subprocess.run(
        [sys.executable, *arguments],
        # The folder that a program runs in comes first on its path.
        cwd=folder or variables["PYTHONPATH"] or None,
        env=variables,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def run_compiled(code, **environment):
    """Run code in a new interpreter, where warnings are errors; return what it printed."""
    done = run_python("-W", "error", "-c", textwrap.dedent(code), **environment)
    assert done.returncode == 0, done.stderr
    return done.stdout
