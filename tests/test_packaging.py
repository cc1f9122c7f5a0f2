import importlib.metadata
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
