import fnmatch
import importlib.metadata
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
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


@pytest.fixture
def environment(tmp_path):
    """A virtual environment that has what this one has, but for lslmatch; its interpreter."""
    folder = tmp_path / "environment"
    venv.create(folder, symlinks=os.name != "nt")
    packages = Path(sysconfig.get_path("purelib", "venv", {"base": str(folder)}))
    others = tmp_path / "others"
    others.mkdir()
    for place in {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}:
        for entry in Path(place).iterdir():
            # Neither the library nor what an editable installation of it left to be run at every start.
            if "lslmatch" not in entry.name:
                (others / entry.name).symlink_to(entry)
    (packages / "others.pth").write_text(f"{others}\n")
    return Path(sysconfig.get_path("scripts", "venv", {"base": str(folder)})) / "python", packages


def test_installing_again_after_kernels_were_compiled_leaves_a_library_that_works(
    environment, clone, tmp_path
):
    python, packages = environment
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    variables = {
        name: value for name, value in os.environ.items() if not name.startswith(("NUMBA", "PYTHON"))
    }
    variables |= dict.fromkeys(["HOME", "XDG_CACHE_HOME", "LOCALAPPDATA"], str(tmp_path / "home"))

    def run(*command):
        done = subprocess.run(
            command, cwd=elsewhere, env=variables, capture_output=True, text=True, timeout=300, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def install(*what):
        pip = sys.executable, "-m", "pip", "--python", str(python)
        run(*pip, "install", "--no-deps", "--no-build-isolation", "--disable-pip-version-check", *what)

    def library():
        """Compile a kernel, and tell where the library is."""
        code = "import lslmatch; lslmatch.standardize([[0.0], [1.0]]); print(lslmatch.__file__)"
        return Path(run(python, "-c", code).strip()).parent

    install(clone)
    assert library() == packages / "lslmatch"
    install("--editable", clone)
    assert library() == clone / "lslmatch"
    assert run(python.parent / "lslmatch", "--version") == f"lslmatch {lslmatch.__version__}\n"
    install("--force-reinstall", clone)
    assert library() == packages / "lslmatch"
    run(sys.executable, "-m", "pip", "--python", str(python), "uninstall", "--yes", "lslmatch")
    assert not [path.name for path in packages.iterdir() if "lslmatch" in path.name]
    assert list((tmp_path / "home").rglob("*.nbc"))
