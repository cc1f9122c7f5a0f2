"""Options, help and version."""

import numpy as np
import pytest

import lslmatch
from lslmatch.cli import compile_command, demo_command, match_options, parser
from lslmatch.cli import main as command_line
from tests.support.command_line import assert_refused


@pytest.mark.parametrize(
    ("options", "because"),
    [
        (["--objective", "lsns"], "noise"),
        (["--objective", "best"], "objective must be one of"),
        (["--alignment", "best"], "alignment must be"),
        (["--workers", "0"], "workers must be at least 1"),
        (["--workers", "two"], "--workers"),
        (["--noise-x", "missing.npy"], "--noise-x and --noise-y must be given together"),
        (["--noise-y", "missing.npy"], "--noise-x and --noise-y must be given together"),
        (["--noise-x", "missing.npy", "--noise-y", "missing.npy"], "no such file or directory"),
        (["--margins", "exact", "--no-check"], "--margins contradicts --no-check"),
        (["--margins", "best"], "margins must be one of"),
        (["--fast"], "unrecognized arguments: --fast"),
    ],
)
def test_bad_option_is_refused(options, because, saved, tmp_path, capsys):
    assert_refused(capsys, tmp_path, "match", *saved, *options, because=because)


@pytest.mark.parametrize("noise", [np.ones(23), np.zeros(24), np.ones((24, 2))])
def test_bad_noise_is_refused(noise, saved, tmp_path, capsys):
    path = tmp_path / "noise.npy"
    np.save(path, noise)
    options = ["--objective", "lsns", "--noise-x", path, "--noise-y", path]
    assert_refused(capsys, tmp_path, "match", *saved, *options, because="noise")


@pytest.mark.parametrize("arguments", [[], ["match"], ["match", "x.npy"], ["mate"], ["demo", "--n", "many"]])
def test_wrong_usage_points_to_the_help(arguments, tmp_path, capsys):
    assert_refused(capsys, tmp_path, *arguments, because="--help)")


@pytest.mark.parametrize(
    "arguments", [["--help"], ["match", "--help"], ["demo", "--help"], ["compile", "--help"]]
)
def test_help_fits_a_terminal(arguments, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit) as stop:
        command_line.main(arguments)
    assert stop.value.code == 0
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 88


def test_examples_of_the_help_are_understood(capsys):
    examples = [
        line.split("   ")[0].split()[1:]
        for text in (parser.EXAMPLES, match_options.EXAMPLES, demo_command.EXAMPLES, compile_command.EXAMPLES)
        for line in map(str.strip, text.splitlines())
        if line.startswith("lslmatch ") and "--help" not in line
    ]
    assert len(examples) >= 5
    for example in examples:
        assert callable(parser.make_parser().parse_args(example).run)


def test_version(capsys):
    with pytest.raises(SystemExit) as stop:
        command_line.main(["--version"])
    assert stop.value.code == 0
    assert capsys.readouterr().out == f"lslmatch {lslmatch.__version__}\n"
