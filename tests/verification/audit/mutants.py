"""Single changes of the formula of a step."""

from types import CodeType, SimpleNamespace

import numpy as np

from verification.audit.arithmetic import FLOATS


def mutants(function):
    """Give copies of a formula, each with one integer constant one larger, also those inside it."""

    def altered(code):
        for k, value in enumerate(code.co_consts):
            if type(value) is int:
                yield code.replace(co_consts=(*code.co_consts[:k], value + 1, *code.co_consts[k + 1 :]))
            elif isinstance(value, CodeType):
                for inner in altered(value):
                    yield code.replace(co_consts=(*code.co_consts[:k], inner, *code.co_consts[k + 1 :]))

    for code in altered(function.__code__):
        yield type(function)(
            code, function.__globals__, "mutant", function.__defaults__, function.__closure__
        )


def values(function, problem, count=50):
    """Give the values of a formula at random points of the cube, NaN where it has none."""
    cube = np.random.default_rng(1).random((problem.dimension, count))
    with np.errstate(all="ignore"):
        point = SimpleNamespace(**problem.domain(cube))
        return np.broadcast_to(np.asarray(function(FLOATS, point), dtype=float), count)


def same(first, second, problem):
    """Say whether two formulas agree at random points."""
    found = [values(function, problem) for function in (first, second)]
    return np.allclose(*found, rtol=1e-12, atol=1e-12, equal_nan=True)
