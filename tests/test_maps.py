"""Maps keep one protocol: what is applied is the matrix and the shift, and the inverse undoes it."""

import math

import numpy as np
import pytest

from lslmatch import Affine, ColumnMap, LinearMap, Similarity, log_cost_matrix, match
from lslmatch.maps import as_column_map

MIRROR = np.array([[0.0, -0.6, 0.8], [1.0, 0.0, 0.0], [0.0, 0.8, 0.6]])
MAPS = {
    "affine": Affine(2.5, np.array([1.0, -2.0, 0.5])),
    "columns": ColumnMap(np.array([2.54, -0.45, 1e6]), np.array([0.0, 3.0, -1e5])),
    "similarity": Similarity(0.5, MIRROR, np.array([1.0, 0.0, -3.0])),
    "linear": LinearMap(np.array([[1.0, 2.0, 0.0], [0.0, 1.0, 5.0], [3.0, 0.0, 1.0]]), np.arange(3.0)),
}


@pytest.fixture(params=MAPS.values(), ids=MAPS)
def given(request):
    return request.param


def test_apply_is_matrix_and_shift(given):
    y = np.random.default_rng(0).normal(size=(5, 3))
    np.testing.assert_allclose(given.apply(y), y @ given.matrix.T + given.shift, rtol=1e-14)


def test_inverse_undoes(given):
    y = np.random.default_rng(0).normal(size=(5, 3))
    np.testing.assert_allclose(given.inverse().apply(given.apply(y)), y, rtol=1e-9)
    assert type(given.inverse()) is type(given)


def test_volume_is_that_of_the_matrix(given):
    sign, logarithm = np.linalg.slogdet(given.matrix)
    assert sign != 0
    assert given.log_volume == pytest.approx(logarithm)
    assert given.scale == pytest.approx(math.exp(logarithm / 3))


def test_parameters_are_counted(given):
    assert given.parameters == {Affine: 4, ColumnMap: 6, Similarity: 7, LinearMap: 12}[type(given)]


def test_maps_are_equal_if_their_numbers_are(given):
    assert given == type(given)(*given)
    assert given != type(given)(given[0] * 2.0, *given[1:])


def test_affine_is_a_map_of_columns_with_equal_scales():
    affine, y = MAPS["affine"], np.ones((2, 3))
    np.testing.assert_array_equal(as_column_map(affine).apply(y), affine.apply(y))


def test_one_map_after_another_is_both():
    one, y = MAPS["columns"], np.random.default_rng(1).normal(size=(4, 3))
    other = ColumnMap(np.array([1.0, 2.0, -3.0]), np.array([5.0, 0.0, 1.0]))
    np.testing.assert_allclose(other.after(one).apply(y), other.apply(one.apply(y)), rtol=1e-12)


def test_frame_keeps_its_columns_when_mapped():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1.0, 2.0], "b": [0.0, 1.0]}, index=["p", "q"])
    mapped = ColumnMap(np.array([2.0, 10.0]), np.array([0.0, 1.0])).apply(frame)
    assert mapped.index.tolist() == ["p", "q"]
    assert mapped["b"].tolist() == [1.0, 11.0]


def test_equal_scales_cost_what_one_scale_does():
    rng = np.random.default_rng(2)
    x, y, affine = rng.normal(size=(6, 3)), rng.normal(size=(7, 3)), MAPS["affine"]
    expected = log_cost_matrix(x, y, affine)
    np.testing.assert_allclose(log_cost_matrix(x, y, as_column_map(affine)), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (ColumnMap(np.ones(2), np.zeros(3)), r"alignment.scales must have shape \(3,\)"),
        (ColumnMap(np.array([1.0, 0.0, 1.0]), np.zeros(3)), "alignment.scales must not be 0"),
        (ColumnMap(np.array([1.0, np.nan, 1.0]), np.zeros(3)), "alignment.scales must be finite"),
        (ColumnMap(np.ones(3), np.zeros(2)), r"alignment.shift must have shape \(3,\)"),
        (Similarity(0.0, np.eye(3), np.zeros(3)), "alignment.scale must be positive"),
        (Similarity(1.0, np.eye(2), np.zeros(3)), r"alignment.rotation must have shape \(3, 3\)"),
        (Similarity(1.0, 1.1 * np.eye(3), np.zeros(3)), "alignment.rotation must be orthogonal"),
        (
            LinearMap(np.ones((3, 2)), np.zeros(3)),
            r"alignment.matrix must have shape \(3, 3\); got .* \(3, 2\)",
        ),
        (LinearMap(np.full((3, 3), np.inf), np.zeros(3)), "alignment.matrix must be finite"),
    ],
)
def test_map_that_breaks_a_rule_is_refused(given, message):
    x = np.random.default_rng(0).normal(size=(4, 3))
    with pytest.raises(ValueError, match=message):
        match(x, x, alignment=given)


def test_result_with_columns_has_no_single_scale_to_pass_on():
    x = np.random.default_rng(0).normal(size=(5, 3))
    given = MAPS["columns"]
    result = match(given.apply(x), x, alignment=given)
    assert result.map == given
    assert result.scale == given.scale
    np.testing.assert_array_equal(result.transform(x), given.apply(x))
    with pytest.raises(ValueError, match="one for each column: result.map"):
        _ = result.affine


@pytest.mark.parametrize("name", ["similarity", "linear"])
def test_result_of_a_matrix_has_no_single_scale_to_pass_on(name):
    x = np.random.default_rng(0).normal(size=(5, 3))
    given = MAPS[name]
    result = match(given.apply(x), x, alignment=given)
    assert result.map == given
    assert result.permutation.tolist() == list(range(5))
    np.testing.assert_array_equal(result.transform(x), given.apply(x))
    with pytest.raises(ValueError, match="has a matrix: result.map"):
        _ = result.affine


def test_scale_of_a_map_between_spaces_is_that_of_its_singular_values():
    wide = LinearMap(np.array([[3.0, 0.0, 0.0], [0.0, 0.0, 12.0]]), np.zeros(2))
    assert wide.scale == pytest.approx(6.0)
    assert LinearMap(np.zeros((2, 3)), np.zeros(2)).scale == 0.0
    back = wide.inverse()
    assert back.matrix.shape == (3, 2)
    np.testing.assert_allclose(wide.apply(back.apply(np.ones((1, 2)))), np.ones((1, 2)))


def test_a_mirror_is_told_from_a_turn():
    assert MAPS["similarity"].is_mirrored == (np.linalg.det(MIRROR) < 0)
    assert not Similarity(1.0, np.eye(2), np.zeros(2)).is_mirrored


def test_frame_keeps_its_index_when_turned():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1.0, 2.0], "b": [0.0, 1.0]}, index=["p", "q"])
    turned = Similarity(2.0, np.array([[0.0, -1.0], [1.0, 0.0]]), np.zeros(2)).apply(frame)
    assert turned.index.tolist() == ["p", "q"]
    assert turned["b"].tolist() == [2.0, 4.0]
    assert LinearMap(np.ones((1, 2)), np.zeros(1)).apply(frame)[0].tolist() == [1.0, 3.0]


@pytest.mark.parametrize(
    ("rotation", "words"),
    [
        (np.eye(1), "as it is, scale 1"),
        (-np.eye(1), "mirrored, scale 1"),
        (np.array([[0.0, 1.0], [1.0, 0.0]]), "mirrored and turned by 90 degrees"),
        (np.diag([1.0, -1.0, -1.0]), "turned by 180 degrees"),
        (np.diag([1.0, 1.0, -1.0]), "turned and mirrored"),
        (np.diag([1.0, 1.0, -1.0, -1.0]), "turned by 180 degrees at most"),
    ],
)
def test_result_says_how_it_is_turned(rotation, words):
    d = len(rotation)
    x = np.random.default_rng(0).normal(size=(5, d))
    result = match(x, x, alignment=Similarity(1.0, rotation, np.zeros(d)))
    assert words in repr(result)
    assert words.split(",")[0] in str(result.summary())
