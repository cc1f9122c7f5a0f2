import io
import json
import pickle
import zipfile

import numpy as np
import pytest

from lslmatch import Affine, FalseShare, check_certificate, load, match
from lslmatch.results import MatchResult


def sets(n=24, m=26, d=3):
    rng = np.random.default_rng([n, m, d])
    x = rng.normal(size=(n, d))
    y = np.vstack([x, rng.normal(size=(m - n, d))]) if m > n else x[:m]
    return x, (y + 0.01 * rng.normal(size=y.shape)) / 2.0


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"objective": "greedy"},
        {"objective": "lsns", "noise": (1.0, 2.0)},
        {"alignment": "columns"},
        {"alignment": "profile"},
        {"alignment": Affine(2.0, np.zeros(3)), "covariance": "estimate"},
        {"pairs": 7},
        {"pairs": FalseShare(0.3)},
    ],
    ids=str,
)
def test_a_result_comes_back_as_it_was(tmp_path, options):
    x, y = sets()
    if "noise" in options:
        options = options | {"noise": (np.ones(24), np.full(26, 2.0))}
    result = match(x, y, **options)
    result.save(tmp_path / "match.npz")
    back = load(tmp_path / "match.npz")
    assert back == result
    assert type(back.map) is type(result.map)
    assert back.pairs.tolist() == result.pairs.tolist()
    if result.row_dual is not None:
        assert check_certificate(x, y, back) == check_certificate(x, y, result)
    assert [path.name for path in tmp_path.iterdir()] == ["match.npz"]


def test_names_of_points_come_back_unless_they_cannot_be_stored(tmp_path):
    pandas = pytest.importorskip("pandas")
    x, y = (pandas.DataFrame(part, columns=list("abc")) for part in sets())
    x.index = [f"sample {k}" for k in range(len(x))]
    y.index = pandas.date_range("2024-01-01", periods=len(y))
    result = match(x, y)
    result.save(tmp_path / "match.npz")
    assert load(tmp_path / "match.npz") == result
    x.index = [object() for _ in range(len(x))]
    with pytest.raises(TypeError, match="x must hold numbers and strings to be stored; got object"):
        match(x, y).save(tmp_path / "other.npz")
    assert not (tmp_path / "other.npz").exists()


# ------------------------------------------------------------------------------------------ other files


def stored(tmp_path, change):
    """A stored result whose structure, as JSON, or whose arrays were changed."""
    match(*sets()).save(tmp_path / "match.npz")
    with np.load(tmp_path / "match.npz") as archive:
        arrays = {name: archive[name] for name in archive.files}
    tree = json.loads(arrays.pop("json").tobytes())
    tree = change(tree, arrays) or tree
    text = np.frombuffer(json.dumps(tree).encode(), np.uint8)
    np.savez(tmp_path / "changed.npz", json=text, **arrays)
    return tmp_path / "changed.npz"


def field(name, value):
    def change(tree, arrays):
        tree["value"]["fields"][name] = value

    return change


def nested(tree, arrays):
    value = {"items": []}
    for _ in range(50):
        value = {"items": [value]}
    tree["value"]["fields"]["decisions"] = value


def shorter(name):
    def change(tree, arrays):
        key = tree["value"]["fields"][name]["array"]
        arrays[key] = arrays[key][:-1]

    return change


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda tree, arrays: tree.update(version=2), "its version is 2, not 1"),
        (lambda tree, arrays: tree.update(format="other"), "another format"),
        (lambda tree, arrays: [1], "another format"),
        (lambda tree, arrays: tree["value"].update(tuple="Affine"), "MatchResult is of another kind"),
        (lambda tree, arrays: tree["value"]["fields"].pop("scale") and None, "MatchResult has no scale"),
        (field("later", 1), "a field 'later' that is not known"),
        (field("scale", "2"), "scale is of another kind"),
        (field("permutation", {"array": "nothing"}), "permutation is of another kind"),
        (field("permutation", {"list": [1, 2]}), "permutation"),
        (field("labels", {"list": [{}]}), "labels is of another kind"),
        (field("columns", {"items": ["a"]}), "columns must be 3; got 1"),
        (field("covariance", {"tuple": "Path", "fields": {}}), "covariance is of another kind"),
        (nested, "is of another kind"),
        (shorter("row_dual"), r"row_dual must have shape \(24,\)"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(tmp_path, change, words):
    with pytest.raises(ValueError, match=words) as raised:
        load(stored(tmp_path, change))
    assert "\n" not in str(raised.value)


def test_other_files_are_refused_in_one_line(tmp_path):
    path = tmp_path / "file.npz"
    whole = stored(tmp_path, lambda tree, arrays: None).read_bytes()
    pickled = io.BytesIO()
    np.savez(pickled, json=np.array([{}], object))
    listed = io.BytesIO()
    with zipfile.ZipFile(listed, "w") as archive:
        archive.writestr("json.npy", b"no array")
    for content in (
        *(b"", b"text", pickle.dumps([1]), whole[: len(whole) // 2], pickled.getvalue(), listed.getvalue()),
        whole.replace(b"json", b"yson"),
    ):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"must be a file of MatchResult\.save") as raised:
            load(path)
        assert "\n" not in str(raised.value)
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "nothing.npz")


def test_what_unpacks_to_too_much_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("lslmatch._stored._MOST_BYTES", 1000)
    match(*sets()).save(tmp_path / "match.npz")
    with pytest.raises(ValueError, match="unpacks to 0 MB, more than"):
        load(tmp_path / "match.npz")


def test_fields_that_are_missing_have_their_defaults(tmp_path):
    x, y = sets()
    path = stored(tmp_path, lambda tree, arrays: tree["value"]["fields"].pop("decisions") and None)
    assert load(path) == match(x, y)
    assert isinstance(load(path), MatchResult)
