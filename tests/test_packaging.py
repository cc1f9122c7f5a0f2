import fnmatch
import importlib.metadata
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

import lslmatch

CHECKOUT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def distribution():
    """The distribution that was installed from a wheel, with its files."""
    for found in importlib.metadata.distributions(name="lslmatch"):
        # Only an installed wheel has a RECORD; building leaves other metadata in the checkout.
        if "lslmatch/__init__.py" in (found.read_text("RECORD") or ""):
            return found
    pytest.skip("no wheel of lslmatch is installed")


def test_only_the_library_is_installed(distribution):
    files = {path.as_posix() for path in distribution.files}
    roots = {name.partition("/")[0] for name in files if not name.startswith("..")}
    assert roots == {"lslmatch", f"lslmatch-{distribution.version}.dist-info"}
    assert "lslmatch/py.typed" in files
    modules = {path.relative_to(CHECKOUT).as_posix() for path in CHECKOUT.glob("lslmatch/**/*.py")}
    assert {name for name in files if name.startswith("lslmatch/") and name.endswith(".py")} == modules


def test_installed_version_is_that_of_the_checkout(distribution):
    assert distribution.version == lslmatch.__version__


def test_changelog_tells_of_this_version():
    assert f"## [{lslmatch.__version__}]" in (CHECKOUT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_run_time_needs_three_packages_only(distribution):
    needed = [line for line in distribution.requires if "extra ==" not in line]
    assert sorted(line.partition(">")[0] for line in needed) == ["numba", "numpy", "scipy"]


@pytest.fixture
def clone(tmp_path):
    """A copy of the checkout without what .gitignore names."""
    patterns = [line.strip("/") for line in (CHECKOUT / ".gitignore").read_text().splitlines()] + [".git"]

    def is_ignored(path):
        return any(fnmatch.fnmatch(path.name, pattern) or path.as_posix() == pattern for pattern in patterns)

    def ignored(folder, names):
        inside = Path(folder).relative_to(CHECKOUT)
        return [name for name in names if is_ignored(inside / name)]

    shutil.copytree(CHECKOUT, tmp_path / "clone", ignore=ignored)
    return tmp_path / "clone"


def test_the_source_distribution_is_the_whole_clone(clone, tmp_path):
    files = {path.relative_to(clone).as_posix() for path in clone.rglob("*") if path.is_file()}
    assert {"tests/test_packaging.py", "docs/index.md", "tox.ini", ".ci/run"} < files
    for left_by_work in (
        "build/lib/lslmatch/model.py",
        "docs/_build/html/index.html",
        "docs/generated/lslmatch.match.rst",
        "docs/notebooks/01-quick-start.ipynb",
        "lslmatch/__pycache__/alignment._moments-1.py311.1.nbc",
        "notebooks/.ipynb_checkpoints/01-quick-start-checkpoint.ipynb",
        "tests/__pycache__/reference.cpython-311.pyc",
        "tests/benchmarks/results/latest.json",
        "verification-report/report.html",
        "verification/data/opus.npz",
    ):
        (clone / left_by_work).parent.mkdir(parents=True, exist_ok=True)
        (clone / left_by_work).touch()
    code = "import sys; from setuptools.build_meta import build_sdist; build_sdist(sys.argv[1])"
    subprocess.run(
        [sys.executable, "-c", code, tmp_path], cwd=clone, capture_output=True, check=True, timeout=300
    )
    (archive,) = tmp_path.glob("lslmatch-*.tar.gz")
    with tarfile.open(archive) as packed:
        names = {member.name.partition("/")[2] for member in packed.getmembers() if member.isfile()}
    made = {name for name in names if name == "PKG-INFO" or ".egg-info/" in name}
    assert names - made == files
