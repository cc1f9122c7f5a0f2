"""Local workers give the numbers of one process."""

from tests.verification.support import run
from verification.engine.workers import Pool

CLAIMS = ["lemma-2", "tau-bias"]


def test_workers_change_nothing(tmp_path):
    assert run(CLAIMS, tmp_path / "a") == run(CLAIMS, tmp_path / "b", pool=Pool(2))
