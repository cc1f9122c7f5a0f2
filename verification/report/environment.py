"""What a reader needs to repeat a run: seed, versions, revision."""

from __future__ import annotations

import platform
import subprocess
from importlib.metadata import version
from pathlib import Path
from typing import Any

import lslmatch

_PACKAGES = ("numpy", "scipy", "numba", "statsmodels", "joblib", "matplotlib", "jinja2")


def environment(profile: str, seed: int, seconds: float) -> dict[str, Any]:
    """Give what a reader needs to repeat the run."""
    versions = {"python": platform.python_version(), "lslmatch": lslmatch.__version__}
    versions |= {name: version(name) for name in _PACKAGES}
    return {
        "seed": seed,
        "profile": profile,
        "versions": versions,
        "revision": revision(),
        "seconds": round(seconds, 1),
    }


def revision() -> str:
    """Give the git revision of the checkout, with a plus sign if files differ from it."""
    checkout = Path(__file__).parents[2]
    answers = []
    for command in (["rev-parse", "HEAD"], ["status", "--porcelain"]):
        try:
            done = subprocess.run(["git", *command], cwd=checkout, capture_output=True, text=True, check=True)
        except (OSError, subprocess.CalledProcessError):
            return "unknown"
        answers.append(done.stdout.strip())
    return answers[0] + ("+" if answers[1] else "")
