import re
import sys
from pathlib import Path

from tests.verification.laboratory import exit_code, verdicts
from verification import claims

GUIDE = (Path(__file__).parents[3] / "CONTRIBUTING.md").read_text(encoding="utf-8")


def test_the_example_of_the_guide_is_a_claim_that_runs(tmp_path, monkeypatch):
    source = re.search(r"```python\n(.*?)```", GUIDE, re.DOTALL)[1]
    name = re.search(r"`verification/claims/(\w+)\.py`", GUIDE)[1]
    (tmp_path / f"{name}.py").write_text(source, encoding="utf-8")
    monkeypatch.setattr(claims, "__path__", [*claims.__path__, str(tmp_path)])
    claims.load.cache_clear()
    try:
        assert exit_code(tmp_path / "out", "--only", "largest-noise") == 0
        assert verdicts(tmp_path / "out")["largest-noise"]["verdict"] == "supported"
    finally:
        sys.modules.pop(f"verification.claims.{name}", None)
        claims.load.cache_clear()
