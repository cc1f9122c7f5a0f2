"""Sets that share a part of their objects: the truth about them is what was drawn."""

import numpy as np
import pytest

from verification.scenarios.shared_objects import PARTS, leave_out


@pytest.mark.parametrize("part", PARTS)
def test_partners_are_the_same_object_and_others_are_not_in_both(part):
    objects = np.arange(60.0)[:, None]
    sets = leave_out(objects, objects + 0.25, part, np.random.default_rng(4))
    paired = sets.partner >= 0
    assert np.array_equal(sets.x[paired] + 0.25, sets.y[sets.partner[paired]])
    assert not np.isin(sets.x[~paired] + 0.25, sets.y).any()
    assert sets.common == paired.sum()


@pytest.mark.parametrize(
    ("part", "sizes", "common"),
    [("none", (60, 60), 60), ("10 %", (54, 54), 49), ("50 %", (40, 40), 20), ("all", (30, 30), 0)],
)
def test_a_share_of_either_set_has_no_partner(part, sizes, common):
    objects = np.arange(60.0)[:, None]
    sets = leave_out(objects, objects, part, np.random.default_rng(4))
    assert (len(sets.x), len(sets.y), sets.common) == (*sizes, common)


def test_strangers_may_be_in_one_set_alone():
    objects = np.arange(60.0)[:, None]
    sets = leave_out(objects, objects, "one set", np.random.default_rng(4))
    assert (len(sets.x), len(sets.y), sets.common) == (42, 60, 42)


def test_the_score_of_the_truth_and_of_its_opposite():
    objects = np.arange(60.0)[:, None]
    sets = leave_out(objects, objects, "50 %", np.random.default_rng(4))
    assert sets.score(sets.partner) == (1.0, 0.0, 0)
    wrong = np.where(sets.partner < 0, 0, -1)
    assert sets.score(wrong) == (0.0, 1.0, 0)
