"""Who is timed: the library, and the pipelines that a user could assemble from other packages.

A pipeline standardises both sets, lets scikit-learn compute squared distances by a matrix product, takes
logarithms in place (or divides by noise variances, or does neither, according to the objective), and hands
the matrix to an assignment solver. All of them work in double precision
with the threads that they take by default.
"""

import importlib.util

import numpy as np
from scipy.optimize import linear_sum_assignment

import lslmatch

OURS = "lslmatch"
#: The module that each peer needs, and the package that brings it.
PEERS = {"scipy": ("scipy", "scipy"), "lapx": ("lap", "lapx"), "lapjv": ("lapjv", "lapjv")}
#: Not a peer: the product Z @ Zs.T alone, which any method with exact distances has to beat or to pay.
PRODUCT = "product"
#: The same into memory that is there already, so that no page has to be fetched from the system.
PRODUCT_IN_PLACE = "product in place"


def installed_peers(case=None):
    """Name the peers that can be had, and can solve a case: lapjv is for square matrices only."""
    peers = [peer for peer, (module, _) in PEERS.items() if importlib.util.find_spec(module)]
    return [peer for peer in peers if peer != "lapjv" or case is None or not case.m]


def missing_packages():
    """Name the packages of the extra ``bench`` that comparisons need and that are not installed."""
    needed = {"sklearn": "scikit-learn"} | dict(PEERS.values())
    return [package for module, package in needed.items() if importlib.util.find_spec(module) is None]


def prepare(contestant, data, objective="lsl"):
    """Give a call without arguments that solves `data`, point sets or a matrix, and returns the columns.

    `data` is what :func:`tests.benchmarks.instances.draw` gives.
    """
    if contestant in (PRODUCT, PRODUCT_IN_PLACE):
        return _product(*data, in_place=contestant == PRODUCT_IN_PLACE)
    if contestant == OURS:
        if len(data) == 1:
            return lambda: lslmatch.linear_sum_assignment(*data)[1]
        x, y, *levels = data
        return lambda: lslmatch.match(x, y, objective=objective, noise=tuple(levels) or None).permutation
    solve = _solver(contestant)
    if len(data) == 1:
        return lambda: solve(*data)
    distances = _distances()
    # Products cancel, so that close points may coincide. Where none does, a pipeline need not look for them.
    coincide = objective == "lsl" and not distances(*map(_standardise, data[:2]), squared=True).all()
    return lambda: solve(_costs(*data, objective=objective, distances=distances, coincide=coincide))


def _costs(x, y, *levels, objective, distances, coincide):
    squares = distances(_standardise(x), _standardise(y), squared=True)
    if coincide:
        np.maximum(squares, np.finfo(np.float64).tiny, out=squares)
    if objective == "lsl":
        return np.log(squares, out=squares)
    if levels:
        x_level, y_level = _standard_levels(x, y, *levels)
        squares /= np.square(x_level)[:, None] + np.square(y_level)
    return squares


def pair_costs(data, columns, objective="lsl"):
    """Give the costs of the matched pairs: for points by differences, which do not cancel."""
    if len(data) == 1:
        return data[0][np.arange(len(columns)), columns]
    x, y, *levels = data
    squares = ((_standardise(x) - _standardise(y)[columns]) ** 2).sum(axis=1)
    if objective == "lsl":
        return np.log(squares)
    if not levels:
        return squares
    x_level, y_level = _standard_levels(x, y, *levels)
    return squares / (np.square(x_level) + np.square(y_level[columns]))


def _standardise(points):
    """Centre a set and divide it by its standard deviation."""
    centred = points - points.mean(axis=0)
    return centred / _spread(points)


def _standard_levels(x, y, x_level, y_level):
    return x_level / _spread(x), y_level / _spread(y)


def _spread(points):
    return np.linalg.norm(points - points.mean(axis=0)) / np.sqrt(len(points))


def _distances():
    """Import scikit-learn's distances only when they are needed: that takes longer than all other imports."""
    try:
        from sklearn.metrics.pairwise import euclidean_distances
    except ImportError:  # the ordinary tests do without it
        return _expanded_distances
    return euclidean_distances


def _expanded_distances(a, b, squared):
    """Compute what scikit-learn's function computes, without its checks."""
    assert squared
    squares = -2.0 * (a @ b.T)
    squares += (a * a).sum(axis=1)[:, None]
    squares += (b * b).sum(axis=1)
    return np.maximum(squares, 0.0, out=squares)


def _solver(peer):
    if peer == "scipy":
        return lambda cost: linear_sum_assignment(cost)[1]
    if peer == "lapx":
        import lap

        return lambda cost: lap.lapjv(cost, extend_cost=cost.shape[0] != cost.shape[1], return_cost=False)[0]
    import lapjv

    return lambda cost: lapjv.lapjv(cost, force_doubles=True)[0]


def _product(x, y, in_place):
    z, z_sharp = _standardise(x), _standardise(y)
    if not in_place:
        return lambda: z @ z_sharp.T
    out = np.ones((len(z), len(z_sharp)))
    return lambda: np.matmul(z, z_sharp.T, out=out)
