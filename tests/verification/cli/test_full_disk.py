"""A disk without room: one line says so, and what was there stays. /dev/full is such a disk."""

import os

import pytest

from tests.verification.laboratory import LIGHT, exit_code, verdicts
from verification.engine.checkpoint import Checkpoint
from verification.engine.files import write_together
from verification.engine.tally import Tally
from verification.engine.trials import Batch

pytestmark = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")


def fill_disk(path):
    """Let the file that becomes `path` when it is finished find no room."""
    path.with_name(f".{path.name}.{os.getpid()}.tmp").symlink_to("/dev/full")


def test_files_are_written_together_or_not_at_all(tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    write_together({first: "old", second: "old"})
    fill_disk(second)
    with pytest.raises(OSError, match="No space left on device") as caught:
        write_together({first: "new", second: "new"})
    assert caught.value.filename == str(second)
    assert first.read_text() == second.read_text() == "old"
    assert sorted(tmp_path.iterdir()) == [first, second]


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


def test_a_checkpoint_is_kept_when_it_cannot_be_opened_anew(tmp_path):
    path, batch = tmp_path / "checkpoint", Batch("claim", "cell", 0, 1, 1)
    with Checkpoint(path, {}, resume=False, read=Tally.from_json) as checkpoint:
        checkpoint.add(batch, Tally())
    fill_disk(path)
    again = Checkpoint(path, {}, resume=True, read=Tally.from_json)
    with pytest.raises(OSError, match="No space left on device"), again:
        pass
    assert list(Checkpoint(path, {}, resume=True, read=Tally.from_json).finished) == [batch]


def test_a_checkpoint_that_cannot_grow_names_its_file(tmp_path, monkeypatch):
    path, batch = tmp_path / "checkpoint", Batch("claim", "cell", 0, 1, 1)

    def open_full(*arguments, **options):
        return open("/dev/full", *arguments[1:], **options)

    checkpoint = Checkpoint(path, {}, resume=False, read=Tally.from_json)
    monkeypatch.setattr("verification.engine.checkpoint.open", open_full, raising=False)
    with pytest.raises(OSError, match="No space left on device") as caught, checkpoint:
        checkpoint.add(batch, Tally())
    assert caught.value.filename == str(path)
