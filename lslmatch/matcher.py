"""Matching with scikit-learn's habits: parameters first, then ``fit``, then attributes with an underscore."""

from __future__ import annotations

import inspect
import sys
from typing import Any

import numpy as np

from lslmatch._frames import as_frame, column_order
from lslmatch._optional import load
from lslmatch._shared_columns import take_those_of
from lslmatch._types import IntArray
from lslmatch._validation import as_real_array, check_finite
from lslmatch.choice.choosing import is_choosable
from lslmatch.maps import AnyMap
from lslmatch.matching import match
from lslmatch.results import MatchResult


class NotFittedError(ValueError, AttributeError):
    """A fitted attribute was asked for before ``fit``."""


class Matcher:
    """Match two sets of points, as an estimator that scikit-learn can clone and set parameters of.

    scikit-learn itself is not needed. The parameters are those of :func:`match`, with the automatic choices
    as defaults.

    Parameters
    ----------
    objective : {"lsl", "lss", "lsns", "distance", "greedy"}, default "lsl"
        What the matching minimises.
    alignment : str or a map, default "auto"
        The map from Y to X.
    covariance : {"isotropic", "diagonal", "estimate", "auto"} or array_like, default "auto"
        The covariance of the noise.
    pairs : {"all", "auto"}, int or FalseShare, default "auto"
        How many pairs are matched. "auto" is "all" for another objective than "lsl", and for more points than
        pairs can be chosen from; `decisions_` says so.
    noise : tuple of two array_like, optional
        The noise levels that "lsns" needs.
    known : array_like of shape (k, 2), or dict, optional
        Pairs that are right for certain, by row numbers or labels.
    groups : tuple of two array_like, optional
        The group of each point: partners are of the same group.
    forbidden : array_like of shape (k, 2), or boolean or sparse matrix, optional
        Pairs that must not be.
    columns : {"same", "common"}, default "same"
        Whether sets with names of columns must have the same ones, or those that both have are taken.
    workers : int, default 1
        Threads that compute costs.

    Attributes
    ----------
    result_ : MatchResult
        All that was found.
    permutation_ : ndarray of shape (n,)
        ``Y[permutation_[i]]`` is the partner of ``X[i]``; -1 without one.
    map_ : Affine, ColumnMap, Similarity or LinearMap
        ``X[i]`` is about ``map_.apply(Y[permutation_[i]])``.
    scale_, shift_ : float and ndarray of shape (d,)
        Those of `map_`; `scale_` is the geometric mean if each column has one.
    decisions_ : tuple of str
        What was chosen automatically, and why.
    n_features_in_ : int
        The number of coordinates d.
    feature_names_in_ : ndarray of shape (d,)
        The names of the columns of X; only if they are strings.

    Examples
    --------
    >>> import numpy as np
    >>> from lslmatch import Matcher
    >>> x = np.array([[1.0, 1.0], [5.0, 0.0], [0.0, 4.0], [7.0, 7.0]])
    >>> y = x[[1, 3, 0, 2]] / 2.0 + 3.0
    >>> matcher = Matcher(alignment="standardize").fit(x, y)
    >>> matcher
    Matcher(alignment='standardize')
    >>> matcher.permutation_.tolist()
    [2, 0, 3, 1]
    >>> bool(np.allclose(matcher.transform(y)[matcher.permutation_], x))
    True
    """

    def __init__(
        self,
        *,
        objective: str = "lsl",
        alignment: str | AnyMap = "auto",
        covariance: Any = "auto",
        pairs: Any = "auto",
        noise: tuple[Any, Any] | None = None,
        known: Any = None,
        groups: tuple[Any, Any] | None = None,
        forbidden: Any = None,
        columns: str = "same",
        workers: int = 1,
    ) -> None:
        self.objective = objective
        self.alignment = alignment
        self.covariance = covariance
        self.pairs = pairs
        self.noise = noise
        self.known = known
        self.groups = groups
        self.forbidden = forbidden
        self.columns = columns
        self.workers = workers

    def fit(self, X: Any, Y: Any) -> Matcher:
        """Match X and Y.

        Parameters
        ----------
        X : array_like of shape (n, d)
            The first set, points as rows.
        Y : array_like of shape (m, d)
            The second set. If both have names of columns, these are paired by them.

        Returns
        -------
        Matcher
            Itself, fitted.
        """
        result = self._match(X, Y)
        names = result.columns
        self.result_: MatchResult = result
        self.permutation_: IntArray = result.permutation
        self.map_ = result.map
        self.scale_ = result.scale
        self.shift_ = result.shift
        self.decisions_ = result.decisions
        self.n_features_in_ = int(result.shift.size)
        if names is not None:
            self.feature_names_in_ = np.array(names, object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return self

    def _match(self, X: Any, Y: Any) -> MatchResult:
        """Match with the parameters; where pairs cannot be chosen, "auto" matches all."""
        parameters = self.get_params()
        why = ""
        if isinstance(self.pairs, str) and self.pairs == "auto":
            if self.objective != "lsl":
                why = "pairs can be chosen for objective 'lsl' only"
            elif np.ndim(X) == np.ndim(Y) == 2 and not is_choosable(np.shape(X)[0], np.shape(Y)[0]):
                why = "there are too many points to choose pairs from"
        if not why:
            return match(X, Y, **parameters)
        result = match(X, Y, **parameters | {"pairs": "all"})
        return result._replace(decisions=(*result.decisions, f"pairs: all, as {why}"))

    def fit_predict(self, X: Any, Y: Any) -> IntArray:
        """Match X and Y, and give the partner of each point of X.

        Parameters
        ----------
        X, Y : array_like of shapes (n, d) and (m, d)
            The two sets.

        Returns
        -------
        ndarray of int of shape (n,)
            Rows of Y, -1 for a point without a partner: `permutation_`.
        """
        return self.fit(X, Y).permutation_

    def transform(self, Y: Any) -> Any:
        """Bring points from the units of Y into those of X.

        Parameters
        ----------
        Y : array_like of shape (k, d)
            Points in the units of Y, not only those that were matched. Columns with names are found by them.

        Returns
        -------
        ndarray or DataFrame
            ``map_.apply(Y)``, with the columns in the order of X.
        """
        self._check_is_fitted()
        return self.result_.transform(self._in_order(Y))

    def aligned(self, Y: Any, *, missing: str = "nan") -> Any:
        """Put what has a row for each point of Y into the order of X; see :meth:`MatchResult.aligned`.

        Parameters
        ----------
        Y : array_like of shape (m, ...)
            The second set, or anything else with a row for each of its points.
        missing : {"nan", "drop"}, default "nan"
            Where a point of X has no partner: a row of NaN, or no row.

        Returns
        -------
        ndarray or DataFrame
            Row i belongs to ``X[i]``.
        """
        self._check_is_fitted()
        return self.result_.aligned(Y, missing=missing)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Give the parameters by name.

        Parameters
        ----------
        deep : bool
            For scikit-learn; there are no estimators inside this one.

        Returns
        -------
        dict
            Names and values.
        """
        return {name: getattr(self, name) for name in _defaults()}

    def set_params(self, **params: Any) -> Matcher:
        """Set parameters by name; they are checked by :meth:`fit`.

        Parameters
        ----------
        **params : dict
            Names and values.

        Returns
        -------
        Matcher
            Itself.
        """
        unknown = [name for name in params if name not in _defaults()]
        if unknown:
            raise ValueError(f"Matcher has the parameters {', '.join(_defaults())}; got {', '.join(unknown)}")
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        """Give the parameters that differ from their defaults."""
        changed = []
        for name, default in _defaults().items():
            value = getattr(self, name)
            if value is not default and not (isinstance(value, type(default)) and value == default):
                shown = f"<array of shape {value.shape}>" if isinstance(value, np.ndarray) else repr(value)
                changed.append(f"{name}={shown}")
        return f"{type(self).__name__}({', '.join(changed)})"

    def __sklearn_is_fitted__(self) -> bool:
        """Tell scikit-learn whether ``fit`` was called."""
        return hasattr(self, "result_")

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn what this takes; only scikit-learn asks."""
        utils = load("sklearn.utils", "bench", "__sklearn_tags__")
        return utils.Tags(
            estimator_type=None,
            target_tags=utils.TargetTags(required=True, two_d_labels=True, multi_output=True),
            transformer_tags=utils.TransformerTags(),
            input_tags=utils.InputTags(sparse=True),
        )

    def _check_is_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            # scikit-learn's own, if it is in use.
            known = sys.modules.get("sklearn.exceptions")
            error = NotFittedError if known is None else known.NotFittedError
            raise error(f"{type(self).__name__} must be fitted first: call fit(X, Y)")

    def _in_order(self, Y: Any) -> Any:
        """Check points that are to be mapped, and bring their columns into the order of X."""
        names = getattr(self, "feature_names_in_", None)
        Y = take_those_of(Y, names)
        frame = as_frame(Y, "Y")
        array = as_real_array(frame.values, "Y")
        if array.ndim != 2:
            raise ValueError(
                f"Y must be 2-dimensional, with points as rows; got shape {array.shape}. Reshape your data, "
                "one point by Y.reshape(1, -1)"
            )
        if frame.columns is not None and names is not None:
            order = column_order(names.tolist(), frame.columns, ("X", "Y"))
            if order is not None:
                Y, array = Y.iloc[:, order] if hasattr(Y, "iloc") else array[:, order], array[:, order]
        if array.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {array.shape[1]} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input."
            )
        check_finite(np.asarray(array, np.float64), "Y", frame.columns)
        return Y if hasattr(Y, "iloc") else array


def _defaults() -> dict[str, Any]:
    parameters = inspect.signature(Matcher.__init__).parameters
    return {name: parameter.default for name, parameter in parameters.items() if name != "self"}
