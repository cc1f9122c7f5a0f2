"""The stress test at real sizes in short, and that it finds planted errors, crashes and hangs."""

import math
import os
import time

import numpy as np
import pytest

import lslmatch
from lslmatch import Affine, match
from tests.stress.real_sizes import trying
from tests.stress.real_sizes.cases import Case
from tests.stress.real_sizes.command_line import main
from tests.stress.real_sizes.judge import judge
from tests.stress.real_sizes.kinds import KINDS, draw_sets
from tests.stress.real_sizes.session import outcomes
from tests.stress.real_sizes.trying import Outcome, may_be_refused, try_case, try_index


def test_a_sample_of_the_inputs_is_proven_or_refused_for_a_reason():
    for index in range(60):
        outcome = try_index(3, index)
        assert not outcome.is_finding, (index, outcome)


def _filled(n, m, d, fills, value, seed=0):
    """Copy points out of a set, some values of which are fills then."""
    rng = np.random.default_rng(seed)
    y = rng.normal(size=(m, d))
    x = y[rng.permutation(m)[:n]].copy()
    y[rng.integers(0, m, fills), 0] = value
    return x, y


@pytest.mark.parametrize("objective", ["lsl", "lss"])
@pytest.mark.parametrize(
    ("shape", "fills", "value"),
    [
        ((100, 2600, 2), 1, 1e20),
        ((100, 2600, 3), 5, 1e20),
        ((126, 3153, 1), 1, 3.5e15),
        ((126, 3153, 1), 1, 2e17),
        ((60, 4300, 2), 1, 1e13),
        ((110, 2700, 2), 3, 1e17),
        ((1100, 1100, 3), 2, 1e16),
        ((1500, 1600, 20), 1, 1e15),
    ],
)
def test_a_fill_costs_neither_the_optimum_nor_the_other_points_their_digits(shape, fills, value, objective):
    x, y = _filled(*shape, fills, value)
    assert judge(x, y, match(x, y, objective=objective, alignment="identity")).is_proven


def test_columns_of_which_fills_leave_nothing_to_tell_are_not_named():
    rng = np.random.default_rng(1)
    y = rng.normal(size=(40, 3))
    x = y[rng.permutation(40)[:30]].copy()
    x[rng.integers(0, 30, 1), 1] = 1e20
    with pytest.warns(lslmatch.ColumnScaleWarning, match=r"scale of column \d+ [\d.e+-]+, of column"):
        match(x, y, objective="lss")


@pytest.mark.parametrize("unit", [1e-150, 1e-215, 1e-310])
def test_what_a_filled_column_of_both_sets_leaves_is_matched_or_refused(unit):
    x, y = unit * np.random.default_rng(0).normal(size=(2, 30, 2))
    x[:, 0] = y[:, 0] = 1e100
    if unit < 1e-200:
        with pytest.raises(ValueError, match="beside what all points have in common; remove such columns"):
            match(x, y, alignment="identity")
    else:
        assert judge(x, y, match(x, y, alignment="identity")).is_proven


@pytest.mark.parametrize("alignment", ["identity", "standardize"])
def test_squares_near_the_end_of_the_range_of_doubles_are_matched(alignment):
    x, y = 1e77 * np.random.default_rng(0).normal(size=(2, 1300, 2))
    assert judge(x, y, match(x, y, objective="lss", alignment=alignment)).is_proven


def test_where_most_points_are_fills_the_others_keep_their_digits():
    """The origin is amid the fills: it would leave the others no digits beyond those of a double."""
    rng = np.random.default_rng(0)
    y = rng.normal(size=(60, 2))
    x = 3.0 * y[:40] + 1e-13 * rng.normal(size=(40, 2)) + 0.01
    x[:30, 1] = 3.4e38
    result = match(x, y, alignment=Affine(3.0, np.full(2, 0.01)))
    assert judge(x, y, result).is_proven
    assert lslmatch.check_certificate(x, y, result) < 1e-9


@pytest.mark.parametrize(
    ("seed", "index"),
    [
        # A fill too large for single precision: products with the padding of the last tile were no numbers.
        (260006, 200),
        # Sets so far apart that squares of their distance overflow.
        (260007, 867),
    ],
)
def test_what_was_found_is_not_found_again(seed, index):
    outcome = try_index(seed, index)
    assert not outcome.is_finding, outcome


def test_offsets_beyond_the_range_of_singles_are_matched():
    """Bounds in single precision are of no use there; they were NaN, and taken for places of columns."""
    y = 2.0**-90 * np.random.default_rng(0).normal(size=(2600, 2))
    x = np.full((100, 2), 2.0**99)
    result = match(x, y, alignment=Affine(1.0, np.full(2, 2.0**99)))
    assert judge(x, y, result).is_proven


def test_all_kinds_can_be_drawn():
    for kind in KINDS:
        x, y = draw_sets(np.random.default_rng(0), (kind,), 20, 30, 2)
        assert x.shape == (20, 2), kind
        assert y.shape == (30, 2), kind


# ------------------------------------------------------------------------------------ what it must find


def _case(seed=0, **options):
    x, y = np.random.default_rng(seed).normal(size=(2, 60, 2))
    return Case(("ordinary",), "20^2", x, y, {"objective": "lsl", "alignment": "standardize"} | options)


@pytest.mark.parametrize(
    "plant",
    [
        lambda found: found._replace(permutation=np.roll(found.permutation, 1)),
        lambda found: found._replace(row_dual=found.row_dual + 1e-6),
        lambda found: found._replace(col_dual=found.col_dual + np.linspace(0.0, 1e-6, found.col_dual.size)),
        lambda found: found._replace(objective=found.objective + 1e-6),
        lambda found: found._replace(objective=math.nan),
        lambda found: found._replace(scale=found.scale * 1.01),
    ],
)
@pytest.mark.parametrize("objective", ["lsl", "lss"])
def test_a_planted_error_is_wrong(plant, objective, monkeypatch):
    monkeypatch.setattr(lslmatch, "match", lambda x, y, **options: plant(match(x, y, **options)))
    assert try_case(_case(objective=objective))[0] == "wrong"


def test_what_is_not_a_matching_is_a_finding(monkeypatch):
    def twice(x, y, **options):
        result = match(x, y, **options)
        return result._replace(permutation=np.zeros_like(result.permutation))

    case = _case()
    assert not judge(case.x, case.y, twice(case.x, case.y)).is_proven
    monkeypatch.setattr(lslmatch, "match", twice)
    assert try_case(case)[0] == "exception"


def test_another_matching_with_duals_of_its_own_is_wrong_beside_scipy():
    case = _case()
    result = match(case.x, case.y)
    turned = result._replace(permutation=np.roll(result.permutation, 1))
    assert judge(case.x, case.y, turned, with_scipy=True).excess > 1.0
    assert judge(case.x, case.y, result, with_scipy=True).excess <= 1.0


def test_a_certificate_that_does_not_hold_is_a_finding(monkeypatch):
    monkeypatch.setattr(lslmatch, "check_certificate", lambda *_, **__: 1e-3)
    assert try_case(_case())[0] == "certificate"


@pytest.mark.parametrize(
    ("error", "what"),
    [(ValueError, "refused without a reason"), (KeyError, "exception"), (RuntimeWarning, "warning")],
)
def test_an_error_without_a_reason_is_a_finding(error, what, monkeypatch):
    def fail(*_, **__):
        raise error("planted")

    monkeypatch.setattr(lslmatch, "match", fail)
    assert try_case(_case())[0] == what


def test_only_inputs_out_of_range_may_be_refused():
    assert not may_be_refused(_case())
    assert not may_be_refused(_case(objective="lss"))
    case = _case(objective="lss")
    assert may_be_refused(case._replace(x=1e160 * case.x, y=1e160 * case.y))
    assert may_be_refused(case._replace(x=np.ones_like(case.x)))


def _crash(seed, index):
    if index == 1:
        os._exit(3)
    return Outcome(index, "ordinary", "20^2", 4, trying.PROVEN, "", "", 0.0)


def _hang(seed, index):
    if index == 1:
        time.sleep(60.0)
    return Outcome(index, "ordinary", "20^2", 4, trying.PROVEN, "", "", 0.0)


@pytest.mark.parametrize(("attempt", "what"), [(_crash, "crash"), (_hang, "hang")])
def test_a_crash_or_a_hang_is_a_finding_and_the_others_go_on(attempt, what):
    found = list(outcomes(0, 3, limit=0.5, attempt=attempt))
    assert [outcome.what for outcome in found] == [trying.PROVEN, what, trying.PROVEN]


def test_the_command_tells_what_it_tried(capsys):
    assert main(["--count", "3", "--seed", "3"]) == 0
    assert "0 findings" in capsys.readouterr().out
    assert main(["--replay", "3:0"]) == 0
