"""columns="common": what both sets have is matched, and all that is asked later knows which that was."""

import numpy as np
import pandas as pd
import pytest

from lslmatch import Matcher, check_certificate, diagnose, match

RNG = np.random.default_rng(0)
FEATURES = RNG.normal(size=(40, 3))
ORDER = RNG.permutation(40)
NAMES = [f"p{i}" for i in range(40)]
X = pd.DataFrame(FEATURES, columns=["a", "b", "c"], index=NAMES).assign(only=1.0, text="word")
Y = pd.DataFrame(
    (FEATURES + 0.01 * RNG.normal(size=(40, 3)))[ORDER][:, ::-1],
    columns=["c", "b", "a"],
    index=[NAMES[i] for i in ORDER],
).assign(other=RNG.normal(size=40))


def plain(frame):
    return frame[["a", "b", "c"]].to_numpy()


def as_structured(frame):
    return frame.drop(columns="text", errors="ignore").to_records(index=False)


def as_arrow(frame):
    return pytest.importorskip("pyarrow").table(frame.reset_index(drop=True))


def as_xarray(frame):
    numbers = frame.drop(columns="text", errors="ignore")
    return pytest.importorskip("xarray").DataArray(numbers)


@pytest.mark.parametrize("kind", [lambda frame: frame, as_structured, as_arrow, as_xarray])
def test_columns_that_both_have_are_matched(kind):
    x, y = kind(X), kind(Y)
    result = match(x, y, columns="common")
    expected = match(plain(X), plain(Y))
    np.testing.assert_array_equal(result.permutation, expected.permutation)
    assert result.columns == ("a", "b", "c")
    assert "3 that both have; only x has 'only'" in result.decisions[0]
    assert "only y has 'other'" in result.decisions[0]
    assert check_certificate(x, y, result) < 1e-9
    assert diagnose(x, y, result).expected_right > 0.99
    np.testing.assert_array_equal(np.asarray(result.transform(y)), expected.transform(plain(Y)))


def test_nothing_is_said_if_no_column_is_left_out():
    x, y = X[["a", "b", "c"]], Y[["a", "b", "c"]]
    assert match(x, y, columns="common") == match(x, y)


def test_the_estimator_takes_the_same_columns():
    matcher = Matcher(columns="common", covariance="isotropic").fit(X, Y)
    assert list(matcher.feature_names_in_) == ["a", "b", "c"]
    assert list(matcher.transform(Y).columns) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("x", "y", "said"),
    [
        (plain(X), Y, "columns must be 'same' for sets without names of columns: x has none"),
        (plain(X), plain(Y), "x and y has none"),
        (X[["only"]], Y[["other"]], "x and y must have a column in common; x has 'only', y has 'other'"),
    ],
)
def test_without_common_names_it_is_refused(x, y, said):
    with pytest.raises(ValueError, match=said):
        match(x, y, columns="common")


def test_other_columns_are_refused_unless_asked_for():
    with pytest.raises(ValueError, match="must have the same column names"):
        match(X.drop(columns="text"), Y)
    with pytest.raises(ValueError, match="columns must be one of 'same', 'common'"):
        match(X, Y, columns="all")


def test_names_of_rows_check_the_pairs():
    result = match(X, Y, columns="common")
    assert result.names_in_common == (40, 40)
    assert "Names: 40 in common, 40 agree" in str(result.summary())
    swapped = result.permutation.copy()
    swapped[[0, 1]] = swapped[[1, 0]]
    assert result._replace(permutation=swapped).names_in_common == (40, 38)
    twice = result.labels._replace(x=np.array(["p1", "p1", *NAMES[2:]]))
    assert result._replace(labels=twice).names_in_common == (38, 38), "a name that repeats says nothing"
    assert match(plain(X), plain(Y)).names_in_common == (0, 0)
    assert match(X[["a"]], Y[["a"]].reset_index(drop=True)).names_in_common == (0, 0)


def test_rows_that_repeat_are_counted():
    x, y = plain(X).copy(), plain(Y).copy()
    x[[3, 7]], x[5] = x[0], -0.0 * x[5]
    x[6], y[1] = 0.0, y[2]
    found = diagnose(x, y, match(x, y, alignment="identity"))
    assert found.repeated == (3, 1)
    words = " ".join(str(found.summary()).split())
    assert "3 rows of x repeat others: which of them is whose partner is arbitrary" in words
    assert "1 row of y repeats another" in words
    assert diagnose(plain(X), plain(Y), match(plain(X), plain(Y))).repeated == (0, 0)
