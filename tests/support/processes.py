"""Programs in an interpreter of their own."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import lslmatch


def start_python(code):
    """Run code in a new interpreter that finds the same library."""
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)],
        env={**os.environ, "PYTHONPATH": str(Path(lslmatch.__file__).parents[1])},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
