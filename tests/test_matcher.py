"""The estimator: scikit-learn's own checks, the names of columns, and that it finds what `match` finds."""

import copy
import inspect
import pickle
import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from lslmatch import Affine, Matcher, match
from lslmatch.matcher import NotFittedError
from lslmatch.matching import OPTIONS
from lslmatch.model import random_configuration

X, Y = random_configuration(30, 3, separation=4.0, scale=2.0, shift=5.0, rng=0).sample(rng=1)
PAGE = (Path(__file__).parents[1] / "docs" / "api.md").read_text(encoding="utf-8")


def test_fit_finds_what_match_finds():
    matcher = Matcher(alignment="standardize", covariance="isotropic", pairs="all")
    assert matcher.fit(X, Y[:28]) is matcher
    result = match(X, Y[:28])
    assert matcher.result_ == result
    np.testing.assert_array_equal(matcher.permutation_, result.permutation)
    np.testing.assert_array_equal(matcher.fit_predict(X, Y[:28]), result.permutation)
    assert (matcher.scale_, matcher.n_features_in_) == (result.scale, 3)
    np.testing.assert_array_equal(matcher.shift_, result.shift)
    assert matcher.decisions_ == result.decisions
    np.testing.assert_array_equal(matcher.transform(Y[:1]), result.transform(Y[:1]))
    np.testing.assert_array_equal(matcher.aligned(Y[:28]), result.aligned(Y[:28]))
    assert matcher.aligned(Y[:28], missing="drop").shape == (28, 3)


def test_defaults_choose_by_themselves():
    found = Matcher().fit(X, Y).result_
    assert found == match(X, Y, alignment="auto", covariance="auto", pairs="auto")
    assert {line.partition(":")[0] for line in found.decisions} >= {"alignment", "pairs"}


def test_where_pairs_cannot_be_chosen_all_are_matched(monkeypatch):
    fixed = {"alignment": "standardize", "covariance": "isotropic"}
    matcher = Matcher(objective="lss", **fixed).fit(X, Y)
    assert matcher.decisions_ == ("pairs: all, as pairs can be chosen for objective 'lsl' only",)
    monkeypatch.setattr("lslmatch.choice.choosing._MOST_ENTRIES", 100)
    matcher = Matcher(**fixed).fit(X, Y)
    assert matcher.decisions_ == ("pairs: all, as there are too many points to choose pairs from",)
    np.testing.assert_array_equal(matcher.permutation_, match(X, Y).permutation)
    with pytest.raises(ValueError, match="must have at most 100 pairs of points"):
        match(X, Y, pairs="auto")


def test_parameters_are_those_of_match():
    given = Matcher().get_params()
    assert list(given) == [*OPTIONS]
    matcher = Matcher().set_params(objective="lss", workers=2)
    assert matcher.get_params() == given | {"objective": "lss", "workers": 2}
    with pytest.raises(ValueError, match="Matcher has the parameters objective, .*; got colour"):
        matcher.set_params(colour="red")
    with pytest.raises(ValueError, match="objective must be one of"):
        Matcher(objective="best").fit(X, Y)  # and not before


def test_repr_names_what_was_changed():
    assert repr(Matcher()) == "Matcher()"
    affine = Affine(1.0, np.zeros(3))
    text = repr(Matcher(objective="lss", covariance=np.eye(3), alignment=affine))
    assert text.startswith("Matcher(objective='lss', alignment=Affine(")
    assert text.endswith("covariance=<array of shape (3, 3)>)")


def test_matcher_can_be_copied_and_stored():
    matcher = Matcher(alignment="standardize", covariance="isotropic", pairs="all").fit(X, Y)
    for twin in (copy.deepcopy(matcher), pickle.loads(pickle.dumps(matcher))):
        assert twin.result_ == matcher.result_


def test_before_fit_nothing_can_be_asked():
    for ask in (lambda m: m.transform(Y), lambda m: m.aligned(Y)):
        with pytest.raises(ValueError, match=r"Matcher must be fitted first: call fit\(X, Y\)"):
            ask(Matcher())
    assert issubclass(NotFittedError, (ValueError, AttributeError))
    with pytest.raises(AttributeError):
        _ = Matcher().result_


# --------------------------------------------------------------------------------- names of columns


@pytest.fixture
def frames():
    pandas = pytest.importorskip("pandas")
    x = pandas.DataFrame(X, columns=["a", "b", "c"])
    y = pandas.DataFrame(Y, columns=["a", "b", "c"])
    return x, y[["c", "a", "b"]]


def test_columns_are_found_by_their_names(frames):
    x, y = frames
    matcher = Matcher(alignment="standardize", covariance="isotropic", pairs="all").fit(x, y)
    assert matcher.feature_names_in_.tolist() == ["a", "b", "c"]
    assert matcher.feature_names_in_.dtype == object
    plain = match(X, Y)
    np.testing.assert_array_equal(matcher.permutation_, plain.permutation)
    moved = matcher.transform(y)
    assert list(moved) == ["a", "b", "c"]
    np.testing.assert_allclose(moved, plain.transform(Y))
    np.testing.assert_allclose(matcher.transform(Y), plain.transform(Y))  # without names, by position
    with pytest.raises(ValueError, match="only X has 'a', only Y has 'd'"):
        matcher.transform(y.rename(columns={"a": "d"}))
    matcher.fit(X, Y)
    assert not hasattr(matcher, "feature_names_in_")


def test_points_that_do_not_fit_are_refused(frames):
    matcher = Matcher(alignment="standardize", covariance="isotropic", pairs="all").fit(*frames)
    with pytest.raises(ValueError, match="has 2 features, but Matcher is expecting 3 features"):
        matcher.transform(Y[:, :2])
    with pytest.raises(ValueError, match="Y must be 2-dimensional, .* Reshape your data"):
        matcher.transform(Y[0])
    with pytest.raises(ValueError, match="Y must be finite"):
        matcher.transform([[1.0, np.nan, 2.0]])


# ------------------------------------------------------------------------------ scikit-learn's checks


class Checked(Matcher):
    """The checks hand over a vector of targets; here X is matched with a reversed copy of itself."""

    def fit(self, X, y):
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        if hasattr(X, "iloc"):
            return super().fit(X, X.iloc[::-1])
        return super().fit(X, X.tocsr()[::-1] if hasattr(X, "tocsr") else np.asarray(X)[::-1])


def test_checks_of_scikit_learn_pass_but_for_those_that_do_not_apply():
    checks = pytest.importorskip("sklearn.utils.estimator_checks")
    if "on_fail" not in inspect.signature(checks.check_estimator).parameters:
        pytest.skip("this scikit-learn cannot list the outcomes of its checks")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it does not inherit from BaseEstimator, for one
        done = checks.check_estimator(
            Checked(alignment="standardize", covariance="isotropic", pairs="all"), on_fail=None, on_skip=None
        )
    failed = {check["check_name"] for check in done if check["status"] == "failed"}
    listed = set(re.findall(r"^\| `(check_\w+)` \|", PAGE, re.MULTILINE))
    assert failed == listed, [str(c["exception"]) for c in done if c["check_name"] in failed - listed]
    assert sum(check["status"] == "passed" for check in done) > 30


def test_scikit_learn_clones_it():
    base = pytest.importorskip("sklearn.base")
    matcher = Matcher(objective="lss", covariance=np.eye(3)).fit(X, Y)
    twin = base.clone(matcher)
    assert repr(twin) == repr(matcher)
    assert not hasattr(twin, "result_")
    with pytest.raises(pytest.importorskip("sklearn.exceptions").NotFittedError):
        twin.transform(Y)


def test_scikit_learn_is_not_imported():
    code = "import sys, lslmatch; lslmatch.Matcher().get_params(); print('sklearn' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
