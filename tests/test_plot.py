"""Pictures of a match: what is drawn is counted, on axes that were given and on new ones."""

import subprocess
import sys

import numpy as np
import pytest

from lslmatch import diagnose, match, match_path, plot
from lslmatch.model import random_configuration

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def case():
    """Forty points and thirty-six, four of x without a partner, some pairs doubtful."""
    x, y = random_configuration(40, 3, separation=1.5, scale=2.0, rng=3).sample(rng=4)
    result = match(x, y[:36], alignment="profile")
    return x, y[:36], result, diagnose(x, y[:36], result)


def labels(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def segments(ax):
    return [len(lines.get_segments()) for lines in ax.collections if hasattr(lines, "get_segments")]


def test_every_picture_takes_and_returns_axes(case):
    x, y, result, diagnosis = case
    for draw in (
        lambda **ax: plot.points(x, y, **ax),
        lambda **ax: plot.points(x, y, result, **ax),
        lambda **ax: plot.pairs(x, y, result, diagnosis, **ax),
        lambda **ax: plot.confidences(diagnosis, **ax),
        lambda **ax: plot.margins(diagnosis, **ax),
        lambda **ax: plot.profile(result, **ax),
    ):
        ax = plt.figure().subplots()
        assert draw(ax=ax) is ax
        assert ax.get_xlabel()
        fresh = draw()
        assert fresh is not ax
        fresh.figure.canvas.draw()


def test_pairs_are_joined_and_doubtful_ones_marked(case):
    x, y, result, diagnosis = case
    doubtful = diagnosis.doubtful().size
    assert 0 < doubtful < 36
    ax = plot.pairs(x, y, result, diagnosis)
    assert segments(ax) == [36 - doubtful, doubtful]
    assert f"{doubtful} doubtful, confidence below 0.9" in labels(ax)
    assert "4 of x alone" in labels(ax)
    assert segments(plot.pairs(x, y, result)) == [36]
    other = match(y, x)
    assert "4 of y alone" in labels(plot.pairs(y, x, other))


def test_lines_join_partners():
    x = np.array([[0.0, 0.0], [4.0, 1.0], [1.0, 5.0]])
    result = match(x, x[[2, 0, 1]] / 2.0)
    (lines,) = plot.pairs(x, x[[2, 0, 1]] / 2.0, result).collections[:1]
    for ends, point in zip(lines.get_segments(), x, strict=True):
        np.testing.assert_allclose(ends, [point, point], atol=1e-9)


@pytest.mark.parametrize(("n", "d"), [(2, 1), (2, 5), (3, 2), (2500, 3)])
def test_any_size_and_dimension_is_drawn(n, d):
    points = np.random.default_rng(0).normal(size=(n, d))
    result = match(points[:50], points[:50])._replace(permutation=np.arange(n), col_dual=np.zeros(n))
    plot.points(points, points).figure.canvas.draw()
    plot.pairs(points, points, result).figure.canvas.draw()


def test_curves_hold_every_pair_in_order(case):
    _, _, _, diagnosis = case
    for ax in (plot.confidences(diagnosis, below=0.8), plot.margins(diagnosis, below=0.8)):
        sure, doubtful = ax.lines[:2]
        assert len(sure.get_xdata()) + len(doubtful.get_xdata()) == 36
        assert len(doubtful.get_xdata()) == np.sum(diagnosis.confidence < 0.8)
        heights = np.concatenate([sure.get_ydata(), doubtful.get_ydata()])
        places = np.concatenate([sure.get_xdata(), doubtful.get_xdata()])
        assert (np.diff(heights[np.argsort(places)]) >= 0).all()


def test_profile_has_its_window_and_its_scale(case):
    result = case[2]
    ax = plot.profile(result)
    ends = [line.get_xdata()[0] for line in ax.lines[1:4]]
    assert ends == [result.profile.scale[0], result.profile.scale[-1], result.scale]
    assert ax.lines[0].get_ydata().min() == 0.0


def test_path_shows_every_increment(case):
    x, y, *_ = case
    whole = match_path(x, y)
    ax = plot.path(whole)
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), whole.increments)
    assert len(ax.lines) == 1
    ax = plot.path(whole._replace(chosen=30))
    assert ax.lines[1].get_xdata()[0] == 30
    assert "30 pairs chosen" in labels(ax)
    # A matching of fewer pairs has points without a partner on both sides.
    assert {"16 of x alone", "12 of y alone"} <= set(labels(plot.pairs(x, y, whole.matching(24))))


def test_a_matching_of_no_pairs_is_drawn(case):
    x, y, result, _ = case
    ax = plot.pairs(x, y, result._replace(permutation=np.full(len(x), -1)))
    assert {"0 pairs", "40 of x alone", "36 of y alone"} <= set(labels(ax))
    ax.figure.canvas.draw()


def test_what_is_not_there_is_said(case):
    x, y, result, diagnosis = case
    greedy = match(x, y, objective="greedy")
    bare = diagnose(x, y, greedy)
    with pytest.raises(ValueError, match="no confidences"):
        plot.confidences(bare)
    with pytest.raises(ValueError, match="no margins"):
        plot.margins(bare)
    with pytest.raises(ValueError, match="no profile likelihood"):
        plot.profile(match(x, y))
    plot.pairs(x, y, greedy, bare)
    plot.margins(diagnosis._replace(confidence=None))
    with pytest.raises(ValueError, match=r"result.permutation must have shape"):
        plot.pairs(x[:-1], y, result)


def test_matplotlib_is_imported_by_the_first_picture_only():
    code = "import sys, lslmatch.plot; print('matplotlib' in sys.modules, 'pandas' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_without_matplotlib_the_message_names_the_extra(monkeypatch, case):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ModuleNotFoundError, match=r"lslmatch.plot needs matplotlib: .*lslmatch\[plot\]"):
        plot.points(*case[:2])


def test_one_wild_point_does_not_hide_the_pairs():
    x = np.random.default_rng(4).normal(size=(20, 2))
    y = x[::-1].copy()
    y[0] = 1e6
    result = match(x, y, alignment="identity", pairs=19)
    ax = plot.pairs(x, y, result)
    assert np.diff(ax.get_xlim()) < 50
    assert "1 points far outside" in ax.get_title()
    whole = plot.pairs(x, x[::-1], match(x, x[::-1]))
    assert whole.get_title() == "after matching"
