import contextlib
import importlib
import io
import re
from pathlib import Path

import pytest

from tests.benchmarks import record, tables

CHECKOUT = Path(__file__).parents[1]
README = (CHECKOUT / "README.md").read_text(encoding="utf-8")


def test_example_prints_what_the_readme_says():
    examples = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", README, re.DOTALL)
    assert len(examples) == README.count("```python") == 1
    for code, printed in examples:
        with contextlib.redirect_stdout(io.StringIO()) as output:
            exec(compile(code, "README.md", "exec"), {})
        assert output.getvalue() == printed


def test_speed_tables_are_those_of_the_baseline():
    baseline = record.read_baseline(CHECKOUT / "tests" / "benchmarks" / "baseline.json")
    points, matrices, *_ = tables.ratio_tables(baseline.seconds).strip().split("\n\n")
    assert points in README
    assert matrices in README


def test_what_a_user_waits_for_is_as_it_was_measured():
    stored = (CHECKOUT / "tests" / "benchmarks" / "results" / "waiting.md").read_text(encoding="utf-8")
    assert stored in (CHECKOUT / "docs" / "howto" / "benchmarks.md").read_text(encoding="utf-8")


def named_in_the_table():
    """Yield (module, name) for every public name in the README's table."""
    for names, meaning in re.findall(r"^\| (`.*?) \| (.*) \|$", README, re.MULTILINE):
        if names.startswith("`lslmatch."):
            yield from ((names.strip("`"), name) for name in re.findall(r"`(\w+)`", meaning))
        else:
            yield from (("lslmatch", name) for name in re.findall(r"`(\w+)", names))


@pytest.mark.parametrize(("module", "name"), sorted(named_in_the_table()))
def test_name_in_the_table_exists(module, name):
    assert hasattr(importlib.import_module(module), name)


def test_every_public_name_is_in_the_table():
    named = {name if module == "lslmatch" else module.split(".")[1] for module, name in named_in_the_table()}
    assert named == set(importlib.import_module("lslmatch").__all__)


def test_continuous_integration_runs_the_commands_of_the_readme():
    script = (CHECKOUT / ".ci" / "run").read_text(encoding="utf-8")
    marked = re.findall(r"<!-- (\S+) -->\n```sh\n.+\n```\n", README)
    assert marked == ["demo-command", "test-command"]
    assert f"for name in {' '.join(marked)}; do" in script
