import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lslmatch import Affine, check_certificate, match
from lslmatch.certificate import checking
from tests.support.reference import costs, least_cost


def make(objective="lsl", n=6, m=6):
    """Two sets and their matching; LSNS knows the noise."""
    rng = np.random.default_rng([n, m])
    x, y = rng.normal(size=(n, 3)), rng.normal(size=(m, 3))
    noise = (np.linspace(0.5, 2.0, n), np.linspace(1.0, 3.0, m)) if objective == "lsns" else None
    return x, y, match(x, y, objective=objective, noise=noise)


objectives = pytest.mark.parametrize("objective", ["lsl", "lss", "lsns"])
shapes = pytest.mark.parametrize(("n", "m"), [(6, 6), (4, 7), (7, 4)])


def changed(values, index, change):
    values = np.array(values)
    values[index] += change
    return values


def defined_violation(x, y, result):
    """The largest violation by its definition, pair by pair, on exactly computed costs."""
    cost = costs(result.criterion, x, y, result.scale, result.shift, result.noise)
    n, m = cost.shape
    worst = 0.0
    for i in range(n):
        for j in range(m):
            slack = math.fsum([cost[i, j], -result.row_dual[i], -result.col_dual[j]])
            worst = max(worst, abs(slack) if result.permutation[i] == j else -slack)
    if n < m:
        worst = max(
            worst, *result.col_dual, *(abs(result.col_dual[j]) for j in {*range(m)} - {*result.permutation})
        )
    if n > m:
        worst = max(worst, *result.row_dual, *np.abs(result.row_dual[result.permutation < 0]))
    return worst


# ------------------------------------------------------------------------------------- what it measures


@objectives
@shapes
def test_a_true_certificate_is_violated_by_rounding_only(objective, n, m):
    x, y, result = make(objective, n, m)
    assert 0.0 <= check_certificate(x, y, result) <= 1e-12


@objectives
@shapes
def test_the_violation_is_the_one_of_the_definition(objective, n, m):
    x, y, result = make(objective, n, m)
    rng = np.random.default_rng(1)
    for _ in range(5):
        shaken = result._replace(
            row_dual=result.row_dual + rng.normal(size=n), col_dual=result.col_dual + rng.normal(size=m)
        )
        assert check_certificate(x, y, shaken) == pytest.approx(defined_violation(x, y, shaken), rel=1e-9)


@objectives
@shapes
def test_two_exchanged_partners_are_detected(objective, n, m):
    x, y, result = make(objective, n, m)
    rows = np.flatnonzero(result.permutation >= 0)
    permutation = result.permutation.copy()
    permutation[rows[:2]] = permutation[rows[1::-1]]
    assert check_certificate(x, y, result._replace(permutation=permutation)) > 1e-3


@objectives
@shapes
@pytest.mark.parametrize("change", [0.25, -0.25])
@pytest.mark.parametrize("dual", ["row_dual", "col_dual"])
def test_a_moved_matched_dual_is_detected(objective, n, m, dual, change):
    x, y, result = make(objective, n, m)
    row = np.flatnonzero(result.permutation >= 0)[0]
    index = row if dual == "row_dual" else result.permutation[row]
    moved = result._replace(**{dual: changed(getattr(result, dual), index, change)})
    assert check_certificate(x, y, moved) == pytest.approx(0.25, abs=0.25 if change > 0 else 1e-9)
    assert check_certificate(x, y, moved) > 0.2


@objectives
@pytest.mark.parametrize(("n", "m"), [(4, 7), (7, 4)])
@pytest.mark.parametrize("change", [1e-3, -1e-3])
def test_a_dual_of_an_unmatched_point_must_be_zero(objective, n, m, change):
    x, y, result = make(objective, n, m)
    if n < m:
        unmatched = np.setdiff1d(np.arange(m), result.permutation)[0]
        moved = result._replace(col_dual=changed(result.col_dual, unmatched, change))
    else:
        unmatched = np.flatnonzero(result.permutation < 0)[0]
        moved = result._replace(row_dual=changed(result.row_dual, unmatched, change))
    assert check_certificate(x, y, moved) >= 0.999e-3


@objectives
@pytest.mark.parametrize(("n", "m"), [(4, 7), (7, 4)])
def test_a_positive_dual_on_the_larger_side_is_detected(objective, n, m):
    x, y, result = make(objective, n, m)
    # Tightness and feasibility survive the exchange of a constant between the sides.
    rows, cols = (-100.0, 100.0) if n < m else (100.0, -100.0)
    moved = result._replace(row_dual=result.row_dual + rows, col_dual=result.col_dual + cols)
    assert check_certificate(x, y, moved) == pytest.approx(100.0)


def test_a_constant_between_the_sides_is_free_when_both_are_equally_large():
    x, y, result = make()
    moved = result._replace(row_dual=result.row_dual - 100.0, col_dual=result.col_dual + 100.0)
    assert check_certificate(x, y, moved) <= 1e-12


@objectives
@pytest.mark.parametrize("change", [{"scale": 1.7}, {"shift": np.array([0.0, 0.3, 0.0])}])
def test_another_alignment_than_the_one_that_was_used_is_detected(objective, change):
    x, y, result = make(objective)
    assert check_certificate(x, y, result._replace(**change)) > 1e-3


@pytest.mark.parametrize(("criterion", "other"), [("lsl", "lss"), ("lss", "lsl")])
def test_another_criterion_than_the_one_that_was_used_is_detected(criterion, other):
    x, y, result = make(criterion)
    assert check_certificate(x, y, result._replace(criterion=other)) > 1e-3


def test_other_noise_than_the_one_that_was_given_is_detected():
    x, y, result = make("lsns")
    assert check_certificate(x, y, result._replace(noise=result.noise[::-1])) > 1e-3


@objectives
@pytest.mark.parametrize("dual", ["row_dual", "col_dual"])
@pytest.mark.parametrize("index", [0, 5])
@shapes
def test_a_dual_that_is_not_a_number_is_never_taken_for_a_proof(objective, n, m, dual, index):
    x, y, result = make(objective, n, m)
    index = min(index, len(getattr(result, dual)) - 1)
    broken = result._replace(**{dual: changed(getattr(result, dual), index, math.nan)})
    assert not check_certificate(x, y, broken) <= 1.0
    with pytest.raises(ValueError, match="result violates its certificate by nan"):
        check_certificate(x, y, broken, atol=1.0)


def test_digits_that_a_large_scale_brings_to_light_count():
    """The sets are 1e8 apart before they are aligned, and 1e-8 apart afterwards."""
    x = np.random.default_rng(0).integers(0, 3, (15, 2)).astype(float)
    y = 1e-8 * x[::-1] + 1.0
    result = match(x, y, alignment=Affine(99999999.76625778, np.full(2, -99999999.76625778)))
    assert check_certificate(x, y, result) <= 1e-12


@pytest.mark.parametrize("change", [{"scale": 1e200}, {"row_dual": np.full(6, np.inf)}])
def test_what_is_out_of_range_is_never_taken_for_a_proof(change):
    x, y, result = make("lss")
    assert not check_certificate(x, y, result._replace(**change)) <= 1.0


def test_moved_points_are_detected():
    x, y, result = make()
    assert check_certificate(x + np.eye(6, 3), y, result) > 1e-3


@objectives
@shapes
def test_the_violation_bounds_how_much_better_another_matching_can_be(objective, n, m):
    x, y, result = make(objective, n, m)
    cost = costs(objective, x, y, result.scale, result.shift, result.noise)
    best = float(least_cost(cost))
    rng = np.random.default_rng(2)
    for spread in (0.0, 0.1, 1.0):
        permutation = result.permutation[rng.permutation(n)]
        rows = np.flatnonzero(permutation >= 0)
        other = result._replace(
            permutation=permutation,
            row_dual=result.row_dual + spread * rng.normal(size=n),
            col_dual=result.col_dual + spread * rng.normal(size=m),
        )
        excess = cost[rows, permutation[rows]].sum() - best
        assert excess <= 2 * max(n, m) * check_certificate(x, y, other)


# ------------------------------------------------------------------------------------- how it goes


@objectives
@shapes
@pytest.mark.parametrize("entries", [1, 25, 60])
def test_blocks_of_any_size_give_the_same_violation(objective, n, m, entries, monkeypatch):
    x, y, result = make(objective, n, m)
    worst_last = result._replace(row_dual=changed(result.row_dual, n - 1, 0.5))
    expected = [check_certificate(x, y, one) for one in (result, worst_last)]
    monkeypatch.setattr(checking, "_BLOCK_ENTRIES", entries)
    assert [check_certificate(x, y, one) for one in (result, worst_last)] == expected


def test_nothing_that_is_passed_in_is_changed():
    x, y, result = make()
    kept = [
        part.copy() for part in (x, y, result.permutation, result.row_dual, result.col_dual, result.shift)
    ]
    check_certificate(x, y, result)
    for part, before in zip(
        (x, y, result.permutation, result.row_dual, result.col_dual, result.shift), kept, strict=True
    ):
        np.testing.assert_array_equal(part, before)


def test_the_result_may_hold_lists():
    x, y, result = make()
    lists = result._replace(
        **{name: getattr(result, name).tolist() for name in ("permutation", "row_dual", "col_dual")}
    )
    assert check_certificate(x.tolist(), y.tolist(), lists) == check_certificate(x, y, result)


def test_atol_accepts_what_is_within_and_refuses_what_is_beyond():
    x, y, result = make()
    moved = result._replace(row_dual=result.row_dual - 0.125)
    worst = check_certificate(x, y, moved)
    assert worst == pytest.approx(0.125, abs=1e-12)
    assert check_certificate(x, y, moved, atol=worst) == worst
    with pytest.raises(ValueError, match=r"result violates its certificate by 0.125, more than atol = 0.1"):
        check_certificate(x, y, moved, atol=0.1)


# --------------------------------------------------------------------------------- what it refuses


def planted(objective="lsl", n=40, **options):
    """Two sets of which one is a noisy copy of the other, in other units, and their matching."""
    rng = np.random.default_rng(7)
    x = rng.normal(size=(n, 3))
    y = x[rng.permutation(n)] / 3.0 + 1.0 + 1e-3 * rng.normal(size=(n, 3))
    noise = (np.linspace(0.5, 2.0, n), np.linspace(1.0, 3.0, n)) if objective == "lsns" else None
    return x, y, match(x, y, objective=objective, noise=noise, **options)


EXCHANGED = {
    "lsl": {},
    "lss": {"objective": "lss"},
    "lsns": {"objective": "lsns"},
    "identity": {"alignment": "identity"},
    "known covariance": {"covariance": [1.0, 2.0, 3.0]},
    "learned covariance": {"covariance": "estimate"},
    "fewer pairs": {"pairs": 30},
    "chosen pairs": {"pairs": "auto"},
}


@pytest.mark.parametrize("kind", EXCHANGED)
def test_sets_in_the_wrong_order_are_refused(kind):
    x, y, result = planted(**EXCHANGED[kind])
    assert check_certificate(x, y, result) <= 1e-9
    with pytest.raises(ValueError, match="x and y must be in the order of the result"):
        check_certificate(y, x, result)


@pytest.mark.parametrize("objective", ["lsl", "lss"])
@pytest.mark.parametrize("unit", [1e-30, 1e30])
def test_the_wrong_order_is_recognised_in_any_unit(objective, unit):
    x, y, _ = planted()
    x, y = x * unit, y * unit
    with pytest.raises(ValueError, match="x and y must be in the order of the result"):
        check_certificate(y, x, match(x, y, objective=objective))


def test_sets_of_other_sizes_in_the_wrong_order_are_told():
    x, y, result = make("lsl", 4, 7)
    with pytest.raises(ValueError, match=r"result must fit .* are x and y in the wrong order\?"):
        check_certificate(y, x, result)


def test_a_violated_certificate_is_a_number_and_no_question_of_order():
    """Whatever is wrong with a result or with the sets, it is measured unless the other order is right."""
    x, y, result = planted()
    other = np.random.default_rng(8).normal(size=x.shape)
    swapped = result.permutation.copy()
    swapped[[0, 1]] = swapped[[1, 0]]
    wrong = [
        (x, y, result._replace(scale=2.0 * result.scale)),
        (x, y, result._replace(shift=result.shift + 1.0)),
        (x, y, result._replace(criterion="lss")),
        (x, y, result._replace(permutation=swapped)),
        (x, y, result._replace(permutation=np.roll(result.permutation, 1))),
        (x, y, result._replace(row_dual=result.row_dual + 1.0)),
        (x, y, result._replace(row_dual=result.col_dual, col_dual=result.row_dual)),
        (x[::-1], y, result),
        (x, y[::-1], result),
        (other, y, result),
        (x, other, result),
    ]
    for sets in wrong:
        assert check_certificate(*sets) > 1e-3


def test_a_set_and_itself_have_no_wrong_order():
    x = np.random.default_rng(9).normal(size=(8, 2))
    result = match(x, x)
    assert check_certificate(x, x.copy(), result) <= 1e-9
    assert check_certificate(x, x, result._replace(row_dual=result.row_dual + 1.0)) > 0.9


def test_greedy_results_have_no_certificate():
    x, y, result = make("greedy")
    with pytest.raises(
        ValueError, match="result must carry dual variables; criterion 'greedy' has no certificate"
    ):
        check_certificate(x, y, result)


REPEATED = np.array([0, 1, 2, 3, 4, 4])
REFUSED = {
    "unknown criterion": (
        lambda x, y, r: (x, y, r._replace(criterion="none")),
        "result.criterion must be one of 'lsl', 'lss', 'lsns', 'distance'; got 'none'",
    ),
    "noise that nobody gave": (
        lambda x, y, r: (x, y, r._replace(criterion="lsns")),
        "noise must be a pair .* for objective 'lsns'; got None",
    ),
    "fewer points": (
        lambda x, y, r: (x[:5], y, r),
        "result must fit x and y of 5 and 6 points; got shapes",
    ),
    "more partners": (
        lambda x, y, r: (x, np.vstack([y, y]), r),
        "result must fit x and y of 6 and 12 points; got shapes",
    ),
    "short dual": (
        lambda x, y, r: (x, y, r._replace(row_dual=r.row_dual[1:])),
        r"result must fit x and y .*; got shapes \(6,\), \(5,\) and \(6,\)",
    ),
    "repeated partner": (
        lambda x, y, r: (x, y, r._replace(permutation=REPEATED)),
        "result.permutation must match 6 points of x to different points of y",
    ),
    "partner out of range": (
        lambda x, y, r: (x, y, r._replace(permutation=REPEATED + np.arange(6) // 5 * 2)),
        "result.permutation must match 6 points",
    ),
    "missing partner": (
        lambda x, y, r: (x, y, r._replace(permutation=np.where(r.permutation == 0, -1, r.permutation))),
        "result.permutation must match 6 points",
    ),
    "scale of zero": (
        lambda x, y, r: (x, y, r._replace(scale=0.0)),
        r"result.scale must be positive; got 0.0",
    ),
    "shift of another dimension": (
        lambda x, y, r: (x, y, r._replace(shift=np.zeros(2))),
        r"result.shift must have shape \(3,\); got shape \(2,\)",
    ),
    "points of another dimension": (
        lambda x, y, r: (x[:, :2], y, r),
        "x and y must have the same number of columns; got 2 and 3",
    ),
    "not a number": (
        lambda x, y, r: (x * np.nan, y, r),
        r"x must be finite, without NaN or inf; x\[0, 0\] is nan",
    ),
}


@pytest.mark.parametrize(("change", "message"), REFUSED.values(), ids=REFUSED)
def test_what_does_not_fit_together_is_refused(change, message):
    with pytest.raises(ValueError, match=message):
        check_certificate(*change(*make()))


@pytest.mark.parametrize("atol", [0.0, -1.0, math.nan])
def test_atol_must_be_positive(atol):
    with pytest.raises(ValueError, match="atol must be (positive|finite); got"):
        check_certificate(*make(), atol=atol)


# ------------------------------------------------------------------------------------ any input

# Ties and coincident points on the one hand, long mantissas on the other.
_number = (
    st.integers(-4, 4) | st.integers(-(2**20), 2**20).map(lambda k: k / 2**17) | st.sampled_from([0.1, 0.3])
)


@given(
    data=st.data(),
    n=st.integers(2, 5),
    m=st.integers(2, 5),
    d=st.integers(1, 3),
    exponent=st.sampled_from([0, -600, 600, -900, 900]),
)
def test_the_certificate_of_any_match_holds_in_any_unit(data, n, m, d, exponent):
    def points(count):
        rows = st.lists(_number, min_size=d, max_size=d)
        return np.ldexp(data.draw(st.lists(rows, min_size=count, max_size=count)), exponent)

    x, y = points(n), points(m)
    shift = np.ldexp(data.draw(st.sampled_from([0.0, 1.0, -0.3])), exponent)
    affine = Affine(data.draw(st.sampled_from([1.0, 0.3, 7.0])), np.full(d, shift))
    result = match(x, y, alignment=affine)
    # Costs are logarithms of size up to 2 * 900 * log 2, each rounded.
    assert check_certificate(x, y, result) <= 1e-10


@given(st.data())
def test_any_duals_are_measured_as_defined(data):
    x, y, result = make("lsl", 3, data.draw(st.integers(2, 4)))
    dual = st.floats(-1e6, 1e6)
    u = data.draw(st.lists(dual, min_size=3, max_size=3))
    v = data.draw(st.lists(dual, min_size=len(y), max_size=len(y)))
    result = result._replace(row_dual=np.array(u), col_dual=np.array(v))
    assert check_certificate(x, y, result) == pytest.approx(defined_violation(x, y, result), rel=1e-9)
