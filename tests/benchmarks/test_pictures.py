import pytest

from tests.benchmarks.growth import Point
from tests.benchmarks.pictures import draw_growth

pytest.importorskip("matplotlib")


def test_growth_says_where_each_series_ended(tmp_path):
    runs = {"lslmatch": ([0.01, 0.04, 0.2], None), "scipy": ([0.1, 0.6], "memory"), "lapx": ([0.1], "time")}
    points = [
        Point(kind, name, 1000 * 2**k, seconds[k] if k < len(seconds) else None, None, None)
        for kind in ("above", "nosignal")
        for name, (seconds, failure) in runs.items()
        for k in range(len(seconds))
    ]
    points += [
        Point(kind, name, 1000 * 2 ** len(seconds), None, None, failure)
        for kind in ("above", "nosignal")
        for name, (seconds, failure) in runs.items()
        if failure
    ]
    draw_growth(points, tmp_path)
    assert (tmp_path / "growth.png").stat().st_size > 0
    assert "<svg" in (tmp_path / "growth.svg").read_text(encoding="utf-8")
