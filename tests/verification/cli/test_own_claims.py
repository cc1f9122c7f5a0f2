"""Claims of one's own, in files outside of the checkout: run, refused, and found by worker processes."""

import pickle
import sys

import pytest

from tests.verification.cli.test_howto_pages import example
from tests.verification.support import exit_code, verdicts
from verification import claims
from verification.claims import own
from verification.cli.main import main
from verification.engine.trials import Batch, run_batch


@pytest.fixture
def file(tmp_path):
    """The example of the page, in a file of its own."""
    path = tmp_path / "mine" / "largest_noise.py"
    path.parent.mkdir()
    path.write_text(example("claim.md", "claims")[0], encoding="utf-8")
    yield path
    sys.path[:] = [folder for folder in sys.path if folder != str(path.parent)]
    for name in [name for name in sys.modules if name.startswith("claims_of_")]:
        del sys.modules[name]
    own._read.cache_clear()


def changed(path, old, new):
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    own._read.cache_clear()


def test_a_file_is_run_in_place_of_the_suite(file, tmp_path, capsys):
    assert exit_code(tmp_path / "out", str(file), "--report") == 0
    assert "largest-noise" in capsys.readouterr().out
    found = verdicts(tmp_path / "out")
    assert {name: claim["verdict"] for name, claim in found.items()} == {"largest-noise": "supported"}
    html = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "<h1>Claims of largest_noise.py, checked</h1>" in html
    assert "the paper" not in html.lower()
    assert claims.get("lemma-2")  # and the suite is as it was
    assert "largest-noise" not in claims.load()


def test_without_report_there_is_none(file, tmp_path, capsys):
    assert exit_code(tmp_path / "out", str(file)) == 0
    assert "report:" not in capsys.readouterr().out
    assert not (tmp_path / "out" / "report.html").exists()


def test_a_false_statement_is_refuted(file, tmp_path):
    changed(file, "2 * math.log(2 * n / delta)", "math.log(2 * n / delta)")
    assert exit_code(tmp_path / "out", str(file)) == 1


def test_a_module_beside_the_file_may_be_imported(file, tmp_path):
    (file.parent / "bounds_of_mine.py").write_text("def twice(value):\n    return 2 * value\n")
    changed(file, "import numpy as np", "import numpy as np\nfrom bounds_of_mine import twice")
    changed(file, "n, 2 * math.log(2 * n / delta)", "n, twice(math.log(2 * n / delta))")
    assert exit_code(tmp_path / "out", str(file)) == 0
    del sys.modules["bounds_of_mine"]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            'controls=(Control("a third of the bound", column="largest / a third of it"),),',
            "controls=(),",
            "control",
        ),
        ('id="largest-noise"', 'id="lemma-2"', "an id that no claim of the suite has"),
        ('Cell("n=100"', 'Cell("n=8"', "cells of different names"),
        ('kind="probability"', 'kind="guess"', "got 'guess'"),
        ('picture="survival"', 'picture="pie"', "got 'pie'"),
        ('column="largest / a third of it")', "own_cells=True)", "needs cells of its role"),
        ("CLAIMS = (", "OTHERS = (", "CLAIMS"),
        ("import math", "import maths", "maths"),
    ],
)
def test_a_file_that_holds_no_sound_claim_is_broken(old, new, said, file, tmp_path, capsys):
    changed(file, old, new)
    assert exit_code(tmp_path / "out", str(file)) == 4
    assert said in capsys.readouterr().out


def test_two_claims_of_one_id_are_not_both_run(file, tmp_path, capsys):
    twin = file.with_name("twin.py")
    twin.write_text(file.read_text(encoding="utf-8"), encoding="utf-8")
    assert exit_code(tmp_path / "out", str(file), str(twin)) == 4
    assert "'largest-noise' came twice" in capsys.readouterr().out


def test_a_cell_outside_of_the_conditions_is_broken(file, tmp_path, capsys):
    changed(file, '"delta": 0.02', '"delta": 1.5')
    assert exit_code(tmp_path / "out", str(file), "--profile", "quick", "--workers", "1") == 4
    assert "must meet 0 < δ < 1" in capsys.readouterr().out


def test_files_are_listed_and_missing_ones_named(file, capsys):
    assert main([str(file), "--list"]) == 0
    assert capsys.readouterr().out.startswith("largest-noise")
    assert main([str(file.with_name("nothing.py"))]) == 2
    assert "nothing.py: no such file" in capsys.readouterr().err
    assert main([str(file), "--only", "lemma-2"]) == 2
    assert "no claim is called 'lemma-2'" in capsys.readouterr().err


def test_other_processes_find_a_claim_by_its_file(file):
    find = pickle.loads(pickle.dumps(own.finder([str(file)])))
    assert run_batch(find, Batch("largest-noise", "n=8", 0, 3, 5))[1].trials == 3


def test_a_checkpoint_of_a_changed_file_is_not_resumed(file, tmp_path, capsys):
    assert exit_code(tmp_path / "out", str(file)) == 0
    assert exit_code(tmp_path / "out", str(file), "--resume") == 0
    assert "other code" not in capsys.readouterr().err
    changed(file, "2 * math.log(2 * n / delta)", "math.log(2 * n / delta)")
    assert exit_code(tmp_path / "out", str(file), "--resume") == 1
    assert "other code" in capsys.readouterr().err
