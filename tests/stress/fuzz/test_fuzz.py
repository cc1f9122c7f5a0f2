"""The fuzzers work: they survive random bytes, and they report defects that were planted."""

import random
import warnings
from types import SimpleNamespace

import numpy as np
import pytest

import lslmatch
from tests.stress.fuzz.choices import Choices
from tests.stress.fuzz.command_line import main
from tests.stress.fuzz.session import try_inputs
from tests.stress.fuzz.targets import TARGETS


@pytest.mark.parametrize("name", TARGETS)
def test_target_survives_random_bytes(name):
    source = random.Random(name)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", lslmatch.AlignmentWarning)  # an answer, not a fault
        for _ in range(100):
            TARGETS[name](source.randbytes(source.randrange(300)))


def test_findings_stay_fixed():
    """Two pairs that coincide but for rounding, beside a point at 1e29: diagnose took them for another's."""
    found = "002a0000000000300100000f0301000001019b0046000000000000030000000100000e01"
    assert main(["--target", "matching", "--replay", found]) == 0


def _fuzz(name, seconds=20.0):
    """Fuzz in this process, in which defects can be planted; return the inputs that were tried."""
    tried = []
    try_inputs(name, "hypothesis", seconds, SimpleNamespace(note=tried.append))
    return tried


def _raise(*args, **kwargs):
    raise KeyError("planted")


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("matching", "match"),
        ("matching", "diagnose"),
        ("alignments", "standardize"),
        ("assignments", "solve_assignment"),
    ],
)
def test_undocumented_exception_is_a_finding(name, function, monkeypatch):
    monkeypatch.setattr(lslmatch, function, _raise)
    with pytest.raises(KeyError, match="planted"):
        _fuzz(name)


def test_wrong_matching_is_a_finding(monkeypatch):
    match = lslmatch.match

    def swap(x, y, **options):
        result = match(x, y, **options)
        return result._replace(permutation=np.roll(result.permutation, 1))

    monkeypatch.setattr(lslmatch, "match", swap)
    with pytest.raises(AssertionError):
        _fuzz("matching")


def test_wrong_assignment_is_a_finding(monkeypatch):
    solve = lslmatch.solve_assignment

    def swap(cost, **options):
        result = solve(cost, **options)
        return result._replace(col_ind=np.roll(result.col_ind, 1))

    monkeypatch.setattr(lslmatch, "solve_assignment", swap)
    with pytest.raises(AssertionError):
        _fuzz("assignments")


def test_warning_is_a_finding(monkeypatch):
    monkeypatch.setattr(lslmatch, "standardize", lambda x: np.log(np.zeros(1)))
    with pytest.raises(RuntimeWarning):
        _fuzz("alignments")


def test_loaded_pickle_is_a_finding(monkeypatch):
    monkeypatch.setattr(
        "lslmatch.io.points.read_npy", lambda source: np.load(source.stream, allow_pickle=True)
    )
    with pytest.raises(AssertionError, match="pickle was loaded"):
        _fuzz("command")


def test_time_ends_a_run():
    assert len(_fuzz("formulas", seconds=0.2)) > 1


def test_command_tries_every_target_and_counts(capfd):
    assert main(["--seconds", "0.1", "--target", "formulas"]) == 0
    assert "inputs, no findings" in capfd.readouterr().out


def test_crash_leaves_its_input_behind(capfd, monkeypatch):
    monkeypatch.setattr("tests.stress.fuzz.session.try_inputs", _crash)
    assert main(["--target", "formulas"]) == 1
    assert "FINDING (exit code -6); again: --target formulas --replay 0102" in capfd.readouterr().out


def _crash(name, engine, seconds, journal):
    import os

    journal.note(bytes([1, 2]))
    os.abort()


def test_choices_end_with_the_first_of_everything():
    choices = Choices(b"\x07")
    assert [choices.below(5), choices.below(5), choices.of("abc")] == [2, 0, "a"]
    assert not choices.seldom()
    assert choices.rest() == b""
