"""A run that was interrupted or killed goes on to identical numbers."""

import os
import signal
import subprocess
import sys
import textwrap

import pytest

from tests.verification.support import run

CLAIMS = ["lemma-2", "s_i"]


def test_seed_changes_the_numbers(tmp_path):
    assert run(["lemma-2"], tmp_path, seed=1) != run(["lemma-2"], tmp_path, seed=2)


def test_an_interrupted_run_goes_on_to_identical_numbers(tmp_path):
    whole = run(CLAIMS, tmp_path / "whole")

    def stop(batch, done, total):
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(CLAIMS, tmp_path / "cut", progress=stop)
    seen = []
    resumed = run(
        CLAIMS, tmp_path / "cut", resume=True, progress=lambda batch, done, total: seen.append(done)
    )
    assert resumed == whole
    assert seen[0] == 4  # the three finished batches were not run again


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_a_killed_run_goes_on_to_identical_numbers(tmp_path):
    whole = run(CLAIMS, tmp_path / "whole")
    program = textwrap.dedent(
        """
        import os, pathlib, signal, sys
        from tests.verification.support import run
        def kill(batch, done, total):
            if done == 3:
                os.kill(os.getpid(), signal.SIGKILL)
        run(sys.argv[2:], pathlib.Path(sys.argv[1]), progress=kill)
        """
    )
    killed = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "cut"), *CLAIMS],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        timeout=300,
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL
    seen = []
    resumed = run(
        CLAIMS, tmp_path / "cut", resume=True, progress=lambda batch, done, total: seen.append(done)
    )
    assert resumed == whole
    assert seen[0] == 4


def test_without_resume_a_run_starts_anew(tmp_path):
    run(["lemma-2"], tmp_path)
    seen = []
    run(["lemma-2"], tmp_path, progress=lambda batch, done, total: seen.append(done))
    assert seen[0] == 1
