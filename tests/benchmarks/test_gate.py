"""The gate: a loss is caught, noise is not, and a kernel that is slowed on purpose makes the command fail."""

import json

import pytest

from tests.benchmarks import ratios, record, startup
from tests.benchmarks.growth import Point, exponent
from tests.benchmarks.instances import Case
from tests.benchmarks.plan import FACTOR, LONG, contenders, long_times, make_plan

CASE, OTHER = Case("near", 1000, 3), Case("uniform", 300)


def times(ours, **peers):
    return {"lslmatch": ours, **peers}


def test_ratio_is_to_the_fastest_peer():
    assert ratios.ratio(times(0.5, scipy=3.0, lapx=2.0)) == 4.0


def test_a_loss_of_more_than_a_quarter_is_caught():
    baseline = {CASE: times(1.0, scipy=8.0)}
    assert ratios.losses({CASE: times(1.0, scipy=6.1)}, baseline) == []
    assert ratios.losses({CASE: times(1.0, scipy=5.9)}, baseline) == [CASE]
    assert ratios.losses({CASE: times(1.4, scipy=8.0)}, baseline) == [CASE]


def test_a_machine_that_is_slower_throughout_loses_nothing():
    assert ratios.losses({CASE: times(10.0, scipy=80.0)}, {CASE: times(1.0, scipy=8.0)}) == []


def test_a_case_that_is_new_loses_nothing():
    assert ratios.losses({OTHER: times(1.0, scipy=1.0)}, {CASE: times(1.0, scipy=8.0)}) == []


def test_longer_compilation_is_caught():
    known = {"demo": 6.0}
    assert ratios.longer({"demo": 7.9, "new": 100.0}, known) == []
    assert ratios.longer({"demo": 8.1}, known) == ["demo"]


def test_compilation_is_measured_in_yardsticks(monkeypatch):
    monkeypatch.setattr(startup, "fresh", lambda function, run, **environment: (3.0, 0.5))
    assert startup.compilation() == {
        "first match of 100 points": 6.0,
        "first match of 1,000 points": 6.0,
        "demo": 6.0,
    }


def test_timing_again_keeps_the_least_times():
    again = ratios.merge(
        {CASE: times(2.0, scipy=8.0), OTHER: times(1.0, scipy=1.0)}, {CASE: times(1.0, scipy=9.0)}
    )
    assert again == {CASE: times(1.0, scipy=8.0), OTHER: times(1.0, scipy=1.0)}


def test_summary_has_the_geometric_mean_and_the_worst_of_each_group():
    seconds = {
        CASE: times(1.0, scipy=2.0),
        CASE._replace(n=2000): times(1.0, scipy=8.0),
        OTHER: times(1.0, scipy=3.0) | {"product": 0.5},
    }
    summed = ratios.summary(seconds)
    assert summed["match"] == {"mean": pytest.approx(4.0), "worst": 2.0, "cases": 2}
    assert summed["dense"]["mean"] == pytest.approx(3.0)
    assert summed["product"]["worst"] == 2.0


def test_reports_of_the_benchmark_plugin_give_least_times():
    entries = [
        {"extra_info": {"case": list(CASE), "contestant": name}, "stats": {"min": seconds}}
        for name, seconds in (("lslmatch", 2.0), ("scipy", 5.0), ("lslmatch", 1.0))
    ]
    report = json.loads(json.dumps({"benchmarks": entries}))
    assert ratios.least_seconds(report) == {CASE: times(1.0, scipy=5.0)}


def test_unsteady_timings_are_named():
    entries = [
        {"name": name, "stats": {"min": 1.0, "median": median}} for name, median in (("a", 1.1), ("b", 4.0))
    ]
    assert ratios.unsteady({"benchmarks": entries}) == {"b": 4.0}


def test_a_machine_is_busy_when_others_use_half_of_it():
    assert not record.busy(0.0)
    assert record.busy(1000.0)


def test_only_peers_that_were_far_from_the_best_or_stopped_are_left_out():
    surveyed = times(0.1, scipy=1.0, lapx=0.9 * FACTOR, lapjv=None)
    assert contenders(surveyed) == ["scipy", "lapx"]
    assert contenders(times(0.1, scipy=1.1 * FACTOR, lapx=1.0)) == ["lapx"]


def test_contestants_take_turns_and_long_cases_are_repeated_less():
    plan = make_plan({CASE: times(0.1, scipy=1.0), OTHER: times(0.1, scipy=40.0)})
    assert [(entry.repeat, entry.contestant) for entry in plan if entry.case == CASE] == [
        (repeat, name) for repeat in range(3) for name in ("lslmatch", "scipy")
    ]
    assert {entry.repeat for entry in plan if entry.case == OTHER} == {0}


def test_survey_suffices_for_long_cases():
    short, slow = times(0.1, scipy=0.9 * LONG), times(0.1, scipy=2.0 * LONG, lapx=1.1 * LONG, lapjv=None)
    stopped = times(None, scipy=2.0 * LONG)
    found = long_times({CASE: short, OTHER: slow, CASE._replace(n=7): stopped})
    assert found == {OTHER: times(0.1, scipy=2.0 * LONG, lapx=1.1 * LONG)}


def test_exponent_is_the_slope_in_logarithms():
    points = [Point("near", "scipy", n, 1e-6 * n**2.5, 1, None) for n in (100, 200, 400)]
    assert exponent([*points, Point("near", "scipy", 800, None, None, "time")]) == pytest.approx(2.5)
