"""The first figure: alignment makes the difference, and nothing does without signal."""

import numpy as np

from verification.engine.seeds import generator
from verification.figures import step_by_step


def test_alignment_is_what_makes_the_difference():
    parameters = {"n": 30, "dimensions": 2, "spread": 1000.0}
    rows = [step_by_step.trial(parameters, generator(1, "test", "plane", k))[0] for k in range(5)]
    assert np.mean([row["affine"] for row in rows]) > 0.95
    assert np.mean([row["plain"] for row in rows]) < 0.4


def test_without_signal_no_method_has_precision():
    parameters = {"n": 30, "dimensions": 2, "spread": 1e-3}
    rows = [step_by_step.trial(parameters, generator(1, "test", "nothing", k))[0] for k in range(5)]
    for name in step_by_step.ALIGNMENTS:
        assert np.mean([row[name] for row in rows]) < 0.2  # 1 in 30 by chance
