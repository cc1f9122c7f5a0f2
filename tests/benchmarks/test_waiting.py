"""What is waited for is measured as it should be; how long anything takes is not looked at."""

import pytest

from tests.benchmarks import waiting
from tests.benchmarks.instances import Case
from tests.benchmarks.peers import OURS, installed_peers


def test_calls_take_turns_and_the_least_time_counts(monkeypatch):
    clock = iter(range(10**6))
    monkeypatch.setattr(waiting.time, "perf_counter", lambda: next(clock))
    called = []
    times = waiting.least_times(one=lambda: called.append(1), two=lambda: called.append(2))
    assert called[:6] == [1, 2] * 3
    assert times == {"one": 1, "two": 1}


def test_quick_calls_are_repeated_in_their_turn(monkeypatch):
    # Calls take as long as they say; looking at the clock takes no time.
    now, called = [0.0], []
    monkeypatch.setattr(waiting.time, "perf_counter", lambda: now[0])

    def call(name, seconds):
        called.append(name)
        now[0] += seconds

    times = waiting.least_times(0.002, quick=lambda: call("quick", 0.0005), slow=lambda: call("slow", 0.6))
    assert called[:14] == ["quick"] * 2 + ["slow"] * 2 + ["quick"] * 4 + ["slow"] + ["quick"] * 4 + ["slow"]
    assert times == pytest.approx({"quick": 0.0005, "slow": 0.6})


def test_a_ratio_is_that_of_the_best_peer(monkeypatch):
    monkeypatch.setattr(waiting, "_SECONDS", 0.0)
    case = Case("near", 20, 2, 0, "lsns")
    found, times = waiting.ratio(case, product=waiting.single_product)
    assert set(times) == {OURS, "product", *installed_peers(case)}
    assert found == min(times[peer] for peer in installed_peers(case)) / times[OURS]


def test_rows_are_printed_for_the_groups_asked_for(monkeypatch, capsys, tmp_path):
    row = waiting.Row("breakfast", "an hour", "a minute", "now")
    monkeypatch.setattr(
        waiting, "GROUPS", {"meals": lambda: [row], "naps": lambda: pytest.fail("not asked for")}
    )
    waiting.main(["meals", "--keep", str(tmp_path / "table.md")])
    assert "| breakfast | an hour | a minute | now    |" in capsys.readouterr().out
    assert (tmp_path / "table.md").read_text(encoding="utf-8").count("\n") == 3
    with pytest.raises(SystemExit):
        waiting.main(["dinner"])
