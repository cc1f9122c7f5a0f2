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
