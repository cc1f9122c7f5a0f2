"""A disk without room: one line says so, and what was there stays. /dev/full is such a disk."""

import os

import pytest

from tests.verification.support import LIGHT, exit_code, fill_disk, verdicts

pytestmark = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")


def test_the_previous_report_is_kept(tmp_path, capsys):
    assert exit_code(tmp_path, "--only", LIGHT[0]) == 0
    before = {
        path: path.read_bytes() for path in tmp_path.rglob("*") if path.suffix in (".html", ".json", ".svg")
    }
    assert len(before) == 3
    capsys.readouterr()
    fill_disk(tmp_path / "report.html")
    assert exit_code(tmp_path, "--only", LIGHT[1]) == 2
    assert capsys.readouterr().err == f"{tmp_path / 'report.html'}: no space left on device\n"
    assert all(path.read_bytes() == content for path, content in before.items())
    assert not list(tmp_path.rglob("*.tmp"))
    assert exit_code(tmp_path, "--only", LIGHT[1], "--resume") == 0
    assert list(verdicts(tmp_path)) == [LIGHT[1]]
