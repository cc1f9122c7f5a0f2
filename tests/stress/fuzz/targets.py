"""What is fuzzed. A target makes arguments of bytes, calls, and checks what comes back.

ValueError and TypeError are what the functions document. Anything else that comes out is a finding:
another exception, a warning, or an answer that its certificate does not prove.
"""

import contextlib
import inspect
from unittest import mock

import numpy as np
import scipy.optimize

import lslmatch
from lslmatch import model, theory
from lslmatch.assignment import settings
from tests.stress.fuzz.choices import Choices
from tests.stress.fuzz.files import try_command
from tests.support.partial import partial_violation
from tests.support.reference import certificate_violation, greatest_cost

_DOCUMENTED = (ValueError, TypeError)


def matching(choices):
    """Match, check the certificate, diagnose, and do both again with a spoilt result."""
    n, m, d = choices.count(), choices.count(), choices.count(8)
    m = n if choices.below(2) else m
    x, y = choices.array(n, d), choices.array(m, d)
    if choices.below(4) == 3:
        y = _moved(choices, x)
    if choices.seldom():
        y = choices.of(
            [np.empty((m, 0)), np.empty((10**9, 0)), x, choices.array(m, d + 1), choices.anything()]
        )
    options = {
        "objective": choices.of(["lsl", "lss", "lsns", "greedy"]),
        "alignment": choices.of(["standardize", "identity", "profile", "auto"]),
        "workers": 1 + choices.below(3),
    }
    if choices.below(3) == 2:
        options["pairs"] = 1 + choices.below(max(1, min(n, m)))
    if options["objective"] == "lsns":
        options["noise"] = _levels(choices, n), _levels(choices, m)
    if choices.seldom():
        options["alignment"] = lslmatch.Affine(choices.anything(), choices.array(d))
    if choices.seldom():
        options[choices.of([*options, "noise"])] = choices.anything()
    with _any_solver(choices), contextlib.suppress(*_DOCUMENTED):
        result = lslmatch.match(x, y, **options)
        _check_matching(x, y, result, options.get("pairs", "all"))
        found = _diagnose(choices, x, y, result, genuine=True)
        if found is not None and found.confidence is not None:
            confidence = found.confidence[result.permutation >= 0]
            assert ((confidence >= 0.0) & (confidence <= 1.0)).all(), confidence
        field = choices.of(result._fields)
        spoilt = result._replace(**{field: choices.array(n) if choices.below(2) else choices.anything()})
        with contextlib.suppress(*_DOCUMENTED):
            lslmatch.check_certificate(x, y, spoilt)
        _diagnose(choices, x, y, spoilt)


def _moved(choices, x):
    """Give the points of x in another order, scale and place, as far as floating point lets us."""
    with contextlib.suppress(*_DOCUMENTED), np.errstate(all="ignore"):
        return np.asarray(x).real.astype(float)[::-1] * choices.of([1.0, 3.0, 1e-8]) + choices.of(
            [0.0, 1.0, 1e9]
        )
    return x


def _levels(choices, size):
    levels = choices.array(size)
    with contextlib.suppress(*_DOCUMENTED), np.errstate(all="ignore"):
        return np.abs(levels)
    return levels


@contextlib.contextmanager
def _any_solver(choices):
    """Let small sets go to the solver that is meant for large ones, with lists that come to their end."""
    solver = settings.DEFAULT
    if choices.below(2):
        solver = solver._replace(
            dense_pairs=0,
            list_size=choices.of([1, 2, 5, 32]),
            short_list_size=choices.of([1, 4]),
            kept_pairs=choices.of([0, 1 << 26]),
            many_conflicts=choices.of([0.0, 0.15, 1.0]),
        )
    with mock.patch.object(settings, "DEFAULT", solver):
        yield


def _check_matching(x, y, result, pairs):
    x, y = np.asarray(x, float), np.asarray(y, float)
    partners = result.permutation[result.permutation >= 0]
    assert np.unique(partners).size == partners.size == (min(len(x), len(y)) if pairs == "all" else pairs)
    assert not np.isnan(result.objective)
    assert result.profile is None or not np.isnan(result.profile.value).any()
    if result.row_dual is not None:
        # The greatest cost is not above the sum of the greatest duals by much; a logarithm is as exact as
        # the ratio of two distances, however near to 0 it is.
        least = 1.0 if result.criterion == "lsl" else 1e-300
        unit = max(
            least, np.abs(result.row_dual).max(), np.abs(result.col_dual).max(), abs(result.price or 0.0)
        )
        # With few pairs all duals may be those of partners that coincide but for rounding errors.
        rounding = 0.0
        if result.price is not None and result.criterion == "lss":
            rounding = (2.0**-50 * max(np.abs(x).max(), result.scale * np.abs(y).max())) ** 2
        violation = lslmatch.check_certificate(x, y, result)
        assert violation <= max(1e-10 * unit, rounding), (violation, unit)


def _diagnose(choices, x, y, result, genuine=False):
    try:
        margins = choices.anything() if choices.seldom() else choices.of(["bound", "exact", [0]])
        delta = choices.anything() if choices.seldom() else 0.05
        return lslmatch.diagnose(x, y, result, margins=margins, delta=delta)
    except _DOCUMENTED as error:
        if genuine and "what match returned" in str(error):
            raise AssertionError("a result is not recognised") from error
    return None


def alignments(choices):
    """Estimate a map, standardise, and compute log costs."""
    n, m, d = choices.count(), choices.count(), choices.count(8)
    x, y = choices.array(n, d), choices.array(m, d)
    affine = None
    with contextlib.suppress(*_DOCUMENTED):
        affine = lslmatch.estimate_affine(x, y)
        assert 0 < affine.scale < np.inf
        assert np.isfinite(affine.shift).all()
    with contextlib.suppress(*_DOCUMENTED):
        assert np.isfinite(lslmatch.standardize(x)).all()
    if choices.seldom():
        affine = choices.of([choices.anything(), lslmatch.Affine(choices.anything(), choices.array(d))])
    with contextlib.suppress(*_DOCUMENTED):
        assert np.isfinite(lslmatch.log_cost_matrix(x, y, affine)).all()


def assignments(choices):
    """Solve a matrix, check the duals, and compare with SciPy."""
    cost = choices.array(choices.below(16), choices.below(16))
    maximize = bool(choices.below(2))
    try:
        expected = scipy.optimize.linear_sum_assignment(cost, maximize)
    except (*_DOCUMENTED, AttributeError):
        expected = None
    try:
        found = lslmatch.solve_assignment(cost, maximize=maximize)
    except _DOCUMENTED:
        # SciPy takes anything that can be cast; we take real numbers.
        assert expected is None or np.asarray(cost).dtype.kind not in "biuf"
        return
    _try_price(choices, cost, maximize)
    sign = -1.0 if maximize else 1.0
    matrix, unit = sign * np.asarray(cost, float), greatest_cost(cost)
    dual = found._replace(row_dual=sign * found.row_dual, col_dual=sign * found.col_dual)
    if unit < 1e306 or (np.isfinite(dual.row_dual).all() and np.isfinite(dual.col_dual).all()):
        violation = certificate_violation(matrix, dual)
        assert violation <= 1e-12, violation
    rows, cols = lslmatch.linear_sum_assignment(cost, maximize)
    np.testing.assert_array_equal(cols, found.col_ind)
    if expected is not None:
        ours, theirs = (matrix[pairs] / unit for pairs in ((rows, cols), expected))
        assert ours.sum() <= theirs.sum() + 1e-12 * (1 + ours.size)


def _try_price(choices, cost, maximize):
    """Match the pairs that are worth a price, and check what proves that no others are better."""
    price = choices.anything() if choices.seldom() else choices.of([0.0, -1.0, 0.5, 3.0, 1e9, 1e307])
    if price is None:
        return
    try:
        found = lslmatch.solve_assignment(cost, maximize=maximize, unmatched=price)
    except _DOCUMENTED:
        return
    sign, price = (-1.0 if maximize else 1.0), float(price)
    unit = max(greatest_cost(cost), abs(price))
    if unit < 1e306:
        proof = sign * found.row_dual, sign * found.col_dual, sign * price
        violation = partial_violation(sign * np.asarray(cost, float), found.row_ind, found.col_ind, *proof)
        assert violation <= 1e-12 * unit, violation


def formulas(choices):
    """Call a function of the theory or of the model with anything at all."""
    function = choices.of(_FORMULAS)
    n, d = choices.count(), choices.count(6)
    arguments = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.default is not parameter.empty and choices.below(2):
            continue
        value = choices.anything()
        if not choices.seldom():
            if name in ("features", "vectors"):
                value = choices.array(n, d)
            elif name in ("noise", "weights"):
                value = _levels(choices, n)
            elif name == "permutation":
                value = np.arange(n)[::-1]
            elif name == "shift":
                value = choices.array(d)
            elif name in ("n", "d", "rng"):
                value = choices.below(30)
        arguments[name] = value
    # A bare formula may overflow, and NumPy says so.
    with contextlib.suppress(*_DOCUMENTED), np.errstate(all="ignore"):
        function(**arguments)


def _sample(features, noise, scale, shift, permutation, rng=0):
    return model.Configuration(features, noise, scale, shift, permutation).sample(rng)


_FORMULAS = [_sample] + [
    function
    for module in (theory, model)
    for name, function in vars(module).items()
    if inspect.isfunction(function) and function.__module__ == module.__name__ and not name.startswith("_")
]

TARGETS = {
    target.__name__: lambda data, target=target: target(Choices(data))
    for target in (matching, alignments, assignments, formulas, try_command)
}
TARGETS["command"] = TARGETS.pop("try_command")
