"""Columns and rows that have names: paired by them, kept as labels, and refused where they contradict."""

import re
import warnings
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import lslmatch
from lslmatch import ColumnNamesWarning, _arrays, _frames, match
from lslmatch._frames import counts_rows

NAMES = ["height", "weight", "age"]


@pytest.fixture
def frames():
    """Two frames of the same ten people, rows and columns in another order, and the truth."""
    rng = np.random.default_rng(3)
    people = rng.normal(size=(10, 3)) * [1.0, 7.0, 30.0]
    order = rng.permutation(10)
    x = pd.DataFrame(people, columns=NAMES, index=[f"a{k}" for k in range(10)])
    y = pd.DataFrame(people[order] / 2 + 0.001 * rng.normal(size=(10, 3)), columns=NAMES)
    y.index = [f"b{k}" for k in order]
    return x, y[["age", "height", "weight"]], np.argsort(order)


#: Every public function that takes two sets of points, as something that can be compared.
CALLS = {
    "match": lambda x, y: match(x, y)[:5],
    "match_path": lambda x, y: lslmatch.match_path(x, y).matching(7)[:5],
    "diagnose": lambda x, y: lslmatch.diagnose(x, y, match(x, y))[1:4],
    # Of a wrong scale, as all violations of a right one are rounding errors.
    "check_certificate": lambda x, y: [lslmatch.check_certificate(x, y, match(x, y)._replace(scale=9.0))],
    "estimate_affine": lslmatch.estimate_affine,
    "relation_p_value": lambda x, y: [lslmatch.relation_p_value(x, y, draws=1, rng=0)],
    "log_cost_matrix": lslmatch.log_cost_matrix,
}


@pytest.mark.parametrize("name", CALLS)
def test_columns_are_paired_by_name_in_any_order(name, frames):
    x, y, _ = frames
    found, wanted = CALLS[name](x, y), CALLS[name](x.to_numpy(), y[NAMES].to_numpy())
    by_position = CALLS[name](x.to_numpy(), y.to_numpy())
    for part, expected in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(part, expected)
    if name != "relation_p_value":  # which has little to tell apart
        assert not all(map(np.array_equal, found, by_position))


@pytest.mark.parametrize("name", CALLS)
def test_names_that_do_not_agree_are_an_error_that_lists_the_difference(name, frames):
    x, y, _ = frames
    with pytest.raises(ValueError, match=r"same column names; only x has 'weight', only y has 'mass'"):
        CALLS[name](x, y.rename(columns={"weight": "mass"}))


@pytest.mark.parametrize("name", CALLS)
def test_names_on_one_side_only_are_a_warning_at_the_callers_line(name, frames):
    x, y, _ = frames
    for pair, said in (
        ((x, y.to_numpy()), "x has column names and y has none"),
        ((x.to_numpy(), y), "y has"),
    ):
        with pytest.warns(ColumnNamesWarning, match=said) as caught:
            CALLS[name](*pair)
        assert {warning.filename for warning in caught} == {__file__}


def test_the_pairs_are_right_by_name_and_wrong_by_position(frames):
    x, y, truth = frames
    np.testing.assert_array_equal(match(x, y).permutation, truth)
    assert np.mean(match(x.to_numpy(), y.to_numpy()).permutation == truth) <= 0.5


def test_the_index_labels_the_rows(frames):
    x, y, truth = frames
    result = match(x, y)
    assert result.labels.x.tolist() == x.index.tolist()
    partners = result.labels.y[result.permutation]
    assert [label[1:] for label in result.labels.x] == [label[1:] for label in partners]
    assert match(x.to_numpy(), y[NAMES].to_numpy()).labels is None
    assert lslmatch.match_path(x, y).matching(10).labels.x.tolist() == x.index.tolist()
    only_y = match(x.reset_index(drop=True), y).labels
    assert only_y.x is None
    assert only_y.y.tolist() == y.index.tolist()


def test_names_without_strings_do_not_count(frames):
    x, y, _ = frames
    x.columns, y.columns = [1, 2, 3], [4, 5, 6]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(match(x, y).permutation, match(x.to_numpy(), y.to_numpy()).permutation)
    y.columns = [3, 1, 2]
    with pytest.warns(ColumnNamesWarning, match="same columns in another order"):
        match(x, y)


@pytest.mark.parametrize(
    ("change", "error", "said"),
    [
        (lambda x: x.rename(columns={"age": 2}), TypeError, r"names that are all strings.*rename 2"),
        (lambda x: x.rename(columns={"age": "height"}), ValueError, r"'height' occurs more than once"),
        (lambda x: x.assign(name=list("abcdefghij")), TypeError, r"'name' \(text, different in every row\)"),
        (lambda x: x.assign(sex=list("mfmfmfmfmf")), TypeError, r"'sex' \(text\)\. Leave them out"),
        (lambda x: x.assign(day=pd.Timestamp("2020-01-01")), TypeError, r"'day' \(dates or times\)"),
        (lambda x: x.assign(z=1j), TypeError, r"'z' \(complex numbers\)"),
        (lambda x: x.assign(s=pd.Categorical(list("mfmfmfmfmf"))), TypeError, r"'s' \(text\)"),
        (
            lambda x: x.reset_index(drop=True).reset_index(),
            ValueError,
            r"first column 'index' that numbers the rows",
        ),
        (
            lambda x: pd.concat([pd.Series(range(10), x.index, name="Unnamed: 0"), x], axis=1),
            ValueError,
            r"index_col=0",
        ),
        (
            lambda x: x.mask(x > 2.0),
            ValueError,
            r"x must be finite.* and columns 'height', 'weight', 'age'",
        ),
        (
            lambda x: x.astype("Float64").mask(x < -20.0),
            ValueError,
            r"values are missing \(NaN\).* column 'age'",
        ),
    ],
)
def test_what_is_no_set_of_points_is_named(change, error, said, frames):
    x, y, _ = frames
    with pytest.raises(error, match=said):
        match(change(x), y)


def test_missing_values_are_counted_by_column():
    x = np.ones((4, 5))
    x[0, 1] = x[2, 1] = x[2, 3] = np.nan
    said = "x[0, 1] is nan. In all 3 of 20 values are missing (NaN), in 2 of 4 rows and columns 1, 3: leave"
    with pytest.raises(ValueError, match=re.escape(said)):
        match(x, x)
    x[2, 1] = np.inf
    with pytest.raises(ValueError, match="3 of 20 values are missing or infinite"):
        match(x, x)


def test_names_that_differ_in_case_only_are_hinted_at(frames):
    x, y, _ = frames
    with pytest.raises(
        ValueError, match=r"only x has 'age', only y has ' Age' \(some differ in case or blanks"
    ):
        match(x, y.rename(columns={"age": " Age"}))


def arrow_like(frame):
    return SimpleNamespace(
        column_names=list(frame.columns),
        columns=[frame[name].to_numpy() for name in frame],
        shape=frame.shape,
    )


def polars_like(frame):
    return SimpleNamespace(
        columns=list(frame.columns),
        get_columns=lambda: [frame[name].to_numpy() for name in frame],
        shape=frame.shape,
    )


def annotated(frame):
    return SimpleNamespace(
        X=scipy.sparse.csr_array(frame.to_numpy()), obs_names=frame.index, var_names=frame.columns
    )


KINDS = {
    "Arrow": arrow_like,
    "polars": polars_like,
    "AnnData": annotated,
    "structured array": lambda frame: frame.to_records(index=False),
    "nullable": lambda frame: frame.astype("Float64"),
    "mixed numbers": lambda frame: frame.assign(age=frame["age"].astype("float32").astype(object)),
}


@pytest.mark.parametrize("kind", KINDS)
def test_other_frames_are_known_by_what_they_offer(kind, frames):
    x, y, truth = frames
    np.testing.assert_array_equal(match(KINDS[kind](x), KINDS[kind](y)).permutation, truth)


def test_real_frames_of_other_packages(frames):
    x, y, truth = frames
    arrow = pytest.importorskip("pyarrow")
    tables = [arrow.Table.from_pandas(frame, preserve_index=False) for frame in (x, y)]
    np.testing.assert_array_equal(match(*tables).permutation, truth)


def test_annotated_data_have_labels(frames):
    x, y, _ = frames
    labels = match(annotated(x), annotated(y)).labels
    assert labels.x.tolist() == x.index.tolist()
    assert labels.y.tolist() == y.index.tolist()


def test_sparse_points_are_made_dense_if_that_is_small(frames, monkeypatch):
    x, y, _ = frames
    sparse = scipy.sparse.csr_matrix(x.to_numpy())
    np.testing.assert_array_equal(match(sparse, y[NAMES].to_numpy()).permutation, match(x, y).permutation)
    monkeypatch.setattr(_arrays, "MOST_DENSE_BYTES", 1 << 20)
    large = scipy.sparse.csr_matrix((1000, 500))
    said = "x must fit into 1 MB if it is sparse, because it is made dense; its 1000 x 500 numbers need 3 MB"
    with pytest.raises(ValueError, match=re.escape(said)):
        match(large, y)


# Vectors and matrices that come with names.


def test_noise_levels_are_brought_into_the_order_of_the_rows(frames):
    x, y, _ = frames
    levels = pd.Series(np.linspace(1, 2, 10), index=x.index), pd.Series(np.linspace(3, 4, 10), index=y.index)
    expected = match(x, y, objective="lsns", noise=levels)
    shuffled = levels[0].sample(frac=1.0, random_state=1), levels[1].iloc[::-1]
    found = match(x, y, objective="lsns", noise=shuffled)
    assert found.objective == expected.objective
    for kept, level in zip(found.noise, levels, strict=True):
        np.testing.assert_array_equal(kept, level)
    wrong = levels[0].rename({"a0": "z"})
    with pytest.raises(ValueError, match=r"noise\[0\] must have the index of its set"):
        match(x, y, objective="lsns", noise=(wrong, levels[1]))


def test_a_covariance_is_brought_into_the_order_of_the_columns(frames):
    x, y, _ = frames
    matrix = pd.DataFrame([[4.0, 1.0, 0.5], [1.0, 2.0, 0.1], [0.5, 0.1, 9.0]], index=NAMES, columns=NAMES)
    expected = match(x, y, covariance=matrix.to_numpy()).objective
    other = ["age", "weight", "height"]
    assert match(x, y, covariance=matrix.loc[other, other]).objective == expected
    variances = pd.Series([4.0, 2.0, 9.0], index=NAMES)
    expected = match(x, y, covariance=variances.to_numpy()).objective
    assert match(x, y, covariance=variances[other]).objective == expected
    assert match(x, y, covariance=variances[other].to_numpy()).objective != expected
    with pytest.raises(ValueError, match=r"only x has 'age', only covariance has 'years'"):
        match(x, y, covariance=matrix.rename(columns={"age": "years"}, index={"age": "years"}))


@pytest.mark.parametrize(
    ("column", "counts"),
    [([0, 1, 2], True), ([1.0, 2.0, 3.0], True), ([0, 2, 1], False), ([5, 6, 7], False), ([0], False)],
)
def test_numbers_of_rows_are_recognised(column, counts):
    assert counts_rows(column) == counts


# Arrays whose axes have names, as those of xarray, and what only looks like numbers.


class Labelled:
    """An array with coordinates, with the protocol of xarray."""

    def __init__(self, frame, dims=("person", "feature"), **coords):
        self._values = frame.to_numpy()
        self.dims = dims
        self.coords = {dims[1]: frame.columns, dims[0]: frame.index} | coords
        self.shape = frame.shape

    def __array__(self, dtype=None, copy=None):
        return np.array(self._values, dtype)


class Unwilling:
    """What does not want to be an array, as a tensor with a gradient does not."""

    shape = (10, 3)

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("Can't call numpy() on Tensor that requires grad.\nUse detach().")


@pytest.mark.parametrize("name", CALLS)
def test_arrays_with_coordinates_are_paired_by_them(name, frames):
    x, y, _ = frames
    found = CALLS[name](Labelled(x), Labelled(y))
    for part, expected in zip(found, CALLS[name](x, y), strict=True):
        np.testing.assert_array_equal(part, expected)


def test_coordinates_of_rows_are_labels_and_those_of_columns_may_be_missing(frames):
    x, y, _ = frames
    result = match(Labelled(x), Labelled(y))
    assert result.labels.x.tolist() == x.index.tolist()
    assert result.columns == tuple(NAMES)
    nameless = Labelled(x)
    nameless.coords = {}
    assert match(nameless, x.to_numpy()).labels is None
    noise = SimpleNamespace(dims=("p",), coords={"p": x.index}, shape=(10,))
    np.testing.assert_array_equal(_frames.row_names(noise), x.index)


def test_arrays_that_are_turned_to_each_other_are_refused(frames):
    x, y, _ = frames
    with pytest.raises(
        ValueError, match="dimensions in the same order, points first; got 'person', 'feature' and 'feature'"
    ):
        match(Labelled(x), Labelled(y, ("feature", "person")))


def test_a_dimension_of_any_name_is_no_column():
    """A column of a frame may have the name of an attribute by which other packages are known."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(9, 8))
    names = ["X", "obs_names", "var_names", "toarray", "nnz", "dims", "coords", "column_names"]
    frame = pd.DataFrame(values, columns=names)
    other = frame.iloc[::-1, ::-1]
    np.testing.assert_array_equal(match(frame, other).permutation, np.arange(9)[::-1])
    fields = frame.rename(columns={"X": "index"}).to_records(index=False)
    assert match(fields, fields).labels is None


@pytest.mark.parametrize("use", [lambda x, y, r: match(x, y), lambda x, y, r: r.transform(y),
                                 lambda x, y, r: r.aligned(y)])  # fmt: skip
def test_what_refuses_to_be_an_array_is_told_in_one_line(use, frames):
    x, _, _ = frames
    result = match(x.to_numpy(), x.to_numpy())
    with pytest.raises(ValueError, match=r"must be convertible to an array: Can't call numpy") as caught:
        use(x.to_numpy(), Unwilling(), result)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", [*KINDS, "coordinates", "AnnData, dense"])
def test_what_can_be_matched_can_be_mapped_and_put_in_order(kind, frames):
    x, y, _ = frames
    make = {
        **KINDS,
        "coordinates": Labelled,
        "AnnData, dense": lambda f: SimpleNamespace(X=f.to_numpy(), obs_names=f.index, var_names=f.columns),
    }[kind]
    result = match(make(x), make(y))
    mapped = result.transform(make(y))
    np.testing.assert_allclose(np.asarray(mapped, float), result.transform(y))
    if kind not in ("Arrow", "polars", "structured array"):  # whose stand-ins are no arrays
        rows = np.asarray(result.aligned(make(y)), float)
        np.testing.assert_allclose(rows, y.to_numpy()[result.permutation], rtol=1e-6)


@pytest.mark.parametrize("shape", [(10, 3), (10, 1, 2)])
def test_columns_of_arrays_are_refused(shape, frames):
    x, _, _ = frames
    fields = np.zeros(10, [("place", "f8", shape[1:]), ("weight", "f8")])
    with pytest.raises(TypeError, match=r"columns are not: 'place' \(more than one number a row\)"):
        match(fields, x)


# Sparse matrices whose indices point elsewhere: SciPy writes there.

CSR = np.arange(12.0).reshape(4, 3) + 1.0


def broken(kind, part, place, value):
    matrix = getattr(scipy.sparse, f"{kind}_matrix")(CSR)
    getattr(matrix, part).flat[place] = value
    return matrix


BROKEN = [
    *((kind, "indices", 0, value) for kind in ("csr", "csc", "bsr") for value in (2**28, -1, -(2**28), 4)),
    *((kind, "indptr", 1, value) for kind in ("csr", "csc", "bsr") for value in (2**28, -1)),
    *((kind, "indptr", -1, value) for kind in ("csr", "csc") for value in (0, 2**28)),
    *(("coo", part, 0, value) for part in ("row", "col") for value in (2**28, -1, 4)),
    *(("dia", "offsets", 0, value) for value in (2**28, 3, -4, -(2**31))),
]


@pytest.mark.parametrize(("kind", "part", "place", "value"), BROKEN)
def test_sparse_points_whose_indices_lie_elsewhere_are_refused(kind, part, place, value):
    with pytest.raises(ValueError, match="x must be a valid sparse matrix"):
        match(broken(kind, part, place, value), CSR)


def test_an_index_that_is_no_list_of_names_names_no_rows(frames):
    x, _, _ = frames
    odd = polars_like(x)
    odd.index = 5
    assert match(odd, odd).labels is None
