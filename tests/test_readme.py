import contextlib
import io
import re
from pathlib import Path

import pytest

from tests.benchmarks import record, tables
from tests.support.reference import SMALL

CHECKOUT = Path(__file__).parents[1]
README = (CHECKOUT / "README.md").read_text(encoding="utf-8")


@pytest.mark.skipif(SMALL, reason="the example is too large for kernels as plain Python")
def test_example_prints_what_the_readme_says(monkeypatch):
    monkeypatch.chdir(CHECKOUT / "docs" / "tables")
    examples = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", README, re.DOTALL)
    assert len(examples) == README.count("```python") == 1
    for code, printed in examples:
        with contextlib.redirect_stdout(io.StringIO()) as output:
            exec(compile(code, "README.md", "exec"), {})
        assert output.getvalue() == printed


def test_speed_tables_are_those_of_the_baseline():
    baseline = record.read_baseline(CHECKOUT / "tests" / "benchmarks" / "baseline.json")
    points, matrices, *_ = tables.ratio_tables(baseline.seconds).strip().split("\n\n")
    page = (CHECKOUT / "docs" / "speed.md").read_text(encoding="utf-8")
    assert points in page
    assert matrices in page


def test_what_a_user_waits_for_is_as_it_was_measured():
    stored = (CHECKOUT / "tests" / "benchmarks" / "results" / "waiting.md").read_text(encoding="utf-8")
    assert stored in (CHECKOUT / "docs" / "howto" / "benchmarks.md").read_text(encoding="utf-8")


def test_it_is_read_in_a_few_minutes():
    lines = README.splitlines()
    assert len(lines) <= 120
    assert max(map(len, lines)) <= 100


def test_continuous_integration_runs_the_commands_of_the_readme():
    script = (CHECKOUT / ".ci" / "run").read_text(encoding="utf-8")
    marked = re.findall(r"<!-- (\S+) -->\n```sh\n.+\n```\n", README)
    assert marked == ["demo-command", "test-command"]
    assert f"for name in {' '.join(marked)}; do" in script
