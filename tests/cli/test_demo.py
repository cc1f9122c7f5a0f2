"""The command ``demo``."""

import pytest

from lslmatch.cli import main as command_line
from tests.support.command_line import assert_refused, table

# Options.


@pytest.mark.parametrize("option", ["--n", "--d", "--seed"])
def test_demo_refuses_a_negative_number(option, tmp_path, capsys):
    assert_refused(capsys, tmp_path, "demo", option, "-1", because="-1" if option != "--seed" else "negative")


# The demonstration.


def test_demo_shows_what_alignment_is_for(capsys):
    assert command_line.main(["demo", "--n", "80", "--seed", "3"]) == 0
    rows = {name: value.strip() for name, value in table(capsys.readouterr().out).items()}
    assert (rows["n"], rows["d"]) == ("80", "3")
    estimated, true = (float(part.split()[0]) for part in rows["scale"].split(", "))
    assert true == 3
    assert estimated == pytest.approx(3, rel=0.05)
    plain, affine = (float(rows[name].split("%")[0]) for name in ("plain LSL", "affine LSL"))
    assert plain < 50 < 95 < affine <= 100


def test_demo_is_reproducible(capsys):
    printed = []
    for seed in ("5", "5", "6"):
        assert command_line.main(["demo", "--n", "20", "--d", "4", "--seed", seed]) == 0
        printed.append(capsys.readouterr().out.partition("seconds")[0])
    assert printed[0] == printed[1] != printed[2]
