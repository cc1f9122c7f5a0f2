"""The files that stay: the baseline with its survey, and the history with one line a run."""

import datetime
import importlib.metadata
import json
import os
import platform
import subprocess
from typing import NamedTuple

from tests.benchmarks.instances import Case
from tests.benchmarks.isolated import CHECKOUT

_PACKAGES = ("lslmatch", "numpy", "numba", "scipy", "scikit-learn", "lapx", "lapjv")


class Baseline(NamedTuple):
    """Least times by case and contestant, and what the survey of all peers found."""

    seconds: dict
    surveys: dict
    circumstances: dict


def busy(load):
    """Whether a load average says that others use the processors."""
    return load > 0.5 * os.cpu_count()


def circumstances(load):
    """Say when, with what and on what a run was made, and the load average before it."""
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M"),
        "revision": _revision(),
        "python": platform.python_version(),
        "versions": {name: _version(name) for name in _PACKAGES},
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "load": round(load, 2),
    }


def _revision():
    """Name the commit that was measured; a plus sign says that files differ from it."""
    command = ["git", "describe", "--always", "--abbrev=9", "--dirty=+", "--exclude=*"]
    try:
        return subprocess.run(
            command, cwd=CHECKOUT, capture_output=True, text=True, check=True
        ).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def _version(package):
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def read_baseline(path):
    if not path.exists():
        return Baseline({}, {}, {})
    stored = json.loads(path.read_text(encoding="utf-8"))
    cases = {Case(*entry["case"]): entry for entry in stored.pop("cases").values()}
    return Baseline(
        {case: entry["seconds"] for case, entry in cases.items()},
        {case: entry["survey"] for case, entry in cases.items()},
        stored,
    )


def write_baseline(path, baseline):
    """Store a baseline, one line a case, so that a change of one shows as one."""
    head = json.dumps(baseline.circumstances, indent=1)[:-2]
    lines = [
        f"  {json.dumps(case.name)}: "
        + json.dumps({"case": case, "seconds": _short(times), "survey": _short(baseline.surveys[case])})
        for case, times in baseline.seconds.items()
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(head + ',\n "cases": {\n' + ",\n".join(lines) + "\n }\n}\n", encoding="utf-8")


def _short(seconds):
    return {name: value and float(f"{value:.4g}") for name, value in seconds.items()}


def append_history(path, line):
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(line) + "\n")


def read_history(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
