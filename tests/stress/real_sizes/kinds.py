"""The kinds of nasty input: some shape the features that both sets share, the others spoil the two sets."""

import numpy as np

#: What programs write where a value is missing or out of range.
FILLS = (-999.0, 9999.0, 1e10, 1e13, 1e15, 3.5e15, 1e17, 1e20, 1e30, 3.4e38, 1e100)

# ------------------------------------------------------------------ features: (m, d), the same for both sets


def ordinary(rng, features):
    """Control."""
    return features


def lattice(rng, features):
    """Whole numbers: ties everywhere."""
    return np.round(features * rng.choice([1.0, 3.0, 30.0]))


def duplicates(rng, features):
    """Few distinct points."""
    distinct = max(1, len(features) // int(rng.integers(2, 40)))
    return features[rng.integers(0, distinct, len(features))]


def clusters(rng, features):
    """Clusters of very different extents."""
    cluster = rng.integers(0, rng.integers(2, 8), len(features))
    extent, centre = 10.0 ** rng.uniform(-9, 3, 8), 10.0 ** rng.uniform(0, 6) * rng.normal(size=8)
    return features * extent[cluster, None] + centre[cluster, None]


def heavy_tails(rng, features):
    """Cauchy's distribution, or tails heavier still."""
    tail = np.abs(rng.standard_cauchy(len(features))) ** rng.choice([1.0, 3.0])
    return features * tail[:, None]


def line(rng, features):
    """Points on a line in d dimensions, or close to one."""
    direction = rng.normal(size=features.shape[1])
    return features[:, :1] * direction + rng.choice([0.0, 1e-9]) * features


def constant_columns(rng, features):
    """All columns but one are constant."""
    moved = features.copy()
    moved[:, 1:] = rng.choice([0.0, 1.0, 0.1, 1e9])
    return moved


def mixed_units(rng, features):
    """Columns in units of very different sizes."""
    return features * 10.0 ** rng.uniform(-8, 8, features.shape[1])


def zeros(rng, features):
    """Many coordinates are 0.0 or -0.0."""
    return np.where(rng.random(features.shape) < 0.6, np.copysign(0.0, features), features)


# ----------------------------------------------------------------------------- the two sets, each on its own


def fill_in_one_value(rng, x, y):
    """One value of one set is a fill."""
    return _in_one_set(rng, x, y, lambda points: _fill(rng, points, 1, columns=1))


def fill_in_one_row(rng, x, y):
    """All values of one row of one set are fills."""
    return _in_one_set(rng, x, y, lambda points: _fill(rng, points, 1))


def fills_in_many_rows(rng, x, y):
    """Some rows of one set have fills, the same one or several."""
    return _in_one_set(rng, x, y, lambda points: _fill(rng, points, _several(rng, points)))


def fills_in_few_values(rng, x, y):
    """Some single values of one set are fills."""
    return _in_one_set(rng, x, y, lambda points: _fill(rng, points, _several(rng, points), columns=1))


def filled_column(rng, x, y):
    """A whole column of one set or of both is a fill."""
    column, value = rng.integers(0, x.shape[1]), rng.choice(FILLS)

    def fill(points):
        filled = points.copy()
        filled[:, column] = value
        return filled

    return (fill(x), fill(y)) if rng.random() < 0.5 else _in_one_set(rng, x, y, fill)


def fills_in_both_sets(rng, x, y):
    """Some rows of both sets have fills: they all are alike, or those of one set differ."""
    value = rng.choice(FILLS)
    return tuple(_fill(rng, points, _several(rng, points), value=value) for points in (x, y))


def large_offset(rng, x, y):
    """Both sets are far from the origin, together."""
    offset = 10.0 ** rng.uniform(9, 16) * rng.choice([-1.0, 1.0], x.shape[1])
    return x + offset, y + offset


def denormals(rng, x, y):
    """Both sets are in the range where doubles lose digits."""
    unit = 10.0 ** rng.uniform(-322, -305)
    return x * unit, y * unit


def tiny_units(rng, x, y):
    """Squares are below the range of doubles."""
    unit = 10.0 ** rng.uniform(-300, -140)
    return x * unit, y * unit


def huge_units(rng, x, y):
    """Squares are above the range of doubles, or close to its end."""
    unit = 10.0 ** rng.uniform(70, 150)
    return x * unit, y * unit


def hubs(rng, x, y):
    """Many rows are near one column."""
    near = rng.random((len(x), 1)) < 0.5
    return np.where(near, y[0] + rng.choice([1e-3, 1e-9]) * x, x), y


def shared_points(rng, x, y):
    """Points of x are points of y, some more than once."""
    copied = rng.random((len(x), 1)) < 0.5
    return np.where(copied, y[rng.integers(0, len(y), len(x))], x), y


def strangers(rng, x, y):
    """Some points of both sets have no partner."""
    return tuple(
        np.where(rng.random((len(points), 1)) < 0.2, points[rng.permutation(len(points))] * 1.1, points)
        for points in (x, y)
    )


FEATURES = {
    kind.__name__.replace("_", " "): kind
    for kind in (
        ordinary,
        lattice,
        duplicates,
        clusters,
        heavy_tails,
        line,
        constant_columns,
        mixed_units,
        zeros,
    )
}
SETS = {
    kind.__name__.replace("_", " "): kind
    for kind in (
        fill_in_one_value,
        fill_in_one_row,
        fills_in_many_rows,
        fills_in_few_values,
        filled_column,
        fills_in_both_sets,
        large_offset,
        denormals,
        tiny_units,
        huge_units,
        hubs,
        shared_points,
        strangers,
    )
}
#: Noiseless copies are a kind, too: that of the noise, not of the points.
NOISELESS = "noiseless copies"
KINDS = (*FEATURES, *SETS, NOISELESS)


def draw_sets(rng, kinds, n, m, d):
    """Draw n and m points: those of x are noisy copies of some of y, spoilt by each of the kinds in turn."""
    features = rng.normal(size=(m, d))
    for name in kinds:
        features = FEATURES.get(name, ordinary)(rng, features)
    level = 0.0 if NOISELESS in kinds else rng.choice([1e-12, 1e-6, 0.01, 0.1, 1.0])
    x = features[rng.permutation(m)[:n]]
    if "lattice" in kinds:
        x = x + np.round(level * rng.normal(size=x.shape))
    elif level:
        x = x + level * rng.normal(size=x.shape) * np.abs(features).max(axis=0)
    x, y = x + 0.0, features
    for name in kinds:
        if name in SETS:
            x, y = SETS[name](rng, x, y)
    return x, y


def _in_one_set(rng, x, y, change):
    return (change(x), y) if rng.random() < 0.4 else (x, change(y))


def _several(rng, points):
    return int(rng.integers(2, max(3, len(points) // 3)))


def _fill(rng, points, rows, columns=None, value=None):
    """Write fills into all columns or one of some rows: one value or several, of one sign or of both."""
    filled, d = points.copy(), points.shape[1]
    rows = rng.permutation(len(points))[:rows]
    values = np.full(rows.size, rng.choice(FILLS) if value is None else value)
    if value is None and rng.random() < 0.3:
        values = rng.choice(FILLS, rows.size)
    if rng.random() < 0.3:
        values = values * rng.choice([-1.0, 1.0], rows.size)
    if columns is None and rng.random() < 0.7:
        filled[rows] = values[:, None]
    else:
        filled[rows, rng.integers(0, d)] = values
    return filled
