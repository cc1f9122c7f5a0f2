"""The command `python -m verification figures`, end to end at a tiny size."""

import dataclasses
import json

import pytest

from tests.verification.support import figures_exit_code as exit_code
from verification import figures
from verification.cli import figures_command
from verification.cli.main import main
from verification.engine.tables import read_table
from verification.scenarios.recovery import UncertifiedError

ORIGIN = {"seed", "profile", "versions", "revision", "seconds", "workers", "figure", "source", "study"}
ORIGIN |= {"tables", "trials", "seconds_of_trials"}


@pytest.fixture(scope="module")
def smoke(tmp_path_factory):
    out = tmp_path_factory.mktemp("figures")
    return out, exit_code(out)


@pytest.fixture
def only_figure(monkeypatch):
    """Give a function that replaces all figures by one, the scale error with some fields changed."""

    def replace(**changes):
        figure = dataclasses.replace(figures.load()["scale-error"], **changes)
        monkeypatch.setattr(figures, "load", lambda: {figure.id: figure})
        return figure

    return replace


@pytest.mark.parametrize(
    "name",
    [
        "step-by-step",
        "scale-error",
        "heat-map",
        "slices",
        "comparison",
        "families",
        "margins",
        "learned-covariance",
        "covariance-kinds",
        "isotropic-regret",
    ],
)
def test_a_figure_comes_with_its_numbers_and_their_origin(name, smoke):
    out, code = smoke
    assert code == 0
    assert (out / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    assert (out / f"{name}.svg").read_text(encoding="utf-8").startswith("<svg")
    origin = json.loads((out / f"{name}.json").read_text(encoding="utf-8"))
    assert set(origin) == ORIGIN
    assert origin["profile"] == "smoke"
    assert origin["trials"] == sum(figures.load()[name].study.planned("smoke").values())
    rows = read_table(out / f"{name}.csv")
    estimates = [column.removesuffix("_low") for column in rows[0] if column.endswith("_low")]
    assert estimates
    for row in rows:
        assert row["trials"] >= 1
        for estimate in estimates:
            assert row[f"{estimate}_low"] <= row[estimate] <= row[f"{estimate}_high"]


def test_nothing_half_written_is_left(smoke):
    assert not list(smoke[0].rglob("*.tmp"))


def test_figures_that_share_trials_tell_the_same_numbers(smoke):
    heat, comparison = (read_table(smoke[0] / f"{name}.csv") for name in ("heat-map", "comparison"))
    shared = [row for row in comparison if row["method"] == "standardize"]
    assert [row["recovered"] for row in shared] == [row["recovered"] for row in heat]
    slices = read_table(smoke[0] / "slices.csv")
    assert all(any(row == cell for cell in heat) for row in slices)


def test_redrawing_needs_the_tables_alone(smoke, tmp_path):
    for path in [*smoke[0].glob("*.csv"), *smoke[0].glob("*.json")]:
        (tmp_path / path.name).write_bytes(path.read_bytes())
    assert exit_code(tmp_path, "--redraw") == 0
    pictures = sorted(path.name for path in smoke[0].glob("*.svg"))
    assert sorted(path.name for path in tmp_path.glob("*.svg")) == pictures
    for name in pictures:
        assert (tmp_path / name).read_bytes() == (smoke[0] / name).read_bytes()


def test_redrawing_shows_what_the_table_says(smoke, tmp_path):
    for path in smoke[0].glob("scale-error*"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    table = tmp_path / "scale-error-slopes.csv"
    slope = read_table(table)[0]["slope"]
    table.write_text(table.read_text().replace(f"{slope:g}", "7.125"))
    assert exit_code(tmp_path, "--redraw", "--only", "scale-error") == 0
    assert "measured slope 7.125" in (tmp_path / "scale-error.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize("arguments", [[], ["--only", "slices"]])
def test_redrawing_without_tables_is_an_error(arguments, tmp_path, capsys):
    assert exit_code(tmp_path, "--redraw", *arguments) == 2
    assert "run" in capsys.readouterr().err


@pytest.mark.parametrize("word", ["heat", "theorem-1", ""])
def test_only_says_what_it_does_not_know(word, tmp_path, capsys):
    assert exit_code(tmp_path, "--only", word) == 2
    message = capsys.readouterr().err
    assert repr(word) in message
    assert "heat-map" in message


def test_only_says_what_a_profile_lacks(only_figure, tmp_path, capsys):
    study = figures.get_study("scale-error")
    only_figure(study=dataclasses.replace(study, cells=tuple(c for c in study.cells if not c.trials[0])))
    assert exit_code(tmp_path, "--only", "scale-error") == 2
    assert "not part of the smoke profile" in capsys.readouterr().err


def test_list_names_all_figures(capsys):
    assert main(["figures", "--list"]) == 0
    listed = capsys.readouterr().out
    assert all(name in listed for name in figures.load())


def test_full_is_short_for_its_profile(capsys):
    parser = figures_command._parser()
    assert parser.parse_args(["--full"]).profile == "full"
    assert parser.parse_args([]).profile == "quick"
    with pytest.raises(SystemExit):
        parser.parse_args(["--full", "--profile", "smoke"])


def test_a_figure_that_cannot_be_run_here_is_left_out(only_figure, tmp_path, capsys):
    only_figure(missing=lambda: "needs the moon")
    assert exit_code(tmp_path) == 0
    assert "scale-error: left out, needs the moon" in capsys.readouterr().err
    assert exit_code(tmp_path, "--only", "scale-error") == 1
    assert not list(tmp_path.glob("*.png"))


def test_an_uncertified_matching_leaves_no_figure(only_figure, tmp_path, capsys):
    def fail(state, rng):
        raise UncertifiedError("no certificate")

    only_figure(study=dataclasses.replace(figures.get_study("scale-error"), trial=fail))
    assert exit_code(tmp_path) == 1
    assert "no certificate" in capsys.readouterr().err
    assert not list(tmp_path.glob("scale-error*"))
