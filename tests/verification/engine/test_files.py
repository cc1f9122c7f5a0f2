"""Files are written whole or not at all. /dev/full is a disk without room."""

import os

import pytest

from tests.verification.support import fill_disk
from verification.engine.files import write_together, write_whole

needs_full_disk = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")


@needs_full_disk
def test_files_are_written_together_or_not_at_all(tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    write_together({first: "old", second: "old"})
    fill_disk(second)
    with pytest.raises(OSError, match="No space left on device") as caught:
        write_together({first: "new", second: "new"})
    assert caught.value.filename == str(second)
    assert first.read_text() == second.read_text() == "old"
    assert sorted(tmp_path.iterdir()) == [first, second]


def test_a_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    write_whole(tmp_path / "file", "old")
    monkeypatch.setattr("os.replace", lambda *names: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_whole(tmp_path / "file", "new")
    assert (tmp_path / "file").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
