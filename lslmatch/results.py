"""What the public functions return: named tuples, one line of documentation a field, that show themselves.

Two of them are equal if all their fields are, NaN counting as equal to NaN. They hold arrays, which can be
changed, and so they are not hashable.
"""

from __future__ import annotations

import os
from collections import Counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lslmatch._arrays import as_array
from lslmatch._comparison import comparable
from lslmatch._frames import as_frame, column_order, is_annotated, row_names
from lslmatch._optional import load
from lslmatch._rows import rows_in_order
from lslmatch._shared_columns import take_those_of
from lslmatch._stored import write_archive
from lslmatch._types import FloatArray, IntArray
from lslmatch.given import Given as Given
from lslmatch.maps import MATRIX_MAPS, AnyMap
from lslmatch.maps import Affine as Affine
from lslmatch.maps import ColumnMap as ColumnMap
from lslmatch.maps import LinearMap as LinearMap
from lslmatch.maps import Similarity as Similarity
from lslmatch.summary import Facts, Summary, Table, abridged, column_table, count, number, turn_words
from lslmatch.turn_proof import TurnProof as TurnProof


@comparable
class Assignment(NamedTuple):
    """An optimal assignment of a cost matrix, with the dual variables that prove it optimal."""

    row_ind: IntArray
    """Matched rows, ascending, of shape (min(n, m),); fewer if there is a price for unmatched pairs."""
    col_ind: IntArray
    """``col_ind[k]`` is the partner of ``row_ind[k]``."""
    row_dual: FloatArray
    """u of shape (n,): ``u[i] + v[j] <= cost[i, j]`` for every pair, with equality on the matched ones."""
    col_dual: FloatArray
    """v of shape (m,). On the longer side the duals are at most 0, and 0 where unmatched."""
    objective: float
    """The sum of the matched costs. (When maximising, every inequality is reversed.)"""


@comparable
class ProfileCurve(NamedTuple):
    """The profile likelihood f of the scale, as far as the search for its minimum saw it.

    f(tau) is the least sum of ``log(r**2) - log(tau)`` over the pairs, with both sets centred as the search
    ended. To it is added what fitting the scale costs, the change of ``log(sum(w))`` with w the information
    that a pair holds about the scale: without that, one pair alone could lower f at will.
    """

    scale: FloatArray
    """Scales tau, ascending, of shape (k,); those of the window that was searched, closer at the minima."""
    value: FloatArray
    """The least value among the matchings that were solved; at the best scale it is f, exactly."""

    def __repr__(self) -> str:
        """Give one line."""
        low, high = number(self.scale[0]), number(self.scale[-1])
        best = number(self.scale[np.argmin(self.value)])
        return f"<ProfileCurve: {count(self.scale.size, 'scale')} from {low} to {high}, least at {best}>"


@comparable
class Covariance(NamedTuple):
    """The covariance of the noise under which points were matched, with all that their costs are made of.

    Only its shape counts: costs use the squared distance under its inverse, times the d-th root of its
    determinant, so that a multiple of the identity gives the costs of the paper.
    """

    factor: FloatArray
    """(k, d): the covariance is ``factor.T @ factor + ridge * I``."""
    ridge: float
    """What was added in all directions: Ledoit and Wolf's shrinkage; 0 for a covariance that was given."""
    reference: IntArray | None = None
    """(n,): the matching that the covariance was learned from, -1 where x has no partner; None if given."""
    weight: FloatArray | None = None
    """(n,): ``factor.T @ factor`` is the sum of ``weight[i] * r_i r_i^T``, r the reference's residuals."""
    leave_out: bool = False
    """Whether the pair that is judged was left out: then each pair has a metric of its own."""
    cross_entropy: float = float("nan")
    """How badly the matching predicts its own pairs, each left out, in nats a pair; 0 is best."""
    isotropic_cross_entropy: float = float("nan")
    """The same of the matching with isotropic noise; about ``2 log n`` says that nothing fits."""
    rounds: int = 0
    """How many matchings were tried."""
    undecided: int = 0
    """Where nothing was left out: of how many points it might change the partner, all being matched."""
    reason: str = ""
    """Why nothing was learned, or the estimate was not kept: the costs are those of isotropic noise then."""
    units: FloatArray | None = None
    """(d,): what the columns of x are divided by before all else; None for 1. If `factor` has no rows, noise
    is diagonal: these are the standard deviations of the columns, up to a common factor."""

    @property
    def matrix(self) -> FloatArray:
        """The covariance of the difference of partners, of shape (d, d), in squared units of x."""
        plain: FloatArray = self.factor.T @ self.factor + self.ridge * np.eye(self.factor.shape[1])
        return plain if self.units is None else plain * np.multiply.outer(self.units, self.units)

    @property
    def is_isotropic(self) -> bool:
        """Whether costs are those of isotropic noise."""
        return self.factor.shape[0] == 0 and self.units is None

    @property
    def is_diagonal(self) -> bool:
        """Whether only the variances of the columns differ, and they were learned or given as such."""
        return self.factor.shape[0] == 0 and self.units is not None

    @property
    def origin(self) -> str:
        """Where it comes from: "given", "learned", "diagonal, learned" or "isotropic, not learned"."""
        if self.is_isotropic:
            return "isotropic, not learned"
        origin = "learned" if self.rounds else "given"
        return f"diagonal, {origin}" if self.is_diagonal else origin

    def __repr__(self) -> str:
        """Give one line."""
        learned = ""
        if self.rounds:
            learned = f" in {count(self.rounds, 'round')}"
            if self.cross_entropy == self.cross_entropy:  # blind pairs have none
                learned += f", cross-entropy {number(self.cross_entropy)}"
                learned += f" (isotropic {number(self.isotropic_cross_entropy)})"
        reason = f": {self.reason}" if self.reason else ""
        return f"<Covariance, d = {self.factor.shape[1]}: {self.origin}{learned}{reason}>"


@comparable
class Regression(NamedTuple):
    """What a linear map was learned from, with all that its costs are made of: ``alignment="linear"``.

    Both sets have coordinates of their own, principal ones: ``(x - x_centre) @ x_basis`` and likewise of y.
    Those of x were regressed on those of y over the pairs of a reference matching. The cost of a pair is the
    logarithm of the squared distance of its points, under the map that their own pairs had no part in.
    """

    x_centre: FloatArray
    """(d_x,)."""
    x_basis: FloatArray
    """(d_x, p): principal axes of x, divided by the unit of the columns."""
    y_centre: FloatArray
    """(d_y,)."""
    y_basis: FloatArray
    """(d_y, q): those of y."""
    reference: IntArray
    """(n,): the matching that the map was learned from, -1 where x has no partner."""
    weight: FloatArray
    """(n,): the weights of its pairs."""
    penalty: float
    """What the sum of squares of the matrix was multiplied by."""
    prior: FloatArray | None = None
    """(q, p): the matrix that the penalty draws to; None for 0."""
    metric_weight: FloatArray | None = None
    """(n,): the noise has the covariance ``sum of metric_weight[i] * r_i r_i^T + metric_ridge * I``, r_i the
    residual of the reference with itself left out; None for isotropic noise."""
    metric_ridge: float = 0.0
    """What was added in all directions."""
    cross_entropy: float = float("nan")
    """How badly the matching predicts its own pairs, each left out, in nats a pair; 0 is best."""
    unrelated_cross_entropy: float = float("nan")
    """The same of a set that is not related to x: y with its rows mixed by a random rotation."""
    rounds: int = 0
    """How many matchings were tried."""
    start: str = ""
    """What the search began with."""

    def __repr__(self) -> str:
        """Give one line."""
        (d_x, p), (d_y, q) = self.x_basis.shape, self.y_basis.shape
        return (
            f"<Regression: {p} of {d_x} coordinates on {q} of {d_y}, from {self.start}, cross-entropy "
            f"{number(self.cross_entropy)} (unrelated {number(self.unrelated_cross_entropy)})>"
        )


@comparable
class Labels(NamedTuple):
    """The names of the points, such as the index of a DataFrame."""

    x: NDArray[Any] | None
    """(n,): the name of each row of x; None if they had none."""
    y: NDArray[Any] | None
    """(m,): the name of each row of y; None if they had none."""

    @staticmethod
    def of(x: Any, y: Any) -> Labels | None:
        """Give the names of the rows of two sets as they came, or None if neither has any."""
        labels = Labels(row_names(x), row_names(y))
        return None if labels.x is None and labels.y is None else labels

    def in_common(self, permutation: IntArray) -> tuple[int, int]:
        """Count the names that a point of each set has, and those of them whose points are partners."""
        if self.x is None or self.y is None:
            return 0, 0
        places: list[dict[Any, int]] = []
        for names in (self.x.tolist(), self.y.tolist()):
            times = Counter(names)
            places.append({name: k for k, name in enumerate(names) if times[name] == 1})
        first, second = places
        both = [name for name in first if name in second]
        return len(both), sum(int(permutation[first[name]]) == second[name] for name in both)


class FalseShare(NamedTuple):
    """How large the expected share of false pairs may be: the argument `pairs` of :func:`lslmatch.match`.

    Without a proof it is an estimate. On planted sets it was kept as a mean over draws, but for sets of which
    half are strangers near the noise floor in few dimensions: the page of limits says where and by how much.

    With ``proof=True`` it is a limit that holds by a theorem, if the noise of both sets is alike and no
    stranger has a relative in the other set: pairs are made and ranked without a look at which set a point is
    from, and those that join a set to itself then tell how many of the others are false. That needs at least
    ``1 / share`` pairs, and such pairs are no cheapest matching: they have no dual variables. The page "A
    limit for false pairs" of the documentation has the theorem, and says which of the two to take.

    Examples
    --------
    >>> from lslmatch import FalseShare
    >>> FalseShare(0.05)
    FalseShare(share=0.05, proof=False)
    """

    share: float
    """Between 0 and 1."""
    proof: bool = False
    """Whether the limit must hold by a theorem."""


@comparable
class MatchResult(NamedTuple):
    """A matching of two sets of points, with the certificate that proves it optimal.

    Examples
    --------
    >>> import numpy as np
    >>> from lslmatch import match
    >>> x = np.array([[1.0, 1.0], [5.0, 0.0], [0.0, 4.0], [7.0, 7.0]])
    >>> y = x[[1, 3, 0, 2]] / 2.0 + 3.0
    >>> result = match(x, y)
    >>> result
    <MatchResult: 4 pairs of 4 and 4 points, d = 2, scale 2, lsl, with a certificate>
    >>> bool(np.allclose(result.transform(result.aligned(y)), x))
    True
    """

    permutation: IntArray
    """``y[permutation[i]]`` is the partner of ``x[i]``; -1 for an ``x[i]`` without one."""
    scale: float
    """tau: ``x[i]`` is about ``scale * y[permutation[i]] + shift``; see `map` if each column has a scale."""
    shift: FloatArray
    """beta, of shape (d,)."""
    objective: float
    """The sum of the costs of the matched pairs, at its minimum (of the greedy pairs for "greedy")."""
    row_dual: FloatArray | None
    """u of shape (n,): ``u[i] + v[j] <= cost(i, j)``, equal on the matched pairs; None for "greedy"."""
    col_dual: FloatArray | None
    """v of shape (m,). On the larger set the duals are at most 0, and 0 where unmatched."""
    criterion: str
    """Which objective was asked for, the argument `objective` of `match`; `objective` here is its value."""
    noise: tuple[FloatArray, FloatArray] | None
    """The noise levels that "lsns" was given."""
    profile: ProfileCurve | None = None
    """The profile likelihood that was searched, for the alignments "profile" and "auto"."""
    covariance: Covariance | None = None
    """The covariance of the noise that was given or learned; None for isotropic noise."""
    price: float | None = None
    """If not all were to be matched: ``u[i] + v[j] + price <= cost(i, j)``, duals <= 0, 0 where unmatched."""
    labels: Labels | None = None
    """The names of the rows of x and of y, if they came with names."""
    decisions: tuple[str, ...] = ()
    """What was chosen automatically, and why: a line each for alignment, covariance and pairs."""
    confidence: FloatArray | None = None
    """(n,): the probability that a pair is right if pairs were chosen, NaN for an x without a partner."""
    columns: tuple[str, ...] | None = None
    """The names of the coordinates, in the order of `shift`, if x came with them."""
    chosen_from: IntArray | None = None
    """(n,): the matching of all points out of which pairs were chosen, whose optimum is the one proven."""
    column_map: ColumnMap | None = None
    """The map from y to x if it has a scale for each column; `scale` is their geometric mean then."""
    matrix_map: Similarity | LinearMap | None = None
    """The map from y to x if it mixes columns; `scale` is how much longer lengths become then."""
    given: Given | None = None
    """What was known beforehand: known pairs, groups, forbidden pairs. What is proven is proven under it."""
    regression: Regression | None = None
    """What a linear map was learned from; costs leave the judged pair out of it then."""
    everywhere: TurnProof | None = None
    """In the plane: the proof that no other angle, mirrored or not, has a matching of a smaller sum."""

    @property
    def pairs(self) -> IntArray:
        """The pairs as row numbers of x and y, of shape (k, 2), in the order of x."""
        rows = np.flatnonzero(self.permutation >= 0)
        return np.stack([rows, self.permutation[rows]], axis=1)

    @property
    def names_in_common(self) -> tuple[int, int]:
        """How many names points of both sets have, and how many of these are paired with each other."""
        return (0, 0) if self.labels is None else self.labels.in_common(self.permutation)

    @property
    def map(self) -> AnyMap:
        """The map from y to x that was used, ready to be passed to another call."""
        return self.matrix_map or self.column_map or Affine(self.scale, self.shift)

    @property
    def affine(self) -> Affine:
        """The map, if it is one scale and a shift."""
        if self.column_map is not None:
            raise ValueError(
                "result.affine must be one scale; this result has one for each column: result.map"
            )
        if self.matrix_map is not None:
            raise ValueError("result.affine must be one scale; this result has a matrix: result.map")
        return Affine(self.scale, self.shift)

    def with_map(self, found: AnyMap) -> MatchResult:
        """Put another map into the result."""
        return self._replace(
            scale=found.scale,
            shift=np.asarray(found.shift),
            column_map=found if isinstance(found, ColumnMap) else None,
            matrix_map=found if isinstance(found, MATRIX_MAPS) else None,
        )

    def __repr__(self) -> str:
        """Give one line; :meth:`summary` says more."""
        n, m, pairs = self._sizes()
        sizes = f"{n:,} points of x" if m is None else f"{n:,} and {m:,} points"
        proof = "no certificate" if self.row_dual is None else "with a certificate"
        return (
            f"<MatchResult: {count(pairs, 'pair')} of {sizes}, d = {self.shift.size}, "
            f"{self._scale_words()}, {self.criterion}, {proof}>"
        )

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()

    def summary(self, diagnosis: Any = None) -> Summary:
        """Say in a table what was found.

        Parameters
        ----------
        diagnosis : Diagnosis, optional
            What :func:`diagnose` said of it: then also how far it can be trusted, and which pairs least.

        Returns
        -------
        Summary
            ``print`` shows it as text, and a notebook as a table.
        """
        n, m, pairs = self._sizes()
        scale = number(self.scale) if self.column_map is None else "one for each column"
        if diagnosis is not None and not np.isnan(diagnosis.scale_error):
            scale += f", std err {diagnosis.scale_error:.2g}"
        left = [
            ("Points of x", f"{n:,}"),
            ("Points of y", "-" if m is None else f"{m:,}"),
            ("Coordinates", f"{self.shift.size:,}"),
            ("Pairs", f"{pairs:,}"),
            ("Without a partner", f"{n - pairs:,} of x" + ("" if m is None else f", {m - pairs:,} of y")),
        ]
        right = [
            ("Objective", self.criterion),
            ("Its value", number(self.objective)),
            ("Scale", scale),
            ("Noise", "isotropic" if self.covariance is None else self.covariance.origin),
            ("Certificate", "none" if self.row_dual is None else "dual variables"),
        ]
        parts: list[Facts | Table | str] = [Facts(left, right)]
        if self.matrix_map is not None:
            parts.append(f"Map: {self._matrix_words()}")
        if self.column_map is None:
            parts.append(f"Shift: {abridged(self.shift)}")
        report = None if diagnosis is None else diagnosis.columns_report
        if self.column_map is not None or report is not None:
            parts.append(column_table(self.columns, self.map, report))
        if self.given is not None:
            parts.append(f"Given: {self.given.words()}")
        common, agree = self.names_in_common
        if common:
            parts.append(f"Names: {common:,} in common, {agree:,} agree")
        parts += [f"Chosen: {line}" for line in self.decisions]
        if diagnosis is not None:
            parts += [*diagnosis.summary().parts, *self._weakest(diagnosis)]
        return Summary("Matching of two sets of points", parts)

    def to_frame(self, diagnosis: Any = None) -> Any:
        """Give the pairs as a pandas DataFrame, a row for each point of x.

        Parameters
        ----------
        diagnosis : Diagnosis, optional
            What :func:`diagnose` said of the result: adds the columns noise, margin and confidence.

        Returns
        -------
        pandas.DataFrame
            The columns ``x`` and ``y`` are row numbers, ``y`` being missing where x has no partner. Where
            the points have names, ``x_label`` and ``y_label`` give them.
        """
        pandas = load("pandas", "files", "to_frame")
        unmatched = self.permutation < 0
        partner = pandas.array(np.where(unmatched, 0, self.permutation), dtype="Int64")
        partner[unmatched] = pandas.NA
        columns: dict[str, Any] = {"x": np.arange(self.permutation.size), "y": partner}
        if self.labels is not None and self.labels.x is not None:
            columns["x_label"] = self.labels.x
        if self.labels is not None and self.labels.y is not None:
            columns["y_label"] = rows_in_order(self.labels.y, self.permutation)
        if self.confidence is not None:
            columns["confidence"] = self.confidence
        if diagnosis is not None:
            columns |= diagnosis.columns()
        return pandas.DataFrame(columns)

    def transform(self, y: Any) -> Any:
        """Bring points into the units of x: ``scale * y + shift``, or whatever else `map` does.

        Parameters
        ----------
        y : array_like of shape (k, d)
            Any points in the units of y, in anything that `match` takes. Columns that have names are found
            by them, if x had names; others that were not matched are left out.

        Returns
        -------
        numpy.ndarray or pandas.DataFrame
            Of the same shape, columns in the order of x. A DataFrame stays one, and keeps its index.
        """
        is_named = self.columns is not None and not isinstance(self.matrix_map, LinearMap)
        y = take_those_of(y, self.columns if is_named else None)
        is_pandas = hasattr(y, "iloc")
        names = list(y) if is_pandas and len(y.shape) == 2 else None
        points = y
        if not is_pandas:
            frame = as_frame(y, "y")
            points = as_array(frame.values, "y")
            if points.dtype.kind not in "biuf":
                raise TypeError(f"y must be real numbers; got dtype {points.dtype}")
            points = points.astype(np.float64, copy=False)
            names = None if frame.columns is None else list(frame.columns)
        size = self.shift.size if self.matrix_map is None else self.matrix_map.matrix.shape[1]
        if len(points.shape) != 2 or points.shape[1] != size:
            raise ValueError(f"y must have shape (k, {size}), points as rows; got shape {points.shape}")
        if self.columns is not None and is_named and names and all(isinstance(name, str) for name in names):
            if sorted(names) != sorted(self.columns):
                raise ValueError(f"y must have the columns {list(self.columns)}; got {names}")
            order = column_order(self.columns, names) or slice(None)
            points = points.iloc[:, order] if is_pandas else points[:, order]
        return self.map.apply(points)

    def aligned(self, y: Any, *, missing: str = "nan") -> Any:
        """Put the rows of y into the order of x: row i belongs to ``x[i]``.

        Parameters
        ----------
        y : array_like of shape (m, ...)
            The second set, or anything else with a row for each of its points. Of annotated data the numbers
            are taken.
        missing : {"nan", "drop"}, default "nan"
            Where ``x[i]`` has no partner: a row of NaN (which makes floats of whole numbers), or no row.

        Returns
        -------
        numpy.ndarray, or pandas.DataFrame or Series
            As long as x, or with missing="drop" as there are pairs. A DataFrame stays one, with the names of
            the points of x as its index if they have names, and 0, 1, ... otherwise.
        """
        if missing not in ("nan", "drop"):
            raise ValueError(f"missing must be 'nan' or 'drop'; got {missing!r}")
        _, m, _ = self._sizes()
        if not hasattr(y, "iloc"):
            y = as_array(y.X if is_annotated(y) else y, "y")
        rows = y.shape[0] if y.shape else 0
        if m not in (None, rows) or rows <= self.permutation.max(initial=-1):
            raise ValueError(f"y must have a row for each point that was matched; got {rows}, not {m}")
        names = None if self.labels is None else self.labels.x
        kept = slice(None) if missing == "nan" else np.flatnonzero(self.permutation >= 0)
        index = np.arange(self.permutation.size)[kept] if names is None else names[kept]
        return rows_in_order(y, self.permutation[kept], index)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Store all of this in a file that :func:`lslmatch.load` reads back: an .npz archive without pickles.

        Parameters
        ----------
        path : str or path
            The file, which is replaced if there is one.

        Raises
        ------
        TypeError
            If names of points are neither strings, numbers nor dates.
        """
        write_archive(path, self)

    def _scale_words(self) -> str:
        if self.column_map is None:
            scale = f"scale {number(self.scale)}"
            return scale if self.matrix_map is None else f"{self._matrix_words()}, {scale}"
        return f"scales {abridged(self.column_map.scales)}"

    def _matrix_words(self) -> str:
        """Say in a few words what a map with a matrix does."""
        found = self.matrix_map
        if isinstance(found, Similarity):
            return turn_words(found.rotation)
        assert found is not None
        d_x, d_y = found.matrix.shape
        return f"a linear map from {d_y} to {count(d_x, 'coordinate')}"

    def _sizes(self) -> tuple[int, int | None, int]:
        """Give the numbers of points of x and of y, the latter None if unknown, and of pairs."""
        m = None if self.col_dual is None else int(np.size(self.col_dual))
        return self.permutation.size, m, int(np.count_nonzero(self.permutation >= 0))

    def _weakest(self, diagnosis: Any) -> list[Table]:
        """List the pairs with the least confidence."""
        if diagnosis.confidence is None:
            return []
        rows = diagnosis.doubtful()[:5]
        names = self.labels or Labels(None, None)
        lines: list[tuple[str, ...]] = []
        for i in rows:
            j = self.permutation[i]
            lines.append(
                (
                    str(i if names.x is None else names.x[i]),
                    str(j if names.y is None else names.y[j]),
                    number(diagnosis.confidence[i]),
                    number(diagnosis.margin[i]),
                )
            )
        return [Table("The most doubtful pairs", ("x", "y", "confidence", "margin"), lines)] if lines else []
