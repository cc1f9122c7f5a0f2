"""What runs elsewhere (.github, pre-commit, recipe/) asks for what the checkout has."""

import configparser
import re
from pathlib import Path

import pytest

import lslmatch

CHECKOUT = Path(__file__).parents[1]
WORKFLOWS = {
    path.name: path.read_text(encoding="utf-8") for path in (CHECKOUT / ".github/workflows").glob("*.yml")
}


def read_configuration(name):
    parser = configparser.ConfigParser(interpolation=None)
    parser.read(CHECKOUT / name, encoding="utf-8")
    return parser


TOX = read_configuration("tox.ini")
SETUP = read_configuration("setup.cfg")


def environments(workflow):
    """Give the tox environments that a workflow runs."""
    named = re.findall(r"tox -e ([\w,]+)", workflow) + re.findall(r"tox: (\w+)\}", workflow)
    return {name for names in named for name in names.split(",")}


def test_workflows_run_environments_that_tox_has():
    known = {name.partition(":")[2] for name in TOX.sections() if ":" in name} | {"py"}
    named = environments("".join(WORKFLOWS.values()))
    assert named <= known
    assert {"py", "lint", "docs", "notebooks", "verify"} <= named
    assert environments("tox -e lint,gone\n - {tox: other}") - known == {"gone", "other"}


def test_actions_are_pinned_to_a_commit():
    used = re.findall(r"uses: (.*)", "".join(WORKFLOWS.values()))
    assert len(used) > 5
    for action in used:
        assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40}  # v[\d.]+", action)


def test_every_interpreter_of_the_versions_is_installed():
    versions = (CHECKOUT / "tests/versions.py").read_text(encoding="utf-8")
    for python in set(re.findall(r'Row\("([\d.]+)"', versions)):
        assert len(re.findall(rf"^ +{re.escape(python)}$", WORKFLOWS["ci.yml"], re.MULTILINE)) == 2


def test_hooks_before_a_commit_run_what_tox_runs():
    hooks = (CHECKOUT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    commands = TOX["testenv:lint"]["commands"].split("\n")
    entries = re.findall(r"entry: (.*)", hooks)
    assert [entry.removesuffix(" --force-exclude") for entry in entries] == [
        command.removesuffix(" --check") for command in commands if command
    ]


def requirements(recipe):
    """Give what the recipe needs at run time, as setup.cfg writes it."""
    listed = re.search(r"^  run:\n((?:    - .*\n)+)", recipe, re.MULTILINE)[1]
    return [line.removeprefix("    - ").replace(" ", "") for line in listed.splitlines()]


@pytest.fixture
def recipe():
    return (CHECKOUT / "recipe/recipe.yaml").read_text(encoding="utf-8")


def test_the_recipe_needs_what_the_package_needs(recipe):
    python, *packages = requirements(recipe)
    assert packages == SETUP["options"]["install_requires"].split()
    least = re.search(r'python_min: "([\d.]+)"', recipe)[1]
    assert python == "python>=${{python_min}}"
    assert SETUP["options"]["python_requires"] == f">={least}"


def test_the_recipe_is_of_this_version(recipe):
    assert f'version: "{lslmatch.__version__}"' in recipe
    assert SETUP["options.entry_points"]["console_scripts"].strip() in recipe
