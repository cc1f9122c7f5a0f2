"""The trials behind figures: the same numbers for any workers, and after an interruption."""

import pytest

from tests.verification.support import run_studies
from verification.engine.workers import Pool

STUDIES = ["step-by-step", "scale-error", "adversarial-family"]


def test_workers_change_nothing(tmp_path):
    assert run_studies(STUDIES, tmp_path / "a") == run_studies(STUDIES, tmp_path / "b", pool=Pool(2))


def test_seed_changes_the_numbers(tmp_path):
    assert run_studies(["scale-error"], tmp_path, seed=1) != run_studies(["scale-error"], tmp_path, seed=2)


def test_an_interrupted_run_goes_on_to_identical_numbers(tmp_path):
    whole = run_studies(STUDIES, tmp_path / "whole")

    def stop(batch, done, total):
        if done == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_studies(STUDIES, tmp_path / "cut", progress=stop)
    seen = []
    resumed = run_studies(
        STUDIES, tmp_path / "cut", resume=True, progress=lambda batch, done, total: seen.append(done)
    )
    assert resumed == whole
    assert seen[0] == 6  # the five finished batches were not run again
