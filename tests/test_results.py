import copy
import pickle
import sys
from collections.abc import Hashable

import numpy as np
import pytest

from lslmatch import Affine, Assignment, MatchResult, diagnose, match, match_path, solve_assignment
from lslmatch._optional import load
from lslmatch.model import random_configuration
from lslmatch.results import Covariance, Labels, ProfileCurve
from tests.support.reference import SMALL

X = np.array([[0.0, 1.0], [4.0, 4.0], [9.0, 2.0]])
Y = X[[2, 0, 1]] / 2.0 + 3.0


def test_fields_come_in_the_documented_order():
    assert Affine._fields == ("scale", "shift")
    assert Assignment._fields == ("row_ind", "col_ind", "row_dual", "col_dual", "objective")
    assert MatchResult._fields[:6] == ("permutation", "scale", "shift", "objective", "row_dual", "col_dual")


@pytest.mark.parametrize("objective", ["lsl", "lss", "lsns", "greedy"])
def test_a_match_holds_plain_numbers_and_arrays(objective):
    result = match(X, Y, objective=objective, noise=(1.0, 1.0) if objective == "lsns" else None)
    assert isinstance(result, MatchResult)
    assert result.permutation.dtype == np.intp
    assert type(result.scale) is float
    assert type(result.objective) is float
    assert result.shift.dtype == np.float64
    assert result.shift.shape == (2,)
    if objective != "greedy":
        assert result.row_dual.dtype == result.col_dual.dtype == np.float64
        assert result.row_dual.shape == result.col_dual.shape == (3,)


def test_an_assignment_holds_plain_numbers_and_arrays():
    result = solve_assignment([[1, 2, 3], [3, 1, 2]])
    assert isinstance(result, Assignment)
    assert result.row_ind.dtype == result.col_ind.dtype == np.intp
    assert result.row_dual.shape == (2,)
    assert result.col_dual.shape == (3,)
    assert type(result.objective) is float


def test_the_map_of_a_match_can_be_passed_on():
    result = match(X, Y)
    assert isinstance(result.affine, Affine)
    again = match(X, Y, alignment=result.affine)
    np.testing.assert_array_equal(again.permutation, result.permutation)
    assert again.objective == result.objective
    assert again.affine.scale == result.scale
    np.testing.assert_array_equal(again.affine.shift, result.shift)


# ------------------------------------------------------------------------- how results show themselves


def planted(n=40, m=36, labels=None):
    """Match n points with m of them; return both sets, the result and its diagnosis."""
    x, y = random_configuration(n, 3, separation=2.0, scale=2.0, rng=3).sample(rng=4)
    result = match(x, y[:m])._replace(labels=labels)
    return x, y[:m], result, diagnose(x, y[:m], result)


@pytest.mark.parametrize("objective", ["lsl", "greedy"])
def test_reprs_are_one_line_and_name_the_sizes(objective):
    n = 60 if SMALL else 1000
    x, y = random_configuration(n, 4, separation=5.0, rng=0).sample(rng=1)
    result = match(x, y[10:], objective=objective, alignment="profile")
    for shown in (repr(result), repr(diagnose(x, y[10:], result)), repr(result.profile)):
        assert "\n" not in shown
        assert len(shown) < 160
    assert f"{n - 10} pairs" in repr(result)
    assert ("no certificate" in repr(result)) == (objective == "greedy")


def test_repr_of_a_path_is_one_line():
    path = match_path(X, Y, objective="lss")
    assert repr(path).startswith("<MatchPath: 1 to 3 pairs, each adds from ")
    assert repr(path._replace(chosen=2)).endswith(" (lss), 2 chosen>")
    assert path == match_path(X, Y, objective="lss")
    assert path != match_path(X, Y[:2], objective="lss")


def test_repr_of_a_covariance_is_one_line():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(40, 6))
    learned = match(x, x[::-1] + 0.1 * rng.normal(size=x.shape), covariance="estimate").covariance
    assert repr(learned).startswith("<Covariance, d = 6: learned in ")
    given = match(x, x, covariance=np.arange(1.0, 7.0)).covariance
    assert repr(given) == "<Covariance, d = 6: diagonal, given>"


def test_summary_says_what_was_found():
    x, y, result, diagnosis = planted(labels=Labels(None, np.array([f"<b>{k}" for k in range(36)])))
    result = result._replace(decisions=("alignment: identity, because it is as likely",))
    text = str(result.summary(diagnosis))
    for part in ("36", "4 of x, 0 of y", "lsl", "dual variables", "because it is as likely"):
        assert part in text
    assert diagnosis.verdict in " ".join(text.split())
    assert max(map(len, text.splitlines())) <= 78
    doubtful = diagnosis.doubtful()
    assert doubtful.size
    assert f"<b>{result.permutation[doubtful[0]]}" in text
    assert str(result.summary()) in str(match(x, y)._replace(decisions=result.decisions).summary())
    # What stands in a page is escaped.
    page = result.summary(diagnosis)._repr_html_()
    assert "<b>" not in page.replace("<b>Matching of two sets of points</b>", "")
    assert "&lt;b&gt;" in page
    assert result._repr_html_().startswith("<div>")
    assert diagnosis._repr_html_() == diagnosis.summary()._repr_html_()


def test_a_greedy_match_has_a_summary_without_proof_and_confidences():
    result = match(X, Y, objective="greedy")
    diagnosis = diagnose(X, Y, result)
    text = str(result.summary(diagnosis))
    assert "Certificate:                     none" in text
    assert "confidence" not in text
    with pytest.raises(ValueError, match="no confidences"):
        diagnosis.doubtful()


def test_doubtful_pairs_come_with_the_least_confident_first():
    _, _, _, diagnosis = planted()
    rows = diagnosis.doubtful(0.95)
    confidence = diagnosis.confidence[rows]
    assert (np.diff(confidence) >= 0).all()
    assert rows.size == np.sum(diagnosis.confidence < 0.95)


# ------------------------------------------------------------------------------------- tables of pairs


def test_frame_has_a_row_for_each_point_of_x():
    pandas = pytest.importorskip("pandas")
    names = Labels(np.array([f"a{k}" for k in range(40)]), np.array([f"b{k}" for k in range(36)]))
    _, _, result, diagnosis = planted(labels=names)
    frame = result.to_frame(diagnosis)
    assert list(frame) == ["x", "y", "x_label", "y_label", "noise", "margin", "confidence"]
    unmatched = result.permutation < 0
    np.testing.assert_array_equal(frame["y"].isna(), unmatched)
    np.testing.assert_array_equal(frame["y_label"].isna(), unmatched)
    matched = frame[~unmatched]
    np.testing.assert_array_equal(matched["y"].astype(int), result.permutation[~unmatched])
    assert all(matched["y_label"] == "b" + matched["y"].astype(str))
    np.testing.assert_array_equal(frame["margin"], diagnosis.margin)
    assert list(result._replace(labels=None).to_frame()) == ["x", "y"]
    pandas.testing.assert_frame_equal(diagnosis.to_frame(), frame[["noise", "margin", "confidence"]])


def test_without_pandas_the_message_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ModuleNotFoundError, match=r"to_frame needs pandas: .*lslmatch\[files\]"):
        match(X, Y).to_frame()


def test_a_fault_inside_an_optional_package_is_not_hidden(monkeypatch, tmp_path):
    (tmp_path / "broken_package.py").write_text("import missing_part_of_it")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="missing_part_of_it"):
        load("broken_package", "files", "this test")


# ------------------------------------------------------------------------- y in the units and order of x


def test_transform_and_aligned_bring_y_onto_x():
    result = match(X, Y)
    np.testing.assert_allclose(result.transform(result.aligned(Y)), X, atol=1e-12)
    np.testing.assert_allclose(result.transform(Y)[result.permutation], X, atol=1e-12)


def test_frames_stay_frames():
    pandas = pytest.importorskip("pandas")
    y = pandas.DataFrame(Y, columns=["a", "b"], index=["p", "q", "r"])
    result = match(X, Y)._replace(labels=Labels(np.array(["i", "j", "k"]), None))
    moved = result.transform(y)
    assert list(moved) == ["a", "b"]
    assert list(moved.index) == ["p", "q", "r"]
    ordered = result.aligned(moved)
    assert list(ordered.index) == ["i", "j", "k"]
    np.testing.assert_allclose(ordered, X, atol=1e-12)
    column = result.aligned(y["a"])
    np.testing.assert_array_equal(column, Y[result.permutation, 0])
    partial = result._replace(permutation=np.array([2, -1, 0]), col_dual=np.zeros(3))
    frame = partial.aligned(y)
    assert frame.loc["j"].isna().all()
    assert list(partial.aligned(y, missing="drop").index) == ["i", "k"]
    np.testing.assert_array_equal(frame.loc[["i", "k"]], Y[[2, 0]])


def test_columns_of_a_frame_are_mapped_by_their_names():
    pandas = pytest.importorskip("pandas")
    x, y = pandas.DataFrame(X, columns=["a", "b"]), pandas.DataFrame(Y, columns=["a", "b"])
    result = match(x, y[["b", "a"]])
    assert result.columns == ("a", "b")
    moved = result.transform(y[["b", "a"]])
    assert list(moved) == ["a", "b"]
    np.testing.assert_allclose(result.aligned(moved), X, atol=1e-12)
    np.testing.assert_array_equal(result.transform(Y), moved)  # without names, by position
    with pytest.raises(ValueError, match=r"y must have the columns \['a', 'b'\]; got \['a', 'c'\]"):
        result.transform(y.rename(columns={"b": "c"}))
    assert match(X, Y).columns is None


@pytest.mark.parametrize("kind", [bool, int, float, complex, str, "datetime64[s]"])
def test_a_point_without_partner_never_gets_the_last_row(kind):
    result = match(X, Y)._replace(permutation=np.array([1, -1, 0]))
    rows = result.aligned(np.array([1, 0, 2]).astype(kind))
    assert rows.shape == (3,)
    assert rows[1] != rows[1]  # NaN, or NaT
    assert rows.tolist()[0] == np.array([1, 0, 2]).astype(kind).tolist()[1]
    np.testing.assert_array_equal(result.aligned([5, 6, 7], missing="drop"), [6, 5])


def test_rows_that_do_not_fit_are_refused():
    result = match(X, Y)
    with pytest.raises(ValueError, match="y must have a row for each point that was matched; got 2"):
        result.aligned(Y[:2])
    with pytest.raises(ValueError, match="y must have a row"):
        result.aligned(5.0)
    with pytest.raises(ValueError, match="y must have a row"):
        match(X, Y, objective="greedy").aligned(Y[:2])
    with pytest.raises(ValueError, match="missing must be 'nan' or 'drop'; got 'last'"):
        result.aligned(Y, missing="last")
    with pytest.raises(ValueError, match=r"y must have shape \(k, 2\), points as rows; got shape \(3,\)"):
        result.transform(Y[:, 0])


# ------------------------------------------------------------------------------------------ comparison


def test_results_compare_to_one_answer():
    x, y, result, diagnosis = planted()
    again = match(x, y)
    assert result == again
    assert (result != again) is False
    assert diagnosis == diagnose(x, y, again)  # with NaN where x has no partner
    assert result != result._replace(permutation=result.permutation[::-1])
    assert result != result._replace(permutation=result.permutation[:-1])
    assert result != result._replace(row_dual=None)
    assert result != diagnosis
    assert result != 5
    assert result.affine == tuple(result.affine)
    assert result.affine != Affine(result.scale, result.shift + 1.0)
    assert match(x, y, alignment="profile").profile == match(x, y, alignment="profile").profile


def test_labels_of_any_kind_compare():
    pandas = pytest.importorskip("pandas")
    missing = np.array(["a", pandas.NA, np.nan], object)
    assert Labels(missing, None) == Labels(missing.copy(), None)
    assert Labels(missing, None) != Labels(np.array(["a", "b", np.nan], object), None)
    assert Labels(np.array(["1"]), None) != Labels(np.array([1]), None)


def test_results_are_not_hashable():
    for value in (match(X, Y), match(X, Y).affine, diagnose(X, Y, match(X, Y))):
        assert not isinstance(value, Hashable)
        with pytest.raises(TypeError, match="unhashable"):
            hash(value)


def test_results_can_be_copied_stored_and_changed():
    _, _, result, diagnosis = planted()
    for value in (result, diagnosis):
        for twin in (copy.copy(value), copy.deepcopy(value), pickle.loads(pickle.dumps(value))):
            assert type(twin) is type(value)
            assert twin == value
        assert type(value)(*value) == value
    assert result._replace(scale=3.0).scale == 3.0
    assert result._replace(scale=3.0) != result
    permutation, scale, *_ = result
    assert permutation is result.permutation
    assert scale == result.scale


# ------------------------------------------------------------------------------- found by changing the code


def test_repr_of_a_profile_curve_names_its_ends_and_its_minimum():
    curve = ProfileCurve(np.array([0.5, 1.0, 2.0, 3.0]), np.array([4.0, 3.0, 1.0, 2.0]))
    assert repr(curve) == "<ProfileCurve: 4 scales from 0.5 to 3, least at 2>"


def test_a_covariance_is_its_factor_and_its_ridge():
    factor = np.array([[1.0, 2.0]])
    covariance = Covariance(factor, 0.5)
    np.testing.assert_array_equal(covariance.matrix, [[1.5, 2.0], [2.0, 4.5]])
    assert covariance.is_isotropic is False
    assert Covariance(np.empty((0, 2)), 1.0).is_isotropic is True


def test_without_any_pair_all_rows_are_missing():
    nobody = match(X, Y)._replace(permutation=np.full(3, -1), col_dual=None)
    assert np.isnan(nobody.aligned(np.ones((1, 2)))).all()
    with pytest.raises(ValueError, match="got 0, not 3"):
        match(X, Y).aligned(7.0)


def test_columns_that_are_not_all_names_are_taken_by_position():
    pandas = pytest.importorskip("pandas")
    result = match(pandas.DataFrame(X, columns=["a", "b"]), pandas.DataFrame(Y, columns=["a", "b"]))
    moved = result.transform(pandas.DataFrame(Y, columns=["b", 1]))
    np.testing.assert_allclose(np.asarray(moved), result.transform(Y))


@pytest.mark.parametrize("rows", [[["a", "b"]], [[10**400, 1]], [[1j, 2.0]], [[None, 1.0]]])
def test_only_numbers_are_mapped(rows):
    with pytest.raises(TypeError, match="y must be real numbers; got dtype"):
        match(X, Y).transform(rows)
