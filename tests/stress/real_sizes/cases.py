"""An input of a seed and an index: its size beside the switches of the solver, its kind and its options."""

from typing import Any, NamedTuple

import numpy as np

import lslmatch
from tests.stress.real_sizes.kinds import KINDS, draw_sets

#: Pairs at which the solver goes another way, by name, and the share of the inputs that are drawn there. An
#: input takes some 30 ns a pair, so that of 25 ms each size but the largest gets a part.
SWITCHES = {
    "20^2": (20**2, 0.06),
    "100^2": (100**2, 0.12),
    "200^2": (200**2, 0.30),
    "400^2": (400**2, 0.21),
    "500^2": (500**2, 0.17),
    "800^2": (800**2, 0.075),
    "1200^2": (1200**2, 0.05),
    "2000^2": (2000**2, 0.014),
    "4000^2": (4000**2, 0.001),
}
_DIMENSIONS = {1: 0.18, 2: 0.28, 3: 0.2, 5: 0.1, 10: 0.08, 16: 0.06, 20: 0.06, 40: 0.04}
#: Coordinates of all pairs, n * m * d, at most.
_COORDINATES = 45_000_000
#: Points of a set at most, so that a small one beside it is not too small.
_POINTS = 12_000
_TWO_KINDS = 0.3


class Case(NamedTuple):
    """Two sets with the options to match them."""

    kinds: tuple[str, ...]
    size: str
    x: np.ndarray
    y: np.ndarray
    options: dict[str, Any]

    @property
    def kind(self):
        """The kinds in one word."""
        return " + ".join(self.kinds)

    def __str__(self):
        """Say what it is in a line."""
        alignment = self.options["alignment"]
        if not isinstance(alignment, str):
            alignment = f"scale {alignment.scale:.3g}"
        shape = f"{len(self.x)} x {len(self.y)}, d = {self.x.shape[1]}"
        return f"{shape}, {self.options['objective']}, {alignment}, {self.kind}"


def draw_kinds(rng):
    """Draw a kind, or two; the first numbers of a generator that go into a case."""
    count = 2 if rng.random() < _TWO_KINDS else 1
    return tuple(str(kind) for kind in rng.permutation(KINDS)[:count])


def draw_case(rng):
    """Draw a case; the same generator gives the same one."""
    kinds = draw_kinds(rng)
    size, n, m, d = _draw_shape(rng)
    x, y = draw_sets(rng, kinds, n, m, d)
    objective = str(rng.choice(["lsl", "lss", "lsns"], p=[0.75, 0.17, 0.08]))
    alignment = str(rng.choice(["identity", "standardize", "given"], p=[0.5, 0.3, 0.2]))
    options = {"objective": objective, "alignment": alignment}
    if alignment == "given":
        scale = float(10.0 ** rng.uniform(-6, 6)) if rng.random() < 0.8 else float(rng.choice([1e-40, 1e40]))
        shift = rng.normal(size=d) * 10.0 ** rng.uniform(-3, 9) * (np.median(np.abs(x)) or 1.0)
        if "denormals" in kinds or not np.isfinite((np.abs(y).max() + np.abs(shift).max()) / scale):
            scale, shift = 1.0, -y[0]
        y = (y - shift) / scale
        options["alignment"] = lslmatch.Affine(scale, shift)
    if rng.random() < 0.3:
        x, y = _exchange(x, y, options)
    if objective == "lsns":
        # In units of the points, or the costs would be out of range.
        spread = rng.choice([0.0, 1.0, 3.0])
        options["noise"] = tuple(
            (float(np.median(np.abs(points))) or 1.0) * np.exp(spread * rng.normal(size=len(points)))
            for points in (x, y)
        )
    return Case(kinds, size, np.ascontiguousarray(x), np.ascontiguousarray(y), options)


def _draw_shape(rng):
    """Draw a switch, numbers of points on one side of it or just on it, and a number of dimensions."""
    size = str(rng.choice(list(SWITCHES), p=[share for _, share in SWITCHES.values()]))
    switch = SWITCHES[size][0]
    pairs = switch * (np.exp(rng.uniform(-0.15, 0.15)) if rng.random() < 0.8 else 1.0)
    form = rng.random()
    if form < 0.5:
        n = m = round(pairs**0.5)
    elif form < 0.75:
        n = int((pairs / rng.uniform(1, 4)) ** 0.5)
        m = round(pairs / n)
    else:
        # A few rows beside thousands of columns.
        least = max(2.0, pairs / _POINTS)
        n = int(np.exp(rng.uniform(np.log(least), np.log(max(least, min(300, pairs**0.5))))))
        m = round(pairs / n)
    affordable = [k for k in _DIMENSIONS if pairs * k <= _COORDINATES]
    shares = np.array([_DIMENSIONS[k] for k in affordable])
    return size, n, m, int(rng.choice(affordable, p=shares / shares.sum()))


def _exchange(x, y, options):
    """Exchange the two sets, and turn a given map round."""
    if not isinstance(options["alignment"], str):
        scale, shift = options["alignment"]
        with np.errstate(all="ignore"):
            turned = lslmatch.Affine(1.0 / scale, -shift / scale)
        if not (np.isfinite(turned.shift).all() and np.isfinite(turned.scale)):
            return x, y
        options["alignment"] = turned
    return y, x
